internal import DBus

// Invariants
//
// 1. Whatever has been asked twice has the outcome of having been asked once: reading, storing in
//    the place of what is there, and removing. So a service or a bus that ended in the middle is
//    asked again, once, with everything new.
// 2. After a secret was stored, no other unlocked item has its attributes, so that there is one
//    answer to what the secret is.
// 3. Every wait for the bus or the service has a bound; only a prompt that the user looks at has
//    none. The wait for it, be it one's own or that of another which comes first, ends with the task.

/// The secrets that the Secret Service keeps.
///
/// It connects when it is first used, and again when the connection has ended.
actor KeyringVault: SecretVault {
    private let bus: Address
    private let timeout: Duration
    nonisolated let prompts = PromptQueue()
    /// The session, from the moment on that somebody opens it.
    private var session: Task<KeyringSession, any Error>?

    init(on bus: Address, timeout: Duration) {
        self.bus = bus
        self.timeout = timeout
    }

    func read(_ name: SecretName) async throws -> StoredSecret? {
        try await attempt { session in
            let items = try await session.items(of: name)
            if let item = items.unlocked.first { return try await session.secret(of: item) }
            guard !items.locked.isEmpty else { return nil }
            let unlocked = try await self.unlock(items.locked, in: session)
            return try await session.secret(of: unlocked)
        }
    }

    func contains(_ name: SecretName) async throws -> Bool {
        try await attempt { session in
            let items = try await session.items(of: name)
            return !(items.unlocked.isEmpty && items.locked.isEmpty)
        }
    }

    func store(_ secret: StoredSecret, as name: SecretName) async throws {
        try await attempt { session in
            let collection = try await self.defaultCollection(in: session)
            _ = try await self.unlock([collection], in: session)
            let item = try await self.prompts.result(of: session) {
                try await session.createItem(secret, as: name, in: collection)
            } read: {
                try $0.objectPath
            }
            for other in try await session.items(of: name).unlocked where other != item {
                try await self.delete(other, in: session)
            }
        }
    }

    func remove(_ name: SecretName) async throws {
        try await attempt { session in
            let items = try await session.items(of: name)
            if !items.locked.isEmpty { _ = try await self.unlock(items.locked, in: session) }
            for item in items.unlocked + items.locked {
                try await self.delete(item, in: session)
            }
        }
    }

    func unlock() async throws {
        try await attempt { session in
            guard let collection = try await session.defaultCollection() else { return }
            _ = try await self.unlock([collection], in: session)
        }
    }

    func isLocked() async throws -> Bool {
        try await attempt { session in
            guard let collection = try await session.defaultCollection() else { return false }
            return try await session.isLocked(collection)
        }
    }
}

// MARK: Steps

extension KeyringVault {
    /// Does something in a session, and once more in a new one where something has gone.
    private func attempt<Result: Sendable>(
        _ body: @Sendable (KeyringSession) async throws -> Result
    ) async throws -> Result {
        do {
            return try await once(body)
        } catch let error as DBusError {
            guard error.name.isOfWhatHasGone else { throw error }
            return try await once(body)
        }
    }

    /// Does something in the session; who comes after an error gets a new one.
    private func once<Result: Sendable>(
        _ body: @Sendable (KeyringSession) async throws -> Result
    ) async throws -> Result {
        let opening = openSession()
        do {
            return try await body(try await opening.value)
        } catch {
            if session == opening { session = nil }
            throw error
        }
    }

    /// The session, which is opened for all who want one meanwhile.
    private func openSession() -> Task<KeyringSession, any Error> {
        if let session { return session }
        let (bus, timeout) = (bus, timeout)
        let opening = Task {
            let line = try await KeyringLine.open(bus, within: timeout)
            return try await KeyringSession(on: line, timeout: timeout)
        }
        session = opening
        return opening
    }

    /// The collection that new secrets go into, which is made where the user has none yet.
    private func defaultCollection(in session: KeyringSession) async throws -> ObjectPath {
        if let collection = try await session.defaultCollection() { return collection }
        return try await prompts.result(of: session) {
            // Somebody else may have made it while others were asked.
            if let collection = try await session.defaultCollection() { return .result(collection) }
            return try await session.createDefaultCollection()
        } read: {
            try $0.objectPath
        }
    }

    /// Unlocks objects, and gives the first that is unlocked.
    private func unlock(
        _ objects: [ObjectPath], in session: KeyringSession
    ) async throws -> ObjectPath {
        let unlocked = try await prompts.result(of: session) {
            try await session.unlock(objects)
        } read: {
            try $0.objectPaths
        }
        guard let first = objects.first(where: unlocked.contains) else {
            throw KeyringProblem.locked
        }
        return first
    }

    private func delete(_ item: ObjectPath, in session: KeyringSession) async throws {
        try await prompts.result(of: session) {
            try await session.delete(item)
        } read: { _ in
        }
    }
}

extension Value {
    /// The object that a prompt gives as its result.
    fileprivate var objectPath: ObjectPath {
        get throws {
            guard case .objectPath(let path) = self else {
                throw KeyringProblem.badReply("a prompt's result that is no object")
            }
            return path
        }
    }

    /// The objects that a prompt gives as its result.
    fileprivate var objectPaths: [ObjectPath] {
        get throws {
            guard case .array(of: "o", let elements) = self else {
                throw KeyringProblem.badReply("a prompt's result that is no list of objects")
            }
            return try elements.map { try $0.objectPath }
        }
    }
}
