internal import Synchronization

// Invariants
//
// 1. One change is on its way to the keyring at a time, and of each key at most one waits behind
//    it: a newer one takes its place, and answers to whoever waits for it.
// 2. The changes of a key are stored in the order in which they were made.
// 3. What the app sees of a key is its newest change, until the keyring has refused that one; then
//    it is what the keyring has.
// 4. A change that is not stored is told: to whoever waits for it, and where it was made in the
//    background to the stream of errors, and to the next who saves unless a newer one is stored.

/// What all ``Secrets`` of a domain share: what is at hand of the secrets, and their changes from the
/// moment that they are made to that when the keyring has them.
///
/// It lives as long as anybody uses it, or a change is on its way.
final class SecretStore: Sendable {
    let errors = SecretsErrorFeed()
    let domain: String
    let vault: any SecretVault
    let state = Mutex(State())

    struct State {
        var entries: [String: SecretEntry] = [:]
        /// The keys of which a change waits, the oldest first.
        var queue: [String] = []
        /// The key of the change that is on its way, and the work on it.
        var current: (key: String, work: Task<Void, any Error>)?
        var lastNumber: UInt64 = 0

        mutating func makeNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        func settled(_ key: String) -> UInt64? {
            guard let entry = entries[key] else { return 0 }
            return entry.isSettled ? entry.newest : nil
        }
    }

    /// Says that a change was made of a value that is not the newest.
    struct Overtaken: Error {}

    init(domain: String, vault: any SecretVault) {
        self.domain = domain
        self.vault = vault
    }

    /// What the app sees of a key; nil where that is not known.
    func shown<Value: Sendable>(_ key: String, as type: Value.Type) -> Value? {
        let shown = state.withLock { $0.entries[key]?.shown }
        return (shown as? ShownValue<Value>)?.value
    }

    /// The number of a key's newest change, 0 before the first; nil while a change is on its way.
    func settled(_ key: String) -> UInt64? {
        state.withLock { $0.settled(key) }
    }

    /// Notes what the keyring has, unless a change was on its way since it was asked.
    ///
    /// - Parameter settled: What ``settled(_:)`` said before it was asked.
    func note<Value: Sendable>(_ value: Value, for key: String, asOf settled: UInt64?) {
        state.withLock { state in
            guard settled != nil, state.settled(key) == settled else { return }
            var entry = state.entries[key] ?? SecretEntry()
            entry.kept = ShownValue(value: value)
            entry.shown = entry.kept
            state.entries[key] = entry
        }
    }

    /// Reports a value that never became a change.
    func report(_ error: SecretsError, for key: String) {
        state.withLock { $0.entries[key, default: SecretEntry()].failure = error }
        errors.report(error)
    }

    /// Makes a change that is stored in the background.
    func add<Value: Sendable>(_ secret: StoredSecret?, showing value: Value, for key: String) {
        state.withLock { state in
            let number = state.makeNumber()
            add(
                SecretChange(
                    number: number, secret: secret, value: ShownValue(value: value),
                    isBackground: true),
                for: key, to: &state)
        }
    }

    /// Makes a change, and waits until it is stored.
    ///
    /// - Parameter settled: What ``settled(_:)`` said, where the change is of a value that was read
    ///   then; nil where it does not matter what was there.
    /// - Throws: What the vault does; ``Overtaken`` where another change was made since the value was
    ///   read; `CancellationError` where the task is cancelled, and the change then is taken back where
    ///   it has not been sent, or where that can be broken off.
    func store<Value: Sendable>(
        _ secret: StoredSecret?, showing value: Value, for key: String, asOf settled: UInt64? = nil
    ) async throws {
        try await wait { state, number, continuation in
            if let settled, state.settled(key) != settled {
                return continuation.resume(throwing: Overtaken())
            }
            self.add(
                SecretChange(
                    number: number, secret: secret, value: ShownValue(value: value),
                    isBackground: false,
                    waiters: [
                        SecretChange.Waiter(
                            number: number, isOwner: true, continuation: continuation)
                    ]),
                for: key, to: &state)
        }
    }

    /// Waits until no change of a key, made so far, is on its way.
    ///
    /// - Throws: `CancellationError` where the task is cancelled; the changes go on then.
    func settle(_ key: String) async throws {
        try await wait { state, number, continuation in
            let waiter = SecretChange.Waiter(
                number: number, isOwner: false, continuation: continuation)
            if state.entries[key]?.waiting != nil {
                state.entries[key]?.waiting?.waiters.append(waiter)
            } else if state.entries[key]?.sent != nil {
                state.entries[key]?.sent?.waiters.append(waiter)
            } else {
                continuation.resume()
            }
        }
    }

    /// The keys of which anything is known.
    var keys: [String] { state.withLock { $0.entries.keys.sorted() } }

    /// Why the last background change of a key is not stored; told once.
    func takeFailure(of key: String) -> SecretsError? {
        state.withLock { state in
            defer { state.entries[key]?.failure = nil }
            return state.entries[key]?.failure
        }
    }
}
