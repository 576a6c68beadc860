import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Variables, limits and streams that a program gives the daemon that it starts.
///
/// In each case the daemon serves, or ends with an error. It writes nowhere else.
@Suite(.startsPrograms, .serialized) struct EnvironmentTests {
    private let desktop: Desktop
    private var root: String { desktop.directory.path }

    init() throws { desktop = try Desktop() }

    /// A shell's words before the daemon, and where the database is then; nil if there is an error.
    struct Surroundings: CustomTestStringConvertible {
        let words: String
        let database: String?
        var error = ""

        var testDescription: String { words }
    }

    private static let home = "home/.config/defaultsd"

    static let variables: [Surroundings] = [
        Surroundings(words: "XDG_CONFIG_HOME=relative", database: home),
        Surroundings(words: "XDG_CONFIG_HOME=", database: home),
        Surroundings(words: "XDG_CONFIG_HOME=./here", database: home),
        Surroundings(words: "XDG_CONFIG_HOME=file:///x?mode=memory", database: home),
        Surroundings(
            words: "XDG_CONFIG_HOME= HOME=relative", database: nil,
            error: "neither XDG_CONFIG_HOME nor HOME"),
        Surroundings(
            words: "XDG_CONFIG_HOME= HOME=", database: nil,
            error: "neither XDG_CONFIG_HOME nor HOME"),
        Surroundings(
            words: "-u XDG_CONFIG_HOME -u HOME", database: nil,
            error: "neither XDG_CONFIG_HOME nor HOME"),
        Surroundings(
            words: #"XDG_CONFIG_HOME="$root/$(printf 'a\nb')""#, database: "a\nb/defaultsd"),
        Surroundings(
            words: #"XDG_CONFIG_HOME="$root/a?mode=ro&x#%20%00y""#,
            database: "a?mode=ro&x#%20%00y/defaultsd"),
        Surroundings(words: #"XDG_CONFIG_HOME="$root/ '\"$;""#, database: " '\"$;/defaultsd"),
        Surroundings(
            words: #"XDG_CONFIG_HOME="$root/$(printf '\033[2J\342\200\256')""#,
            database: "\u{1B}[2J\u{202E}/defaultsd"),
        Surroundings(
            words: #"XDG_CONFIG_HOME="$root/$(printf 'x\377y')""#, database: nil,
            error: "XDG_CONFIG_HOME"),
        Surroundings(
            words: #"XDG_CONFIG_HOME="$root/$(printf '%0300d' 0)""#, database: nil,
            error: "File name too long"),
        Surroundings(
            words: "XDG_CONFIG_HOME=/proc/self", database: nil, error: "/proc/self/defaultsd"),
        Surroundings(words: "XDG_RUNTIME_DIR=relative", database: "config/defaultsd"),
        Surroundings(words: "XDG_RUNTIME_DIR=", database: "config/defaultsd"),
        Surroundings(words: "-u XDG_RUNTIME_DIR", database: "config/defaultsd"),
        Surroundings(words: "XDG_RUNTIME_DIR=/dev/null", database: "config/defaultsd"),
        Surroundings(words: "XDG_RUNTIME_DIR=/proc/self", database: "config/defaultsd"),
        Surroundings(
            words: #"XDG_RUNTIME_DIR="$root/$(printf 'r\nr')""#, database: "config/defaultsd"),
        Surroundings(
            words: #"XDG_RUNTIME_DIR="$root/r?mode=ro&x#%20""#, database: "config/defaultsd"),
        Surroundings(
            words: #"XDG_RUNTIME_DIR="$root/$(printf 'x\377y')""#, database: "config/defaultsd"),
        Surroundings(
            words: #"XDG_RUNTIME_DIR="$root/$(printf '%0200d' 0)""#, database: "config/defaultsd"),
    ]

    static let others: [Surroundings] = [
        "LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8", "LC_ALL=../../../etc/passwd", "LC_ALL=C LANG=",
        "LC_ALL=xx_YY.ISO-8859-1", #"LC_ALL="$(printf '%01000d' 0)""#, "TZ=:/dev/zero TZDIR=/dev",
        "TMPDIR=/none SQLITE_TMPDIR=/none", "MALLOC_CHECK_=3 MALLOC_PERTURB_=165",
        "SQLITE_FORCE_PROXY_LOCKING=1", "JOURNAL_STREAM=1:1", "NOTIFY_SOCKET=/none/socket",
        "LISTEN_FDS=9 LISTEN_PID=1", "LISTEN_FDS=x", "DBUS_VERBOSE=1", "PATH=", "-i",
    ].map { Surroundings(words: $0, database: "config/defaultsd") }

    @Test(arguments: variables + others)
    func `Whatever the variables are, the daemon serves in the right place, or says why not`(
        surroundings: Surroundings
    ) throws {
        let words =
            surroundings.words == "-i"
            ? #"-i XDG_CONFIG_HOME="$root/config" DBUS_SESSION_BUS_ADDRESS="$DBUS_SESSION_BUS_ADDRESS""#
            : surroundings.words
        try run("env \(words)", "", surroundings)
    }

    /// Limits, and what the daemon says under those with which it does not serve.
    static let limits: [(String, error: String?)] = [
        ("--nofile=64", nil), ("--nofile=16:4096", nil), ("--nofile=16", "only 16 files open"),
        ("--nofile=8", "only 8 files open"), ("--nofile=4", "only 4 files open"),
        ("--fsize=0", "File too large"), ("--fsize=4096", "SQLite"),
        ("--as=25000000", "cannot be opened"), ("--as=60000000", nil), ("--stack=65536", nil),
        ("--memlock=0", nil), ("--core=0", nil), ("--sigpending=0", nil), ("--msgqueue=0", nil),
        ("--rtprio=0 --nice=0", nil),
    ]

    @Test(arguments: limits)
    func `Under a limit of the system the daemon serves, or ends with an error`(
        limit: String, error: String?
    ) throws {
        try run(
            "prlimit \(limit)", "",
            Surroundings(
                words: limit, database: error == nil ? "config/defaultsd" : nil, error: error ?? "")
        )
    }

    @Test func `A daemon that gets no memory loses nothing`() throws {
        try desktop.tool("write", "a.b", "key", "-int", "1").requireOutput()
        try desktop.killDaemon(SIGKILL)
        for size in ["100000", "1000000", "2000000"] {
            let ended = desktop.run(
                HangGuard.command + ["prlimit", "--data=\(size)", Desktop.programs + "/defaultsd"])
            #expect(ended.status != 0)
        }
        #expect(desktop.tool("read", "a.b", "key").output == "1\n")
    }

    @Test(arguments: ["0", "0777", "0277"])
    func `Whatever the umask is, files are for the user alone`(mask: String) throws {
        try run(
            "env", "umask \(mask);",
            Surroundings(words: "", database: "config/defaultsd"))
        let files = FileManager.default.enumerator(atPath: root + "/config")
        for name in files?.compactMap({ $0 as? String }) ?? [] {
            var status = stat()
            try #require(lstat("\(root)/config/\(name)", &status) == 0)
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            #expect(status.st_mode & 0o7777 == (isDirectory ? 0o700 : 0o600), "\(name)")
        }
    }

    @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
    func `With closed streams no file of the daemon gets their numbers`(streams: String) throws {
        let daemon = try desktop.startDaemon(by: "sh", "-c", "exec \"$0\" \(streams)")
        try desktop.tool("write", "a.b", "key", "-int", "1").requireOutput()
        let process = try desktop.daemonPID()
        for number in 0...2 {
            let target = try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(process)/fd/\(number)")
            // The test keeps standard error, if that is not closed.
            let isKept = number == 2 && !streams.contains("2>&-")
            #expect(target == (isKept ? "/memfd:output (deleted)" : "/dev/null"))
        }
        daemon.send(SIGTERM)
        try daemon.requireSuccess()
    }

    /// Runs a daemon, has it keep a value over its end if it serves, and looks what it has made.
    private func run(_ launcher: String, _ before: String, _ surroundings: Surroundings) throws {
        for directory in ["home", "work"] {
            try #require(mkdir("\(root)/\(directory)", 0o700) == 0)
        }
        let places = try Set(names())
        for start in 1...2 {
            var environment = desktop.environment
            environment["HOME"] = "\(root)/home"
            environment["root"] = root
            let daemon = try ChildProcess(
                HangGuard.command + [
                    "sh", "-c", "cd \"$root/work\"; \(before) exec \(launcher) \"$0\" 2>&1",
                    Desktop.programs + "/defaultsd",
                ], environment: environment, output: .lines)
            var isServing = false
            try wait {
                isServing = try desktop.askBus("NameHasOwner", Self.name) == "(true,)\n"
                return isServing || !daemon.isRunning
            }
            // A file would have a limit, too.
            func log() -> String {
                var log = ""
                while let line = daemon.lines?.next() { log += "\(line)\n" }
                return log
            }
            guard let database = surroundings.database else {
                #expect(!isServing)
                if isServing { try desktop.killDaemon(SIGTERM) }
                #expect([65, 69, 74, 126, 127].contains(daemon.waitUntilExit()))
                let said = log()
                #expect(said.contains(surroundings.error) && !said.isEmpty, "\(said)")
                break
            }
            if !isServing { Issue.record("\(log())") }
            try #require(isServing)
            if start == 1 {
                try desktop.tool("write", "a.b", "key", "-int", "1").requireOutput()
            }
            #expect(desktop.tool("read", "a.b", "key").output == "1\n")
            try desktop.killDaemon(SIGTERM)
            try daemon.requireSuccess()
            #expect(FileManager.default.fileExists(atPath: "\(root)/\(database)/defaults.db"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/work") == [])
        let mayBeMade = surroundings.database.map { [String($0.prefix { $0 != "/" })] } ?? []
        let made = try Set(names()).subtracting(places)
        // A runtime directory is made where it is named.
        #expect(
            made.subtracting(mayBeMade).allSatisfy {
                surroundings.words.hasPrefix("XDG_RUNTIME_DIR=\"$root/") && !$0.isEmpty
            }, "\(made)")
    }

    private static let name = "org.defaultsd.Defaults1"

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root)
    }
}
