internal import DBus
internal import Wording

/// The messages of these errors.
extension SecretsError {
    static func invalidName(domain: String, key: String) -> SecretsError {
        SecretsError(
            .invalidName, domain: domain, key: key,
            "A secret cannot be named '\(visible(key))' in the domain '\(visible(domain))'. Neither name may "
                + "be empty or have a NUL character.")
    }

    static func notFlushed(domain: String, within bound: Duration) -> SecretsError {
        SecretsError(
            .timedOut, domain: domain, key: nil,
            "The changes of the secrets of '\(visible(domain))' are not all stored after \(bound). They "
                + "are still sent.")
    }

    static func tooLarge(_ name: SecretName, _ size: Int) -> SecretsError {
        SecretsError(
            .tooLarge, name,
            "\(subject(name)) is not stored: it has \(counted(size, "byte")), and the limit is "
                + "\(StoredSecret.maximumSize). Store the data in an encrypted file, and its key here."
        )
    }

    static func unencodable(_ name: SecretName, _ type: Any.Type) -> SecretsError {
        SecretsError(
            .unencodable, name,
            "\(subject(name)) is not stored: it could not be encoded as \(words(for: type)).")
    }

    static func undecodable(
        _ name: SecretName, _ type: Any.Type, hasArchive: Bool
    ) -> SecretsError {
        let found =
            hasArchive ? "a keyed archive of another type" : "data in another form"
        return SecretsError(
            .undecodable, name,
            "\(subject(name)) cannot be read as \(words(for: type)): the keyring has \(found). Another program, "
                + "or another version of this one, has stored it. Set it again, or reset it.")
    }

    /// The error for a secret, or for the whole keyring, that a failure of the keyring causes.
    init(_ error: any Error, domain: String, name: SecretName?) {
        switch error {
        case let error as SecretsError: self = error
        case let problem as KeyringProblem:
            self.init(problem, domain: domain, name)
        case let error as DBusError:
            let (code, reason) = Self.meaning(of: error)
            self.init(code, domain: domain, name, reason, cause: error)
        default:
            preconditionFailure("The keyring's client threw an error that it does not have.")
        }
    }

    private init(_ problem: KeyringProblem, domain: String, _ name: SecretName?) {
        switch problem {
        case .noBus(let cause):
            self.init(
                .noBus, domain: domain, name,
                "the bus of the session cannot be reached (\(cause.reason)); secrets need a desktop "
                    + "session",
                cause: cause)
        case .connectionTimedOut(let bound):
            self.init(
                .timedOut, domain: domain, name,
                "the bus of the session did not answer within \(bound)")
        case .dismissed:
            self.init(
                .dismissed, domain: domain, name,
                "the keyring had to ask the user, and the question was dismissed or could not be "
                    + "shown. Try again when the user wants to")
        case .locked:
            self.init(
                .locked, domain: domain, name,
                "the keyring is locked. Unlock it, then try again")
        case .badReply(let what):
            self.init(
                .badReply, domain: domain, name,
                "the service answered \(what), which the specification does not allow")
        }
    }

    /// The error for a secret, or for the whole keyring, with this reason.
    private init(
        _ code: Code, domain: String, _ name: SecretName?, _ reason: String,
        cause: DBusError? = nil
    ) {
        let subject = name.map(Self.subject) ?? "The keyring"
        self.init(
            code, domain: domain, key: name?.key, "\(subject) cannot be reached: \(reason).",
            cause: cause)
    }

    private init(_ code: Code, _ name: SecretName, _ message: String) {
        self.init(code, domain: name.domain, key: name.key, message)
    }

    /// The code and the reason for an error of the bus or the service.
    private static func meaning(of error: DBusError) -> (Code, String) {
        switch error.name {
        case .serviceUnknown, .nameHasNoOwner:
            (
                .noService,
                "no program on the bus stores secrets. Install and start one, such as "
                    + "gnome-keyring, KWallet or KeePassXC"
            )
        case let name where name.string.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
            (.noService, "the program that stores secrets could not be started")
        case .timeout:
            (
                .timedOut,
                "the program that stores secrets did not answer in time. It is not known whether the "
                    + "call was carried out"
            )
        case .locked: (.locked, "the keyring was locked meanwhile. Unlock it, then try again")
        case .accessDenied:
            (.denied, "this program may not use it, for example because of its sandbox")
        case .invalidArguments, .invalidSignature:
            (
                .badReply,
                "a call or an answer does not have the form that the specification requires"
            )
        case .disconnected, .noReply:
            (
                .interrupted,
                "the bus or the program that stores secrets ended before it had answered, twice. It is "
                    + "not known whether the call was carried out"
            )
        default: (.refused, "the service refused (\(error.name))")
        }
    }

    private static func subject(_ name: SecretName) -> String {
        "The secret '\(name.key)' of '\(name.domain)'"
    }

    /// A name with its NUL characters made visible, because they would end the message in many places.
    private static func visible(_ text: String) -> String {
        String(text.map { $0 == "\0" ? "␀" : $0 })
    }
}
