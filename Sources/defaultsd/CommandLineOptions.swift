import DefaultsFiles
import DefaultsService

/// The options on the daemon's command line.
///
/// They are parsed here because the library that the tool uses for this would load Foundation into
/// every user's session.
struct CommandLineOptions {
    enum Action {
        case serve, examine, help, version
    }

    var action = Action.serve
    var daemon = DaemonOptions()
    var isVerbose = false
    var showsPriorities = false

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            switch parts.first {
            case "--database": daemon.databaseDirectory = try directory(of: parts, or: &rest)
            case "--managed": daemon.places.managed = try directory(of: parts, or: &rest)
            case "--recommended": daemon.places.recommended = try directory(of: parts, or: &rest)
            case "--vendor": daemon.places.vendor = try directory(of: parts, or: &rest)
            case "--serve": try takeServices(value(of: parts, or: &rest))
            case "--peer": try takePeer(value(of: parts, or: &rest))
            case _ where parts.count > 1: throw .unknown(argument)
            case "--helper": action = .examine
            case "--replace": try serve(.busReplacingOther)
            case "--verbose": isVerbose = true
            case "--priorities": showsPriorities = true
            case "--help", "-h": action = .help
            case "--version": action = .version
            default: throw .unknown(argument)
            }
        }
    }

    /// The value of an option: the text after its equals sign, or the next argument.
    private func value(of parts: [String], or rest: inout ArraySlice<String>) -> String? {
        parts.count > 1 ? parts[1] : rest.popFirst()
    }

    private func directory(
        of parts: [String], or rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard let path = value(of: parts, or: &rest), !path.isEmpty else {
            throw .missingDirectory(parts[0])
        }
        return path
    }

    private mutating func takeServices(_ list: String?) throws(UsageError) {
        for name in (list ?? "").split(separator: ",", omittingEmptySubsequences: false) {
            guard Doors.names.contains(String(name)) else { throw .unknownService(String(name)) }
            daemon.doors.insert(String(name))
        }
        try checkServices()
    }

    /// A program that is served without a bus cannot call another name.
    private func checkServices() throws(UsageError) {
        if case .peer = daemon.callers, !daemon.doors.isEmpty { throw .servicesOfPeer }
    }

    private mutating func takePeer(_ number: String?) throws(UsageError) {
        guard let number, let descriptor = Int32(number), descriptor >= 0 else {
            throw .missingDescriptor
        }
        try serve(.peer(descriptor: descriptor))
    }

    private mutating func serve(_ callers: DaemonOptions.Callers) throws(UsageError) {
        guard daemon.callers == .bus || daemon.callers == callers else { throw .peerOnBus }
        daemon.callers = callers
        try checkServices()
    }

    /// The doors and whom they serve, each on a line of the option.
    private static let doors = Doors.summaries.map { "\($0.name), \($0.summary)" }
        .joined(separator: ";\n" + String(repeating: " ", count: 18))

    static let help = """
        usage: defaultsd [--replace | --peer FD] [--database DIR] [--managed DIR]
                         [--recommended DIR] [--vendor DIR] [--serve LIST] [--verbose]
                         [--priorities]
               defaultsd --helper | --help | --version [--verbose]

        Keeps the user's defaults and serves them on the session bus as
        org.defaultsd.Defaults1. Usually started by the bus or by systemd, not by hand.

          --replace       replace the running daemon: it writes everything to disk
                          and ends, and no call is lost; if this daemon cannot serve,
                          the running one continues
          --peer FD       without a bus, serve the program at the other end of the
                          connected socket FD until it closes its end
          --database DIR  keep the database in DIR
                          (default: $XDG_CONFIG_HOME/defaultsd)
          --managed DIR   read the administrator's mandatory values from DIR
                          (default: /etc/defaultsd/managed)
          --recommended DIR
                          read the administrator's recommended values from DIR
                          (default: /etc/xdg/defaultsd)
          --vendor DIR    read the vendors' values from DIR
                          (default: /usr/share/defaultsd)
          --serve LIST    be these services for unmodified programs, too; LIST has names
                          with commas between them: \(doors)
          --verbose       log each write to disk
          --priorities    begin each line of the log with its priority, such as <4>,
                          even if standard error is not the journal
          --helper        say who a process is, to a daemon that is confined by systemd
                          and connected to standard input
          --help          print this text
          --version       print the version; with --verbose also the versions of the
                          interface, the files and the libraries

        Signals: SIGTERM and SIGINT write everything to disk and end; SIGHUP writes
        everything to disk, reads the files of administrators and vendors again, and continues.
        Exit status: 0 done, 64 wrong command line, 65 the database is damaged or not a
        database of defaultsd, 69 there is no bus or no peer, or another daemon is running,
        71 the second process of the daemon has ended, 74 the database cannot be opened or written.

        """
}

/// An error in the daemon's command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    static let missingDescriptor = UsageError(
        description: "--peer needs the number of a connected socket that this process has inherited"
    )
    static let peerOnBus = UsageError(description: "--peer and --replace cannot be used together")

    static let servicesOfPeer = UsageError(
        description: "--peer and --serve cannot be used together")

    static func unknownService(_ name: String) -> UsageError {
        let known = Doors.names.joined(separator: ", ")
        return UsageError(
            description:
                "--serve needs names of services with commas between them; '\(ServiceLog.escaped(name))' "
                + "is not one of them: \(known)")
    }

    static func missingDirectory(_ option: String) -> UsageError {
        UsageError(description: "\(option) needs a directory")
    }

    static func unknown(_ argument: String) -> UsageError {
        UsageError(description: "unknown argument '\(ServiceLog.escaped(argument))'")
    }
}
