internal import Synchronization

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
