internal import DBus

/// The calls of the Secret Service, typed.
///
/// https://specifications.freedesktop.org/secret-service/latest/
struct KeyringSession: Sendable {
    static let service: BusName = "org.freedesktop.secrets"
    private static let servicePath: ObjectPath = "/org/freedesktop/secrets"
    /// The path that means no object or no prompt.
    private static let nothing: ObjectPath = "/"

    let line: KeyringLine
    /// How long to wait for an answer at most.
    let timeout: Duration
    /// The service's object for this session, which determines the form of secrets in messages.
    private let session: ObjectPath

    /// A result, or a prompt that asks the user and then returns it.
    enum Answer<Result: Sendable>: Sendable {
        case result(Result)
        case prompt(ObjectPath)

        init(_ result: Result, prompt: ObjectPath) {
            self = prompt == KeyringSession.nothing ? .result(result) : .prompt(prompt)
        }
    }

    /// Opens a session without encryption: a program that can read the user's bus can also ask the
    /// service.
    ///
    /// https://specifications.freedesktop.org/secret-service/latest/transfer-secrets.html
    init(on line: KeyringLine, timeout: Duration) async throws {
        self.line = line
        self.timeout = timeout
        session = try await Self.call(
            line, timeout, Self.servicePath, interface: "org.freedesktop.Secret.Service",
            "OpenSession", replying: "vo"
        ) {
            try $0.writeString("plain")
            try $0.writeVariant(of: "s") { try $0.writeString("") }
        } read: {
            _ = try $0.readValue()
            return try $0.readObjectPath()
        }
    }

    /// The items that have a secret's attributes.
    func items(of name: SecretName) async throws -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        try await call(Self.servicePath, "Service", "SearchItems", replying: "aoao") {
            try $0.writeAttributes(of: name)
        } read: {
            (try $0.readPaths(), try $0.readPaths())
        }
    }

    /// The collection for new secrets; nil if the user has none yet.
    func defaultCollection() async throws -> ObjectPath? {
        let collection = try await call(Self.servicePath, "Service", "ReadAlias", replying: "o") {
            try $0.writeString("default")
        } read: {
            try $0.readObjectPath()
        }
        return collection == Self.nothing ? nil : collection
    }

    /// Makes the collection for new secrets.
    func createDefaultCollection() async throws -> Answer<ObjectPath> {
        try await call(Self.servicePath, "Service", "CreateCollection", replying: "oo") {
            try $0.writeDictionary(key: "s", value: "v") {
                try $0.writeEntry {
                    try $0.writeString("org.freedesktop.Secret.Collection.Label")
                    try $0.writeVariant(of: "s") { try $0.writeString("Default keyring") }
                }
            }
            try $0.writeString("default")
        } read: {
            Answer(try $0.readObjectPath(), prompt: try $0.readObjectPath())
        }
    }

    /// Unlocks objects, and returns those that are unlocked then.
    func unlock(_ objects: [ObjectPath]) async throws -> Answer<[ObjectPath]> {
        try await call(Self.servicePath, "Service", "Unlock", replying: "aoo") {
            try $0.writeArray(of: "o") {
                for object in objects { try $0.writeObjectPath(object) }
            }
        } read: {
            Answer(try $0.readPaths(), prompt: try $0.readObjectPath())
        }
    }

    func isLocked(_ collection: ObjectPath) async throws -> Bool {
        try await Self.call(
            line, timeout, collection, interface: "org.freedesktop.DBus.Properties", "Get",
            replying: "v"
        ) {
            try $0.writeString("org.freedesktop.Secret.Collection")
            try $0.writeString("Locked")
        } read: {
            try $0.readVariant { try $0.readBool() }
        }
    }

    func secret(of item: ObjectPath) async throws -> StoredSecret {
        try await call(item, "Item", "GetSecret", replying: "(oayays)") {
            try $0.writeObjectPath(session)
        } read: {
            try $0.readStructure {
                _ = (try $0.readObjectPath(), try $0.readBytes())
                return StoredSecret(bytes: try $0.readBytes(), contentType: try $0.readString())
            }
        }
    }

    /// Makes an item, or replaces the one with the same attributes in the collection.
    func createItem(
        _ secret: StoredSecret, as name: SecretName, in collection: ObjectPath
    ) async throws -> Answer<ObjectPath> {
        try await call(collection, "Collection", "CreateItem", replying: "oo") {
            try $0.writeDictionary(key: "s", value: "v") {
                try $0.writeEntry {
                    try $0.writeString("org.freedesktop.Secret.Item.Label")
                    try $0.writeVariant(of: "s") { try $0.writeString(name.label) }
                }
                try $0.writeEntry {
                    try $0.writeString("org.freedesktop.Secret.Item.Attributes")
                    try $0.writeVariant(of: "a{ss}") { try $0.writeAttributes(of: name) }
                }
            }
            try $0.writeStructure {
                try $0.writeObjectPath(session)
                try $0.writeBytes([])
                try $0.writeBytes(secret.bytes)
                try $0.writeString(secret.contentType)
            }
            try $0.writeBool(true)
        } read: {
            Answer(try $0.readObjectPath(), prompt: try $0.readObjectPath())
        }
    }

    func delete(_ item: ObjectPath) async throws -> Answer<Void> {
        try await call(item, "Item", "Delete", replying: "o") { _ in
        } read: {
            Answer((), prompt: try $0.readObjectPath())
        }
    }

    /// Shows a prompt to the user.
    ///
    /// Its signal `Completed` announces the end.
    func show(_ prompt: ObjectPath) async throws {
        try await call(prompt, "Prompt", "Prompt", replying: "") {
            // It belongs to no window.
            try $0.writeString("")
        } read: { _ in
        }
    }

    private func dismiss(_ prompt: ObjectPath) async throws {
        try await call(prompt, "Prompt", "Dismiss", replying: "") { _ in
        } read: { _ in
        }
    }

    private func call<Reply: Sendable>(
        _ path: ObjectPath, _ interface: String, _ member: MemberName, replying: Signature,
        write: @Sendable (inout MessageWriter) throws -> Void,
        read: @escaping @Sendable (inout MessageReader) throws -> Reply
    ) async throws -> Reply {
        try await Self.call(
            line, timeout, path, interface: InterfaceName("org.freedesktop.Secret.\(interface)"),
            member, replying: replying, write: write, read: read)
    }
}

extension KeyringSession {
    private static func call<Reply: Sendable>(
        _ line: KeyringLine, _ timeout: Duration, _ path: ObjectPath, interface: InterfaceName,
        _ member: MemberName, replying: Signature,
        write: @Sendable (inout MessageWriter) throws -> Void,
        read: @escaping @Sendable (inout MessageReader) throws -> Reply
    ) async throws -> Reply {
        try await line.connection.call(
            service, path, interface, member, timeout: timeout, replying: replying, write: write,
            read: read)
    }
}

extension MessageReader {
    fileprivate mutating func readPaths() throws -> [ObjectPath] {
        try readArray { try $0.readObjectPath() }
    }
}

extension MessageWriter {
    fileprivate mutating func writeAttributes(of name: SecretName) throws {
        try writeDictionary(key: "s", value: "s") {
            for (attribute, value) in name.attributes {
                try $0.writeEntry {
                    try $0.writeString(attribute)
                    try $0.writeString(value)
                }
            }
        }
    }
}

/// Questions to the user.
///
/// https://specifications.freedesktop.org/secret-service/latest/prompts.html
extension KeyringSession {
    /// How a question ended.
    private enum End: Sendable {
        case completed([Value])
        /// The service has left the bus, or the connection has ended.
        case lost
    }

    /// Shows a prompt, and waits for the user's answer without a limit.
    ///
    /// - Returns: The result of the method that returned the prompt.
    /// - Throws: `KeyringProblem.dismissed` if the user refused; `DBusError` with the name `NoReply` if
    ///   the service ends meanwhile; `CancellationError` if the task is cancelled. The prompt is then
    ///   dismissed, if possible.
    func ask(_ prompt: ObjectPath) async throws -> Value {
        do {
            let end = try await showing(prompt)
            try Task.checkCancellation()
            guard case .completed(let arguments) = end else {
                throw DBusError(.noReply, "The service of secrets ended before the user answered.")
            }
            guard arguments.count == 2, case .boolean(let isDismissed) = arguments[0],
                case .variant(let result) = arguments[1]
            else {
                throw KeyringProblem.badReply("a prompt's end without its two values")
            }
            if isDismissed { throw KeyringProblem.dismissed }
            return result
        } catch is CancellationError {
            // In a task of its own, because this one is cancelled. Nothing waits for it.
            if Self.canBeDismissed(prompt) { Task { try? await dismiss(prompt) } }
            throw CancellationError()
        }
    }

    /// Whether the service survives the dismissal of a prompt that is shown.
    ///
    /// gnome-keyring aborts if that is one of its prompts for unlocking (at least 42.1, by the
    /// assertion `!self->current` of `perform_next_unlock`). Then everything that it has unlocked is
    /// locked again, and the secrets of its session are lost. These prompts are recognised by their
    /// names. Such a prompt stays until the user answers it, and the answer is ignored.
    private static func canBeDismissed(_ prompt: ObjectPath) -> Bool {
        !prompt.string.hasPrefix("/org/freedesktop/secrets/prompt/u")
    }

    private func showing(_ prompt: ObjectPath) async throws -> End {
        let ends = try await line.connection.signals(
            MatchRule(
                sender: Self.service, path: prompt, interface: "org.freedesktop.Secret.Prompt",
                member: "Completed"),
            limit: 1)
        let departures = try await line.connection.ownerChanges(of: Self.service, limit: 1)
        try await show(prompt)
        return await withTaskGroup(of: End.self) { group in
            group.addTask {
                for await element in ends {
                    if case .signal(let signal) = element { return .completed(signal.arguments) }
                }
                return .lost
            }
            group.addTask {
                for await _ in departures { break }
                return .lost
            }
            let end = await group.next()
            group.cancelAll()
            return end ?? .lost
        }
    }
}
