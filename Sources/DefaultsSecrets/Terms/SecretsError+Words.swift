internal import DBus

/// The words of every error of this module.
extension SecretsError {
    static func invalidName(domain: String, key: String) -> SecretsError {
        SecretsError(
            .invalidName, domain: domain, key: key,
            "A secret cannot be named '\(visible(key))' in the domain '\(visible(domain))': neither "
                + "may be empty or have a NUL character.")
    }

    static func tooLarge(_ name: SecretName, _ size: Int) -> SecretsError {
        SecretsError(
            .tooLarge, name,
            "\(subject(name)) is not stored: it has \(size) bytes, and a keyring takes "
                + "\(StoredSecret.maximumSize). Keep the data in a file, encrypted, and its key here."
        )
    }

    static func notEncodable(_ name: SecretName, _ type: Any.Type) -> SecretsError {
        SecretsError(
            .notEncodable, name,
            "\(subject(name)) is not stored: \(type) could not encode the value.")
    }

    static func notDecodable(
        _ name: SecretName, _ type: Any.Type, hasArchive: Bool
    ) -> SecretsError {
        let found =
            hasArchive ? "a keyed archive of another type" : "no keyed archive and no such text"
        return SecretsError(
            .notDecodable, name,
            "\(subject(name)) cannot be read as \(type): the keyring has \(found). Another program, "
                + "or another version of this one, has stored it; set it anew, or remove it.")
    }

    /// The error that a failure of the keyring is for a secret, or for the whole keyring.
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
                "the bus of the session cannot be reached (\(cause.message)); secrets need a desktop "
                    + "session",
                cause: cause)
        case .connectionTimedOut(let bound):
            self.init(
                .timedOut, domain: domain, name,
                "the bus of the session did not take the connection within \(bound)")
        case .dismissed:
            self.init(
                .dismissed, domain: domain, name,
                "the keyring had to ask the user, and the question was dismissed, or could not be "
                    + "shown. Ask again when the user wants it")
        case .locked:
            self.init(
                .locked, domain: domain, name,
                "the keyring is locked and stayed so. Unlock it, then try again")
        case .badReply(let what):
            self.init(
                .badReply, domain: domain, name,
                "the service answered \(what), which the specification does not allow")
        }
    }

    /// The error that this reason is for a secret, or for the whole keyring.
    private init(
        _ code: Code, domain: String, _ name: SecretName?, _ reason: String,
        cause: DBusError? = nil
    ) {
        let subject = name.map(Self.subject) ?? "The keyring"
        self.init(
            code, domain: domain, key: name?.key, "\(subject) is out of reach: \(reason).",
            cause: cause)
    }

    private init(_ code: Code, _ name: SecretName, _ message: String) {
        self.init(code, domain: name.domain, key: name.key, message)
    }

    /// What an error of the bus or of the service says, and why in words.
    private static func meaning(of error: DBusError) -> (Code, String) {
        switch error.name {
        case .serviceUnknown, .nameHasNoOwner:
            (
                .noService,
                "no program on the bus keeps secrets. Install and start one, such as "
                    + "gnome-keyring, KWallet or KeePassXC"
            )
        case let name where name.string.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
            (.noService, "the program that keeps secrets could not be started")
        case .timeout:
            (
                .timedOut,
                "the program that keeps secrets did not answer in time; whether it has done what "
                    + "it was asked is not known"
            )
        case .locked: (.locked, "the keyring was locked meanwhile. Unlock it, then try again")
        case .accessDenied: (.denied, "this program may not use it, as of a sandbox's rules")
        case .invalidArguments, .invalidSignature:
            (
                .badReply,
                "what was asked or answered does not have the form that the specification gives it"
            )
        case .disconnected, .noReply:
            (
                .interrupted,
                "the bus, or the program that keeps secrets, ended before it had answered, twice; "
                    + "whether it has done what it was asked is not known"
            )
        default: (.refused, "the service refused (\(error.name))")
        }
    }

    private static func subject(_ name: SecretName) -> String {
        "The secret '\(name.key)' of '\(name.domain)'"
    }

    /// A name with a NUL character, which ends a message in many places.
    private static func visible(_ text: String) -> String {
        String(text.map { $0 == "\0" ? "␀" : $0 })
    }
}
