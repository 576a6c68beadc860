import DBus
import RoamingTerms

/// Messages about roaming.
extension ToolError {
    static let noRoamingService = ToolError(
        "Roaming is not set up, or its service is not running. See: defaultsctl roam enable --help",
        refused)

    static func roamingDoesNotStart(_ error: DBusError) -> ToolError {
        guard !missing.contains(error.name) else {
            return ToolError(
                "The roaming service is not installed. Install the package defaultsd-roam.", refused
            )
        }
        return ToolError(
            "The roaming service does not start: \(error.message.onOneLine). Its log may say more: "
                + "journalctl --user -u defaultsd-roam", refused)
    }

    /// The errors of the bus and of systemd if the service is not installed.
    private static let missing: Set<ErrorName> = [
        .serviceUnknown, "org.freedesktop.DBus.Error.FileNotFound",
        "org.freedesktop.DBus.Error.Spawn.ExecFailed", "org.freedesktop.systemd1.NoSuchUnit",
    ]

    static func noPlace(_ option: String, _ word: String) -> ToolError {
        ToolError("\(option) needs an absolute path, not '\(word.inBrief)'.", wrongLine)
    }

    /// An address that must not be stored; the message does not repeat it.
    static func noServer(_ fault: ServerAddressFault) -> ToolError {
        switch fault {
        case .secret(let keyword):
            ToolError(
                "The address of the server must not contain a secret ('\(keyword)'), because every "
                    + "program of the user can read it. Put a password into ~/.pgpass, or use a "
                    + "certificate (sslcert and sslkey) or Kerberos.", wrongLine)
        case .unreadable:
            ToolError(
                "--server needs a connection string of PostgreSQL, such as "
                    + "'host=defaults.example.org dbname=defaults', or a URI such as "
                    + "postgresql://defaults.example.org/defaults.", wrongLine)
        }
    }

    static let onePlace = ToolError(
        "Give either --directory or --server, or neither to use what is set up already.", wrongLine)

    static let nowhereToRoam = ToolError(
        "No place to roam to is set up. Give --directory DIRECTORY, which Syncthing, Nextcloud or the "
            + "like keeps the same on your machines, or --server ADDRESS.", refused)

    static let noPassphrase = ToolError("No passphrase was given, so nothing was changed.", refused)
    static let differentPassphrases = ToolError(
        "The two passphrases differ, so nothing was changed.", refused)
    static let noTerminal = ToolError(
        "There is no terminal to ask for the passphrase on. Give --passphrase-file FILE, - for "
            + "standard input.", wrongLine)
    static let passphraseWithoutEncryption = ToolError(
        "--passphrase-file is for --encrypt.", wrongLine)

    static func noRoamingName(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' does not name domains. Give a domain such as org.example.App, the "
                + "same with .* for all domains below it, or * for all others.", wrongLine)
    }

    static func doesNotRoam(_ word: String) -> ToolError {
        ToolError(
            "\(word.onOneLine) is not in the user's list of what roams; see 'defaultsctl roam "
                + "domains'. To exclude a domain that a pattern includes: defaultsctl roam add DOMAIN "
                + "--except '*'", refused)
    }

    static func neverRoams(_ word: String) -> ToolError {
        ToolError("\(word.onOneLine) is about this machine, and never roams.", refused)
    }

    static func noConflict(_ name: String) -> ToolError {
        ToolError(
            "There is no conflict '\(name.inBrief)'. 'defaultsctl roam conflicts' lists them.",
            refused)
    }

    static func ambiguousConflict(_ name: String) -> ToolError {
        ToolError(
            "'\(name.inBrief)' is the ID of several conflicts. Give DOMAIN/KEY/ID.", refused)
    }

    static func noMachine(_ name: String) -> ToolError {
        ToolError(
            "There is no machine '\(name.inBrief)'. 'defaultsctl roam machines' lists them.",
            refused)
    }

    static func ambiguousMachine(_ name: String, _ ids: [String]) -> ToolError {
        ToolError(
            "'\(name.inBrief)' means several machines. Give the ID of one: "
                + "\(ids.map(\.onOneLine).joined(separator: ", "))", refused)
    }
}
