internal import DBus

// Invariants
//
// 1. Every call can be repeated without another effect: reading, replacing and removing. So if the
//    service or the bus ends during a call, the call is made once more with a new connection.
// 2. After a secret was stored, no other unlocked item has its attributes, so a read has one result.
// 3. Every wait for the bus or the service has a limit. Only the wait for the user's answer to a prompt
//    has none; it ends when the task is cancelled, also if the prompt is that of another call.

/// The secrets in the Secret Service.
///
/// It connects when it is first used, and again when the connection has ended.
actor KeyringVault: SecretVault {
    private let bus: Address
    private let timeout: Duration
    nonisolated let prompts = PromptQueue()
    /// The session; nil before it is opened.
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
    /// Calls a closure with a session, and once more with a new one if the session has ended.
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

    /// Calls a closure with the session.
    ///
    /// After an error the next call gets a new one.
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

    /// The session.
    ///
    /// Calls that come while it is opened share it.
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

    /// The collection for new secrets.
    ///
    /// It is made if the user has none yet.
    private func defaultCollection(in session: KeyringSession) async throws -> ObjectPath {
        if let collection = try await session.defaultCollection() { return collection }
        return try await prompts.result(of: session) {
            // Another call may have made it meanwhile.
            if let collection = try await session.defaultCollection() { return .result(collection) }
            return try await session.createDefaultCollection()
        } read: {
            try $0.objectPath
        }
    }

    /// Unlocks objects, and returns the first that is unlocked.
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
    /// The object in the result of a prompt.
    fileprivate var objectPath: ObjectPath {
        get throws {
            guard case .objectPath(let path) = self else {
                throw KeyringProblem.badReply("a prompt's result that is not an object")
            }
            return path
        }
    }

    /// The objects in the result of a prompt.
    fileprivate var objectPaths: [ObjectPath] {
        get throws {
            guard case .array(of: "o", let elements) = self else {
                throw KeyringProblem.badReply("a prompt's result that is not a list of objects")
            }
            return try elements.map { try $0.objectPath }
        }
    }
}
