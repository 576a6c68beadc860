internal import DBus
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

/// The way of changes to the keyring, one at a time.
extension SecretStore {
    func add(_ change: SecretChange, for key: String, to state: inout State) {
        state.entries[key, default: SecretEntry()].add(change)
        if !state.queue.contains(key) { state.queue.append(key) }
        sendNext(&state)
    }

    /// Begins with the oldest change that waits, where none is on its way.
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
            // Where a newer one waits, it is that one that counts.
            if change?.isBackground == true, state.entries[key]?.waiting == nil {
                state.entries[key]?.failure = failure as? SecretsError
            }
            state.current = nil
            sendNext(&state)
            return change
        }
        guard let ended else { return }
        if ended.isBackground, let error = failure as? SecretsError { errors.report(error) }
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
    /// Suspends the task until somebody resumes the continuation, or it is cancelled.
    func wait(
        _ body: (inout State, _ number: UInt64, CheckedContinuation<Void, any Error>) -> Void
    ) async throws {
        let number = state.withLock { $0.makeNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    // The handler below comes after this, or has come before and said so.
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

    /// Ends the waiting of one task, and the change that was its alone.
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
