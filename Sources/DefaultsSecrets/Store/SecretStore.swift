internal import DBus
internal import Synchronization

// Invariants
//
// 1. One change at a time is in flight to the keyring, and at most one change of each key waits. A newer
//    change replaces the one that waits, and inherits its waiters.
// 2. The changes of a key are stored in the order in which they were made.
// 3. The app sees the newest change of a key. If the keyring refuses it, the app sees what the keyring
//    has.
// 4. A change that is not stored is reported to its waiters. A change in the background is also
//    reported to the listeners, and to the next call of `flush` unless a newer change was stored.

/// What all ``Secrets`` of a domain share: the known secrets, and the changes that the keyring does not
/// have yet.
///
/// It exists as long as it is used, or a change is in flight.
final class SecretStore: Sendable {
    let failures = SecretsFailures()
    let domain: String
    let vault: any SecretVault
    let state = Mutex(State())

    struct State {
        var entries: [String: SecretEntry] = [:]
        /// The keys with a change that waits, the oldest first.
        var queue: [String] = []
        /// The key of the change that is in flight, and its task.
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

    /// The error of a change that is based on an outdated value.
    struct Overtaken: Error {}

    init(domain: String, vault: any SecretVault) {
        self.domain = domain
        self.vault = vault
    }

    /// The value that the app sees; nil if that is not known.
    func shown<Value: Sendable>(_ key: String, as type: Value.Type) -> Value? {
        let shown = state.withLock { $0.entries[key]?.shown }
        return (shown as? ShownValue<Value>)?.value
    }

    /// The number of a key's newest change, 0 before the first; nil while a change is in flight or waits.
    func settled(_ key: String) -> UInt64? {
        state.withLock { $0.settled(key) }
    }

    /// Notes what the keyring has, unless the secret was changed since the keyring was asked.
    ///
    /// - Parameter settled: The result of ``settled(_:)`` before the keyring was asked.
    func note(_ shown: any AnyShownValue, for key: String, asOf settled: UInt64?) {
        state.withLock { state in
            guard settled != nil, state.settled(key) == settled else { return }
            var entry = state.entries[key] ?? SecretEntry()
            entry.kept = shown
            entry.shown = entry.kept
            state.entries[key] = entry
        }
    }

    /// Reports a value that never became a change.
    func report(_ error: SecretsError, for key: String) {
        state.withLock { $0.entries[key, default: SecretEntry()].failure = error }
        failures.report(error)
    }

    /// Makes a change that is stored in the background.
    func add(_ secret: StoredSecret?, showing shown: any AnyShownValue, for key: String) {
        state.withLock { state in
            let number = state.makeNumber()
            add(
                SecretChange(
                    number: number, secret: secret, value: shown, isBackground: true),
                for: key, to: &state)
        }
    }

    /// Makes a change, and waits until it is stored.
    ///
    /// - Parameter settled: The result of ``settled(_:)`` when the value was read that the change is
    ///   based on; nil if it is based on none.
    /// - Throws: The errors of the vault; ``Overtaken`` if the secret was changed since the value was
    ///   read; `CancellationError` if the task is cancelled. The change is then withdrawn, if it was
    ///   not sent yet or the call can be cancelled.
    func store(
        _ secret: StoredSecret?, showing shown: any AnyShownValue, for key: String,
        asOf settled: UInt64? = nil
    ) async throws {
        try await wait { state, number, continuation in
            if let settled, state.settled(key) != settled {
                return continuation.resume(throwing: Overtaken())
            }
            self.add(
                SecretChange(
                    number: number, secret: secret, value: shown, isBackground: false,
                    waiters: [
                        SecretChange.Waiter(
                            number: number, isOwner: true, continuation: continuation)
                    ]),
                for: key, to: &state)
        }
    }

    /// Waits until all changes of a key that were made so far have ended.
    ///
    /// - Throws: `CancellationError` if the task is cancelled. The changes are not cancelled.
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

    /// The keys that were read or changed.
    var keys: [String] { state.withLock { $0.entries.keys.sorted() } }

    /// Why the last background change of a key was not stored.
    ///
    /// It is returned once.
    func takeFailure(of key: String) -> SecretsError? {
        state.withLock { state in
            defer { state.entries[key]?.failure = nil }
            return state.entries[key]?.failure
        }
    }
}

/// Sending the changes to the keyring, one at a time.
extension SecretStore {
    func add(_ change: SecretChange, for key: String, to state: inout State) {
        state.entries[key, default: SecretEntry()].add(change)
        if !state.queue.contains(key) { state.queue.append(key) }
        sendNext(&state)
    }

    /// Sends the oldest change that waits, if none is in flight.
    private func sendNext(_ state: inout State) {
        guard state.current == nil, !state.queue.isEmpty else { return }
        let key = state.queue.removeFirst()
        guard let change = state.entries[key]?.waiting else { return }
        state.entries[key]?.waiting = nil
        state.entries[key]?.sent = change
        let (domain, vault, secret) = (domain, vault, change.secret)
        let work = Task {
            let name = try SecretName(domain: domain, key: key)
            if let secret {
                try await vault.store(secret, as: name)
            } else {
                try await vault.remove(name)
            }
        }
        state.current = (key, work)
        // Keeps the store alive as well.
        Task { end(key, await work.result) }
    }

    private func end(_ key: String, _ result: Result<Void, any Error>) {
        var failure: (any Error)?
        if case .failure(let error) = result { failure = wrapped(error, key) }
        let ended: SecretChange? = state.withLock { state in
            let change = state.entries[key]?.end(stored: failure == nil)
            // If a newer change waits, its outcome counts.
            if change?.isBackground == true, state.entries[key]?.waiting == nil {
                state.entries[key]?.failure = failure as? SecretsError
            }
            state.current = nil
            sendNext(&state)
            return change
        }
        guard let ended else { return }
        if ended.isBackground, let error = failure as? SecretsError { failures.report(error) }
        for waiter in ended.waiters {
            if waiter.isOwner, let failure {
                waiter.continuation.resume(throwing: failure)
            } else {
                waiter.continuation.resume()
            }
        }
    }

    private func wrapped(_ error: any Error, _ key: String) -> any Error {
        if error is CancellationError { return error }
        return SecretsError(error, domain: domain, name: try? SecretName(domain: domain, key: key))
    }
}

/// Waiting for changes.
extension SecretStore {
    /// Suspends the task until the continuation is resumed, or the task is cancelled.
    func wait(
        _ body: (inout State, _ number: UInt64, CheckedContinuation<Void, any Error>) -> Void
    ) async throws {
        let number = state.withLock { $0.makeNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    // The handler below runs after this, or has run and cancelled the task.
                    guard !Task.isCancelled else {
                        return continuation.resume(throwing: CancellationError())
                    }
                    body(&state, number, continuation)
                }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Ends the wait of one task, and its change if no other task waits for it.
    private func leave(_ number: UInt64) {
        let resumed: [SecretChange.Waiter] = state.withLock { state in
            for key in Array(state.entries.keys) {
                guard let waiter = state.entries[key]?.takeWaiter(number) else { continue }
                if state.current?.key == key, state.entries[key]?.sent?.isWanted == false {
                    state.current?.work.cancel()
                }
                let others = state.entries[key]?.dropUnwanted() ?? []
                if state.entries[key]?.waiting == nil { state.queue.removeAll { $0 == key } }
                for other in others { other.continuation.resume() }
                return [waiter]
            }
            return []
        }
        for waiter in resumed { waiter.continuation.resume(throwing: CancellationError()) }
    }
}

extension SecretEntry {
    fileprivate mutating func takeWaiter(_ number: UInt64) -> SecretChange.Waiter? {
        if let index = waiting?.waiters.firstIndex(where: { $0.number == number }) {
            return waiting?.waiters.remove(at: index)
        }
        if let index = sent?.waiters.firstIndex(where: { $0.number == number }) {
            return sent?.waiters.remove(at: index)
        }
        return nil
    }
}

extension SecretStore {
    /// Where secrets are stored, and how long to wait for the service.
    struct Place: Hashable, Sendable {
        let domain: String
        let bus: Address
        let timeout: Duration
    }

    /// Secrets stay in memory only as long as they are used.
    private struct Used {
        weak var store: SecretStore?
    }

    private static let used = Mutex<[Place: Used]>([:])

    /// The store of a place.
    ///
    /// It is made if there is none.
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
