internal import DBus
internal import Synchronization

extension SecretStore {
    /// Where secrets are, and how long that is waited for.
    struct Place: Hashable, Sendable {
        let domain: String
        let bus: Address
        let timeout: Duration
    }

    /// Secrets stay in memory no longer than somebody uses them.
    private struct Used {
        weak var store: SecretStore?
    }

    private static let used = Mutex<[Place: Used]>([:])

    /// The store of a place, which is made where there is none.
    static func shared(_ place: Place) -> SecretStore {
        used.withLock { used in
            if let store = used[place]?.store { return store }
            let store = SecretStore(
                domain: place.domain, vault: KeyringVault(on: place.bus, timeout: place.timeout))
            used = used.filter { $0.value.store != nil }
            used[place] = Used(store: store)
            return store
        }
    }
}
