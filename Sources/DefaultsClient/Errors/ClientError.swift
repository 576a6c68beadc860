import DBus
import DefaultsProtocol
import DefaultsTerms

/// What keeps an application from getting what it asked for: something here, or a refusal of the
/// service.
///
/// ```swift
/// do {
///     try await defaults.commit { $0[.volume] = 0.5 }
/// } catch let error as ClientError where error.code == .locked {
///     show(error.message)
/// }
/// ```
public struct ClientError: Error, Hashable, CustomStringConvertible {
    /// Which one.
    public struct Code: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// There is no bus, or no service on it, or it has not answered in time.
        public static let unreachable = Code("unreachable")
        /// The process was forked, and has no connection of its own.
        public static let forked = Code("forked")
        /// The layer cannot be written by applications.
        public static let notWritable = Code("notWritable")
        /// The administrator has locked the key.
        public static let locked = Code("locked")
        /// Another process has changed what was expected to be as it was.
        public static let conflict = Code("conflict")
        /// More changes wait to be sent than are kept in memory.
        public static let tooManyChanges = Code("tooManyChanges")
        /// What was to be read is not there.
        public static let notFound = Code("notFound")
        /// The domain or the key is not spelled as names are.
        public static let invalidName = Code("invalidName")
        /// A value, or what is read at once, is larger than the service takes or gives.
        public static let tooLarge = Code("tooLarge")
        /// The change is made, and the disk has not taken it yet: other programs see it, and the
        /// service tries again.
        public static let notDurable = Code("notDurable")
        /// The disk or the runtime directory refuses, and nothing was changed.
        public static let storageFailed = Code("storageFailed")
        /// The service refuses, for the reason that the message tells.
        public static let refused = Code("refused")
        /// A value is none of its key.
        public static let undecodable = Code("undecodable")
        /// The database is of a later version of the application.
        public static let newerVersion = Code("newerVersion")
    }

    /// Which one.
    public let code: Code
    /// A sentence for people: what, which, why, and what to do.
    ///
    /// It never holds a value.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The sentence.
    public var description: String { message }
}

extension ClientError {
    /// Whether what was expected did not hold.
    static func isConflict(_ error: any Error) -> Bool {
        (error as? ClientError)?.code == .conflict
    }
}

/// Refusals of the service, as applications are told of them: in its own words.
extension ClientError {
    /// The refusal that a call was answered with, or any other error as it is.
    static func telling(_ error: any Error) -> any Error {
        switch error {
        case let refusal as DefaultsError: ClientError(refusal)
        case let error as DBusError: ClientError(.refused, error.message)
        default: error
        }
    }

    /// The error of a call of ``RemoteDefaults``.
    public init(_ error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case let refusal as DefaultsError: self.init(refusal)
        case let error as DBusError: self.init(.unreachable, error.message)
        default: self.init(.refused, "\(error)")
        }
    }

    init(_ refusal: DefaultsError) {
        let code: Code =
            switch refusal.code {
            case .notFound: .notFound
            case .invalidDomain, .invalidKey: .invalidName
            case .tooLarge: .tooLarge
            case .locked: .locked
            case .conflict: .conflict
            case .storageFailed: .storageFailed
            case .notDurable: .notDurable
            default: .refused
            }
        self.init(code, refusal.message)
    }
}

extension ClientError {
    static let forked = ClientError(
        .forked,
        "Defaults cannot be used in a process that was forked from one that has used them: the "
            + "connection belongs to the parent. Use them only after exec, or fork before.")

    static func unreachable(_ reason: String) -> ClientError {
        ClientError(
            .unreachable,
            "The defaults service cannot be reached: \(reason) What is set meanwhile is kept in "
                + "memory, and sent when it comes back.")
    }

    /// The service is installed and does not start.
    static func notStarted(_ sentence: String) -> ClientError {
        ClientError(.unreachable, sentence)
    }

    static func noAnswer(after bound: Duration) -> ClientError {
        ClientError(
            .unreachable,
            "The defaults service has not answered within \(bound). It may still do so.")
    }

    static func notWritable(_ layer: DefaultsLayer) -> ClientError {
        ClientError(
            .notWritable,
            "The layer \(layer) cannot be written by applications; domain, host, global and "
                + "global-host can.")
    }

    static func locked(_ key: KeyName, in domain: String) -> ClientError {
        ClientError(
            .locked,
            "The administrator has locked the key '\(key)' of \(domain); `defaultsctl explain` names "
                + "the file.")
    }

    static func layerAsDomain(_ domain: String) -> ClientError {
        ClientError(
            .invalidName,
            "'\(domain)' names a layer of a domain. Use the domain, without the @ and what is behind it, "
                + "and name the layer in the call.")
    }

    static func badName(_ key: KeyName) -> ClientError {
        ClientError(
            .invalidName,
            "The name of a key has 1 to \(KeyRule.maximumLength) bytes, none of them NUL; this one has "
                + "\(key.utf8.count).")
    }

    static func tooLarge(_ key: KeyName, limit: Int) -> ClientError {
        ClientError(
            .tooLarge,
            "The value for the key '\(key)' is larger than \(limit >> 20) MiB. Keep it in a file.")
    }

    static func conflict(_ key: KeyName, in domain: String) -> ClientError {
        ClientError(
            .conflict, "The key '\(key)' of \(domain) has changed since it was read. Read it again."
        )
    }

    static func tooMuchContention(_ key: KeyName, in domain: String, attempts: Int) -> ClientError {
        ClientError(
            .conflict,
            "The key '\(key)' of \(domain) was changed by others during each of \(attempts) attempts "
                + "to update it.")
    }

    static func tooManyChanges(_ key: KeyName, in domain: String, limit: Int) -> ClientError {
        ClientError(
            .tooManyChanges,
            "The key '\(key)' of \(domain) was not changed, as changes of \(limit >> 20) MiB wait "
                + "already for the service to come back.")
    }

    static func noSuchRawValue(of type: Any.Type) -> ClientError {
        ClientError(.undecodable, "The stored value is no raw value of \(type).")
    }

    static func notOfType(_ type: Any.Type, argument key: KeyName) -> ClientError {
        ClientError(
            .undecodable, "The argument -\(key) of the command line is no value of \(type).")
    }

    static func unread(_ key: KeyName, in domain: String, _ error: any Error) -> ClientError {
        ClientError(
            (error as? ClientError)?.code ?? .undecodable,
            "The key '\(key)' of \(domain) was not changed, because its present value cannot be read: "
                + "\(reason(of: error)) Set the key to replace the value, or reset it first.")
    }

    static func kept(_ key: KeyName, under name: KeyName) -> ClientError {
        ClientError(
            .undecodable,
            "The value that could not be read is kept under the key '\(name)'. Remove that key if "
                + "nobody needs the value.")
    }

    static func notFetched(_ key: KeyName, in domain: String) -> ClientError {
        ClientError(
            .unreachable,
            "The key '\(key)' of \(domain) has a large value, which could not be fetched when it was "
                + "read. Read it again before you set it, or reset it first.")
    }

    static func newerVersion(_ version: Int, of domain: String, known: Int) -> ClientError {
        ClientError(
            .newerVersion,
            "The defaults of \(domain) have version \(version), and this program knows \(known) at "
                + "most. Use a later version of it.")
    }
}
