package import DBus
package import DefaultsProtocol
import DefaultsTerms
internal import Wording

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
///
/// A test can make one, for ``Defaults/inMemory(domain:arguments:managed:system:locked:failing:)``.
public struct DefaultsError: Error, Hashable, CustomStringConvertible {
    /// What kind of error it is.
    public struct Code: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// There is no bus, or there is no service on it, or the service did not answer in time.
        ///
        /// A change that a call has waited for may have been made, and is still sent.
        public static let unreachable = Code("unreachable")
        /// The process was forked, and has no connection of its own.
        public static let forked = Code("forked")
        /// Applications cannot write to the layer.
        public static let notWritable = Code("notWritable")
        /// The administrator has locked the key.
        public static let locked = Code("locked")
        /// Another process has changed a value that had to be unchanged, or too often for
        /// ``Defaults/update(_:in:_:)``.
        public static let conflict = Code("conflict")
        /// Too many changes wait to be sent: more than 64 MiB of a domain.
        public static let tooManyChanges = Code("tooManyChanges")
        /// There is no such value or key.
        public static let notFound = Code("notFound")
        /// The name of the domain or of the key is invalid: `InvalidDomain` or `InvalidKey` of the
        /// contract.
        public static let invalidName = Code("invalidName")
        /// A value, a reply or a call is larger than the service allows; a value may have 16 MiB.
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
        /// A stored value, or one on the command line, is not of the type of its key.
        public static let undecodable = Code("undecodable")
        /// A new value cannot be archived.
        public static let unencodable = Code("unencodable")
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
    /// The locked keys that the change has named, by domain, for ``Code/locked``.
    ///
    /// The service names them if ``DefaultsTransaction/listsLockedKeys`` is set, and otherwise this is
    /// empty. A domain has the suffix of its layer. To make the rest of the change, leave these keys out. If
    /// their names have more than 1 MiB together, these are the first of them.
    public let lockedKeys: [String: [String]]
    /// What the type's coding has thrown, such as a `DecodingError`, for `undecodable` and `unencodable`.
    ///
    /// It may contain the value, so do not log it.
    public let underlyingError: (any Error)?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: What kind of error it is.
    ///   - message: A sentence for people, without any value.
    ///   - lockedKeys: The locked keys by domain, for ``Code/locked``.
    public init(_ code: Code, _ message: String, lockedKeys: [String: [String]] = [:]) {
        self.init(code, message, cause: nil, lockedKeys: lockedKeys)
    }

    init(
        _ code: Code, _ message: String, cause: Cause?, underlying: (any Error)? = nil,
        lockedKeys: [String: [String]] = [:]
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.lockedKeys = lockedKeys
        underlyingError = underlying
    }

    /// Whether both have the same code, message and locked keys.
    public static func == (one: DefaultsError, other: DefaultsError) -> Bool {
        one.code == other.code && one.message == other.message && one.cause == other.cause
            && one.lockedKeys == other.lockedKeys
    }

    /// Adds the code and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }

    /// The sentence.
    public var description: String { message }
}

extension DefaultsError {
    /// Why, for a sentence that names the key itself.
    var explanation: String {
        underlyingError.map(reason(of:)) ?? message
    }

    /// Whether what was expected did not hold.
    static func isConflict(_ error: any Error) -> Bool {
        (error as? DefaultsError)?.code == .conflict
    }
}

/// Errors of the service and of the bus, as applications get them: with the same message.
extension DefaultsError {
    /// The refusal of a change or a read.
    static func refusal(_ error: any Error) -> DefaultsError {
        switch error {
        case let error as DefaultsError: error
        case let refusal as ContractError: DefaultsError(refusal)
        case let error as DBusError: DefaultsError(.refused, error.message, cause: .bus(error))
        default: DefaultsError(.refused, reason(of: error), cause: nil, underlying: error)
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
        self.init(
            code, refusal.message, cause: .refusal(refusal),
            lockedKeys: Dictionary(refusal.locked.map { ($0.domain, $0.keys) }) { $0 + $1 })
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
            "The defaults service cannot be reached: \(reason)")
    }

    /// The service is an older one.
    static let withoutHistory = DefaultsError(
        .refused,
        "The defaults service that runs is an older one, and has no history. Restart it after an upgrade: "
            + "systemctl --user restart defaultsd.")

    /// A change that needs an answer was not begun.
    static func notBegun(_ reason: String) -> DefaultsError {
        DefaultsError(.unreachable, "\(unreachable(reason).message) Nothing was changed.")
    }

    /// Changes that no service could be sent.
    static func notSent(_ reason: String) -> DefaultsError {
        DefaultsError(
            .unreachable,
            "\(unreachable(reason).message) The changes of this process are kept in memory, and are sent "
                + "if the service comes.")
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

    /// - Parameters:
    ///   - keys: All locked keys of the change, of which the message names the first.
    ///   - spelling: The domain with the suffix of the layer.
    static func locked(
        _ keys: [KeyName], in domain: String, spelled spelling: String
    ) -> DefaultsError {
        DefaultsError(
            .locked,
            "The administrator has locked the key '\(keys.first ?? KeyName(""))' of \(domain); "
                + "`defaultsctl explain` names the file.",
            lockedKeys: [spelling: keys.map(\.string)])
    }

    /// Why a name is not that of a domain.
    static func badDomain(_ domain: String, _ fault: DomainRule.Fault) -> DefaultsError {
        let fault =
            switch fault {
            case .empty: "it is empty"
            case .tooLong(let length):
                "it has \(length) bytes, and at most \(DomainRule.maximumLength) are allowed"
            case .emptyElement(let offset):
                DomainRule.words(forEmptyElementAt: offset, in: domain)
            case .strayByte(let offset) where Array(domain.utf8)[offset] == UInt8(ascii: "@"):
                "a suffix such as @host selects a layer. Name the layer in the call"
            case .strayByte(let offset): "the character at byte \(offset) is not allowed"
            }
        return DefaultsError(
            .invalidName,
            "\(domain.quotedForMessage) is not the name of a domain: \(fault). Use NSGlobalDomain or an "
                + "application ID such as org.example.Editor.")
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

    /// A value that its key cannot read.
    static func undecodable(_ key: KeyName, in domain: String, _ error: any Error) -> DefaultsError
    {
        DefaultsError(
            .undecodable,
            "The value of the key '\(key)' of \(domain) cannot be read: \(reason(of: error))",
            cause: nil, underlying: error)
    }

    /// A new value that cannot be archived.
    static func unencodable(_ key: KeyName, _ error: any Error) -> DefaultsError {
        DefaultsError(
            .unencodable,
            "The new value of the key '\(key)' cannot be archived: \(reason(of: error))",
            cause: nil, underlying: error)
    }

    static func notOfType(_ type: Any.Type, argument key: KeyName) -> DefaultsError {
        DefaultsError(
            .undecodable, "The argument -\(key) of the command line is not \(words(for: type)).")
    }

    /// A change that would be derived from a value that cannot be read.
    static func unread(_ key: KeyName, in domain: String, _ error: DefaultsError) -> DefaultsError {
        DefaultsError(
            error.code,
            "The key '\(key)' of \(domain) was not changed, because its present value cannot be read: "
                + "\(error.explanation) Set the key to replace the value, or reset it first.",
            cause: error.cause, underlying: error.underlyingError)
    }

    static func kept(_ key: KeyName, under name: KeyName) -> DefaultsError {
        DefaultsError(
            .undecodable,
            "The value that could not be read is kept under the key '\(name)'. Remove that key if "
                + "the value is not needed.")
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
