/// The options on the command line of the roaming service.
struct RoamOptions {
    enum Action: Equatable {
        case serve, help, version
        case server(ServerCommand)
    }

    /// What an administrator does with a server.
    enum ServerCommand: Equatable {
        case initialize(address: String)
        case addUser(name: String, address: String)
        case addToken(name: String, address: String)
        case removeUser(name: String, address: String, withData: Bool)
        case users(address: String)
    }

    private(set) var action = Action.serve

    init(_ arguments: some Sequence<String>) throws(RoamUsageError) {
        var words = Array(arguments)[...]
        guard let first = words.popFirst() else { return }
        switch first {
        case "--help", "-h": action = .help
        case "--version": action = .version
        case "server": action = .server(try Self.command(&words))
        default: throw .unknown(first)
        }
        if let word = words.first { throw .unknown(word) }
    }

    private static func command(
        _ words: inout ArraySlice<String>
    ) throws(RoamUsageError) -> ServerCommand {
        guard let verb = words.popFirst() else { throw .noVerb }
        var (names, address, withData): ([String], String, Bool) = ([], "dbname=defaults", false)
        while let word = words.popFirst() {
            switch word {
            case "--database":
                guard let value = words.popFirst() else { throw .missingAddress }
                address = value
            case "--with-data": withData = true
            case _ where word.hasPrefix("-"): throw .unknown(word)
            default: names.append(word)
            }
        }
        guard !names.contains("") else { throw .emptyName }
        switch (verb, names.count, withData) {
        case ("init", 0, false): return .initialize(address: address)
        case ("add-user", 1, false): return .addUser(name: names[0], address: address)
        case ("add-token", 1, false): return .addToken(name: names[0], address: address)
        case ("remove-user", 1, _):
            return .removeUser(name: names[0], address: address, withData: withData)
        case ("users", 0, false): return .users(address: address)
        default: throw .wrongVerb(verb)
        }
    }

    static let help = """
        usage: defaultsd-roam
               defaultsd-roam server init [--database ADDRESS]
               defaultsd-roam server add-user NAME [--database ADDRESS]
               defaultsd-roam server add-token NAME [--database ADDRESS]
               defaultsd-roam server remove-user NAME [--with-data] [--database ADDRESS]
               defaultsd-roam server users [--database ADDRESS]
               defaultsd-roam --help | --version

        Keeps the user's defaults the same on several machines. Usually started by systemd after
        'defaultsctl roam enable', not by hand. What roams, and where, are values of the domain
        org.defaultsd.Roam; see defaultsctl roam --help.

        An administrator of a PostgreSQL server uses these:

          server init     create the database and the tables, or update the tables
          server add-user
                          let a user of the server roam; creates the role if it is missing
          server add-token
                          print a new secret, with which the user roams through a pooler
          server remove-user
                          revoke a user's access; the role and the data stay
          server users    list the users, with what they have stored
          --with-data     with remove-user: remove what the user has stored, too
          --database ADDRESS
                          the database, as a connection string of PostgreSQL, for a role that
                          may create tables and roles (default: dbname=defaults)

        Signals: SIGTERM and SIGINT end the service after the current step; SIGHUP exchanges
        changes now.
        Exit status: 0 done, 64 wrong command line, 69 there is no bus, the service is running
        already, the daemon cannot be followed, or the server refuses.

        """
}

/// An error in the command line.
struct RoamUsageError: Error, CustomStringConvertible {
    let description: String

    static let noVerb = RoamUsageError(
        description: "server needs a verb: init, add-user, add-token, remove-user or users")
    static let emptyName = RoamUsageError(description: "the name of a user must not be empty")
    static let missingAddress = RoamUsageError(description: "--database needs a connection string")

    static func wrongVerb(_ verb: String) -> RoamUsageError {
        RoamUsageError(
            description: "'server \(verb)' is not a command, or has too many or too few words")
    }

    static func unknown(_ word: String) -> RoamUsageError {
        RoamUsageError(description: "unknown argument '\(word)'")
    }
}
