import DefaultsService

/// What the command line of the daemon asks for.
///
/// Read here and not by a library, because the one in use elsewhere would bring Foundation into
/// every user's session for two options.
struct CommandLineOptions {
    enum Action {
        case serve, help, version
    }

    var action = Action.serve
    var databaseDirectory: String?
    var isVerbose = false

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": action = .help
            case "--version": action = .version
            case "--verbose": isVerbose = true
            case "--database":
                guard let directory = rest.popFirst() else { throw .missingDirectory }
                databaseDirectory = try Self.directory(directory)
            case _ where argument.hasPrefix("--database="):
                databaseDirectory = try Self.directory(argument.dropFirst("--database=".count))
            default: throw .unknown(argument)
            }
        }
    }

    private static func directory(_ path: some StringProtocol) throws(UsageError) -> String {
        guard !path.isEmpty else { throw .missingDirectory }
        return String(path)
    }

    static let help = """
        usage: defaultsd [--database DIR] [--verbose]
               defaultsd --help | --version

        Keeps the user's defaults and serves them on the session bus as
        org.defaultsd.Defaults1. Usually started by the bus or by systemd, not by hand.

          --database DIR  keep the database in DIR
                          (default: $XDG_CONFIG_HOME/defaultsd)
          --verbose       log each write to disk
          --help          print this text
          --version       print the version

        Signals: SIGTERM and SIGINT write everything to disk and end; SIGHUP writes and goes on.
        Exit status: 0 done, 64 wrong command line, 65 the database is damaged or not ours,
        69 no bus or another daemon is there, 74 the database cannot be opened or written.

        """
}

/// A command line that the daemon does not understand.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    static let missingDirectory = UsageError(description: "--database needs a directory")

    static func unknown(_ argument: String) -> UsageError {
        UsageError(description: "unknown argument '\(argument)'")
    }
}
