package import DBus
package import DefaultsProtocol
import DefaultsTerms

/// Why the library or the service could not do what an application asked for.
///
/// Most calls of this module throw it. ``message`` is a sentence for people, and ``code`` is for
/// programs:
///
/// ```swift
/// do {
///     try await defaults.transaction { $0[.volume] = 0.5 }
/// } catch let error as DefaultsError where error.code == .locked {
///     show(error.message)
/// }
/// ```
public struct DefaultsError: Error, Hashable, CustomStringConvertible {
    /// What kind of error it is.
    public struct Code: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// There is no bus, or there is no service on it, or the service did not answer in time.
        public static let unreachable = Code("unreachable")
        /// The process was forked, and has no connection of its own.
        public static let forked = Code("forked")
        /// Applications cannot write to the layer.
        public static let notWritable = Code("notWritable")
        /// The administrator has locked the key.
        public static let locked = Code("locked")
        /// Another process has changed a value that had to be unchanged.
        public static let conflict = Code("conflict")
        /// Too many changes wait to be sent.
        public static let tooManyChanges = Code("tooManyChanges")
        /// There is no such value or key.
        public static let notFound = Code("notFound")
        /// The name of the domain or of the key is invalid: `InvalidDomain` or `InvalidKey` of the
        /// contract.
        public static let invalidName = Code("invalidName")
        /// A value, a reply or a call is larger than the service allows.
        public static let tooLarge = Code("tooLarge")
        /// The change would exceed a bound of the domain, the application or the program.
        public static let limitsExceeded = Code("limitsExceeded")
        /// The change was made but is not on disk yet.
        ///
        /// Other programs see it, and the service retries.
        public static let notDurable = Code("notDurable")
        /// The disk or the runtime directory failed, and nothing was changed.
        public static let storageFailed = Code("storageFailed")
        /// The service refused for another reason, which the message states.
        public static let refused = Code("refused")
        /// A value is not of the type of its key.
        public static let undecodable = Code("undecodable")
        /// A later version of the application has migrated the domain.
        public static let newerVersion = Code("newerVersion")
    }

    /// The error that it was made of.
    package enum Cause: Hashable, Sendable {
        /// A refusal of the service.
        case refusal(ContractError)
        /// An error of the bus.
        case bus(DBusError)

        fileprivate var error: any Error {
            switch self {
            case .refusal(let error): error
            case .bus(let error): error
            }
        }
    }

    /// What kind of error it is.
    public let code: Code
    /// A sentence for people: what failed, why, and what to do.
    ///
    /// It never contains a value.
    public let message: String
    package let cause: Cause?

    init(_ code: Code, _ message: String, cause: Cause? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The sentence.
    public var description: String { message }
}

extension DefaultsError {
    /// Whether what was expected did not hold.
    static func isConflict(_ error: any Error) -> Bool {
        (error as? DefaultsError)?.code == .conflict
    }
}

/// Errors of the service and of the bus, as applications get them: with the same message.
extension DefaultsError {
    /// The refusal of a change or a read; any error that is not of the service stays as it is.
    static func telling(_ error: any Error) -> any Error {
        switch error {
        case let refusal as ContractError: DefaultsError(refusal)
        case let error as DBusError: DefaultsError(.refused, error.message, cause: .bus(error))
        default: error
        }
    }

    /// The error of a call as ``RemoteDefaults`` throws it; any error that is not of the bus stays as
    /// it is.
    static func ofCall(_ error: any Error) -> any Error {
        switch error {
        case let refusal as ContractError: DefaultsError(refusal)
        case let error as DBusError: DefaultsError(.unreachable, error.message, cause: .bus(error))
        default: error
        }
    }

    private init(_ refusal: ContractError) {
        let code: Code =
            switch refusal.code {
            case .notFound: .notFound
            case .invalidDomain, .invalidKey: .invalidName
            case .tooLarge: .tooLarge
            case .limitsExceeded: .limitsExceeded
            case .locked: .locked
            case .conflict: .conflict
            case .storageFailed: .storageFailed
            case .notDurable: .notDurable
            default: .refused
            }
        self.init(code, refusal.message, cause: .refusal(refusal))
    }
}

extension DefaultsError {
    static let forked = DefaultsError(
        .forked,
        "This process cannot use defaults: its parent used them before the fork, and the connection "
            + "belongs to the parent. Call exec first, or fork before the parent uses defaults.")

    static func unreachable(_ reason: String) -> DefaultsError {
        DefaultsError(
            .unreachable,
            "The defaults service cannot be reached: \(reason) Changes are kept in memory, and are sent when "
                + "it comes back.")
    }

    /// The service is installed and does not start.
    static func notStarted(_ sentence: String) -> DefaultsError {
        DefaultsError(.unreachable, sentence)
    }

    static func noAnswer(after bound: Duration) -> DefaultsError {
        DefaultsError(
            .unreachable,
            "The defaults service has not answered within \(bound). It may still do so.")
    }

    static func notWritable(_ layer: DefaultsLayer) -> DefaultsError {
        DefaultsError(
            .notWritable,
            "The layer \(layer) cannot be written by applications; domain, host, global and "
                + "global-host can.")
    }

    static func locked(_ key: KeyName, in domain: String) -> DefaultsError {
        DefaultsError(
            .locked,
            "The administrator has locked the key '\(key)' of \(domain); `defaultsctl explain` names "
                + "the file.")
    }

    static func layerAsDomain(_ domain: String) -> DefaultsError {
        DefaultsError(
            .invalidName,
            "'\(domain)' is a layer of a domain. Use the name before the @, and name the layer in the call."
        )
    }

    static func badName(_ key: KeyName) -> DefaultsError {
        DefaultsError(
            .invalidName,
            "The name of a key has 1 to \(KeyRule.maximumLength) bytes, none of them NUL; this one has "
                + "\(key.utf8.count).")
    }

    static func tooLarge(_ key: KeyName, limit: Int) -> DefaultsError {
        DefaultsError(
            .tooLarge,
            "The value for the key '\(key)' is larger than \(limit >> 20) MiB. Keep it in a file.")
    }

    static func conflict(_ key: KeyName, in domain: String) -> DefaultsError {
        DefaultsError(
            .conflict, "The key '\(key)' of \(domain) has changed since it was read. Read it again."
        )
    }

    static func tooMuchContention(_ key: KeyName, in domain: String, attempts: Int) -> DefaultsError
    {
        DefaultsError(
            .conflict,
            "The key '\(key)' of \(domain) was not updated, because other programs changed it during each of "
                + "\(attempts) attempts. Try again later.")
    }

    static func tooManyChanges(_ key: KeyName, in domain: String, limit: Int) -> DefaultsError {
        DefaultsError(
            .tooManyChanges,
            "The key '\(key)' of \(domain) was not changed, because changes of \(limit >> 20) MiB already "
                + "wait for the service to come back.")
    }

    static func noSuchRawValue(of type: Any.Type) -> DefaultsError {
        DefaultsError(.undecodable, "The stored value is not a raw value of \(type).")
    }

    static func notOfType(_ type: Any.Type, argument key: KeyName) -> DefaultsError {
        DefaultsError(
            .undecodable, "The argument -\(key) of the command line is not a value of \(type).")
    }

    static func unread(_ key: KeyName, in domain: String, _ error: any Error) -> DefaultsError {
        DefaultsError(
            (error as? DefaultsError)?.code ?? .undecodable,
            "The key '\(key)' of \(domain) was not changed, because its present value cannot be read: "
                + "\(reason(of: error)) Set the key to replace the value, or reset it first.")
    }

    static func kept(_ key: KeyName, under name: KeyName) -> DefaultsError {
        DefaultsError(
            .undecodable,
            "The value that could not be read is kept under the key '\(name)'. Remove that key if "
                + "nobody needs the value.")
    }

    static func notFetched(_ key: KeyName, in domain: String) -> DefaultsError {
        DefaultsError(
            .unreachable,
            "The key '\(key)' of \(domain) has a large value that could not be fetched. Before you "
                + "set the key, read it again or reset it.")
    }

    static func newerVersion(_ version: Int, of domain: String, known: Int) -> DefaultsError {
        DefaultsError(
            .newerVersion,
            "The defaults of \(domain) have version \(version), and this program knows \(known) at "
                + "most. Use a later version of it.")
    }
}

extension Error {
    /// The error of the service or of the bus that a ``DefaultsError`` was made of; any other error itself.
    package var ofContract: any Error { (self as? DefaultsError)?.cause?.error ?? self }
}
