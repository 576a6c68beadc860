package import DBus

/// Why a secret could not be read or stored, with a sentence for people.
///
/// The sentence says what failed, for which secret, why, and what to do. An error never contains a
/// secret, or an error that the type of a value threw.
public struct SecretsError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// The user's bus cannot be reached.
        public static let noBus = Code("noBus")
        /// No program on the bus stores secrets.
        public static let noService = Code("noService")
        /// The service or the bus did not answer in time.
        ///
        /// It is not known whether the call was carried out.
        public static let timedOut = Code("timedOut")
        /// The service or the bus ended before it had answered, twice.
        ///
        /// It is not known whether the change was stored.
        public static let interrupted = Code("interrupted")
        /// The keyring is locked, and was not unlocked.
        public static let locked = Code("locked")
        /// The user refused, or the keyring could not ask the user.
        public static let dismissed = Code("dismissed")
        /// The service or the bus does not allow this program to call it.
        public static let denied = Code("denied")
        /// The service refused for a reason of its own.
        public static let refused = Code("refused")
        /// The service gave an answer that the specification does not allow.
        public static let badReply = Code("badReply")
        /// The secret is larger than 1 MiB.
        public static let tooLarge = Code("tooLarge")
        /// The domain or the key is empty or has a NUL character.
        public static let invalidName = Code("invalidName")
        /// The value's type could not encode it.
        public static let unencodable = Code("unencodable")
        /// The value in the keyring is not of the key's type.
        public static let undecodable = Code("undecodable")
    }

    /// The kind of the error.
    public let code: Code
    /// The domain of the secret.
    public let domain: String
    /// The name of the secret's key; nil if the error is about the whole keyring.
    public let key: String?
    /// A sentence for people that says what failed, why, and what to do.
    ///
    /// It never contains a secret.
    public let message: String
    /// The error of the bus or the service, if that is the reason.
    package let cause: DBusError?

    /// Makes an error, for the tests of apps.
    ///
    /// ```swift
    /// let login = Login(secrets: .inMemory(failing: SecretsError(.locked)))
    /// ```
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - domain: The domain of the secret.
    ///   - key: The name of the secret's key; nil if the error is about the whole keyring.
    ///   - message: A sentence for people.
    public init(
        _ code: Code, domain: String = "org.example.Test", key: String? = nil,
        message: String = "The keyring fails, because a test wants it to."
    ) {
        self.init(code, domain: domain, key: key, message, cause: nil)
    }

    init(
        _ code: Code, domain: String, key: String?, _ message: String, cause: DBusError? = nil
    ) {
        self.code = code
        self.domain = domain
        self.key = key
        self.message = message
        self.cause = cause
    }
}

extension SecretsError: CustomStringConvertible {
    /// The sentence for people.
    public var description: String { message }
}

/// An error of the keyring, before it is known which secret it is about.
enum KeyringProblem: Error {
    case noBus(DBusError)
    case connectionTimedOut(Duration)
    case dismissed
    case locked
    case badReply(String)
}
