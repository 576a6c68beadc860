import Foundation
import Glibc
import Synchronization

/// A real PostgreSQL server in a directory of its own, ended with its last reference.
///
/// It listens on a socket there, and nowhere else unless it is told to. PostgreSQL refuses to run as root,
/// so root runs it as another user.
public final class PostgresServer: Sendable {
    /// The directory of the socket, which is libpq's `host`.
    public let socketDirectory: String
    /// The directory of the data.
    public let dataDirectory: String

    /// Its port, which the name of the socket has, too.
    public let port: UInt16

    private let directory: TemporaryDirectory
    private let options: [String]
    private let running = Mutex<Running?>(nil)

    private struct Running {
        let process: ChildProcess
        let guardian: Guardian
    }

    // MARK: Where the programs are

    /// The directory with the programs of the newest PostgreSQL; nil if there is none.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
            .first { access($0 + "/initdb", X_OK) == 0 && access($0 + "/postgres", X_OK) == 0 }
    }()

    /// Whether a server can be started.
    public static var isAvailable: Bool {
        programs != nil && (geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0)
    }

    /// Why tests are skipped without it.
    public static let missing = "PostgreSQL's server is not installed in /usr/lib/postgresql"

    /// The user as whom root runs the server.
    private static let user: (user: uid_t, group: gid_t) = {
        let entry = getpwnam("postgres") ?? getpwnam("nobody")
        return entry.map { ($0.pointee.pw_uid, $0.pointee.pw_gid) } ?? (65534, 65534)
    }()

    /// A command as the user of the server.
    private static func command(_ name: String, _ arguments: [String]) -> [String] {
        asServerUser([(programs ?? "") + "/" + name] + arguments)
    }

    /// A command as the user of the server.
    static func asServerUser(_ command: [String]) -> [String] {
        guard geteuid() == 0 else { return command }
        return [
            "setpriv", "--reuid=\(user.user)", "--regid=\(user.group)", "--clear-groups",
        ] + command
    }

    /// Runs one of PostgreSQL's programs as the user of the server.
    @discardableResult
    public static func run(_ name: String, _ arguments: [String]) throws -> String {
        try ProgramResult.run(command(name, arguments)).requireOutput()
    }

    // MARK: Its life

    /// Makes the data and starts the server.
    ///
    /// - Parameters:
    ///   - authentication: The lines of `pg_hba.conf`.
    ///   - port: Its port.
    ///   - options: Settings, as `name=value`.
    ///   - prepare: What is done before the start.
    public init(
        authentication: [String] = ["local all all trust"], port: UInt16 = 5432,
        options: [String] = [], prepare: (PostgresServer) throws -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory()
        self.port = port
        self.options = options
        socketDirectory = directory.path
        dataDirectory = directory.path + "/data"
        try give(directory.path)
        try Self.run(
            "initdb",
            [
                "-D", dataDirectory, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
                "--no-sync",
            ])
        try (authentication + [""]).joined(separator: "\n").write(
            toFile: dataDirectory + "/pg_hba.conf", atomically: false, encoding: .utf8)
        try prepare(self)
        try start()
    }

    /// A second server with a copy of another one's data, made by `pg_basebackup`.
    ///
    /// - Parameters:
    ///   - server: The other one, which runs.
    ///   - isStandby: Whether it follows the other one.
    public init(copyOf server: PostgresServer, isStandby: Bool) throws {
        directory = try TemporaryDirectory()
        options = server.options
        port = server.port
        socketDirectory = directory.path
        dataDirectory = directory.path + "/data"
        try give(directory.path)
        try Self.run(
            "pg_basebackup",
            [
                "-h", server.socketDirectory, "-p", "\(port)", "-U", "postgres", "-D",
                dataDirectory, "-c", "fast",
                "--no-sync",
            ] + (isStandby ? ["-R"] : []))
        try start()
    }

    deinit {
        try? stop(.immediate)
    }

    /// Gives a file to the user of the server.
    public func give(_ path: String) throws {
        guard geteuid() == 0 else { return }
        guard chown(path, Self.user.user, Self.user.group) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
        }
    }

    /// Starts it, and waits until it takes connections.
    public func start() throws {
        let settings = [
            "listen_addresses=", "port=\(port)", "unix_socket_directories=\(socketDirectory)",
            "fsync=off",
            "shared_buffers=32MB", "max_wal_senders=4", "log_min_messages=log",
            "hot_standby=on",
        ]
        let arguments = ["-D", dataDirectory] + (settings + options).flatMap { ["-c", $0] }
        let process = try ChildProcess(
            ["sh", "-c", "exec \"$@\" 2>&1", "sh"] + Self.command("postgres", arguments),
            output: .lines)
        let isReady = DispatchSemaphore(value: 0)
        let log = Log()
        Thread.detachNewThread {
            while let line = process.lines?.next() {
                log.append(line)
                if line.contains("ready to accept") { isReady.signal() }
            }
            isReady.signal()
        }
        isReady.wait()
        guard process.isRunning else {
            throw ProgramFailure(
                result: ProgramResult(status: process.waitUntilExit(), output: "", error: log.text))
        }
        let guardian = try Guardian(of: process.processIdentifier, in: directory)
        running.withLock { $0 = Running(process: process, guardian: guardian) }
    }

    /// What it has printed until now.
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        func append(_ line: String) { lines.withLock { $0 = $0.suffix(50) + [line] } }
        var text: String { lines.withLock { $0.joined(separator: "\n") } }
    }

    /// How a server ends.
    public enum Stop {
        /// Its connections are closed, and everything is written.
        case fast
        /// As after a crash.
        case immediate
    }

    /// Ends it, and waits for the end.
    public func stop(_ stop: Stop) throws {
        let ended = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let ended else { return }
        ended.guardian.stop()
        ended.process.send(stop == .fast ? SIGINT : SIGQUIT)
        ended.process.waitUntilExit()
        // Else the next one has the same name.
        unlink(directory.path + "/guardian")
    }

    /// Replaces its data by a copy that was made before; it does not run.
    public func restore(_ copy: String) throws {
        try FileManager.default.removeItem(atPath: dataDirectory)
        try ProgramResult.run(["cp", "-a", copy, dataDirectory]).requireOutput()
    }

    /// Copies its data; it does not run.
    public func backUp(as name: String) throws -> String {
        let copy = "\(directory.path)/\(name)"
        try ProgramResult.run(["cp", "-a", dataDirectory, copy]).requireOutput()
        return copy
    }

    // MARK: Using it

    /// The server's first process, whose children are all others; nil if it does not run.
    public var processIdentifier: Int32? {
        running.withLock { $0?.process.processIdentifier }
    }

    /// A connection string.
    public func address(_ user: String = "postgres", database: String = "defaults") -> String {
        "host=\(socketDirectory) port=\(port) dbname=\(database) user=\(user)"
    }

    /// Runs SQL with psql, which ends at the first error.
    public func sql(
        _ text: String, as user: String = "postgres", database: String = "defaults"
    ) -> ProgramResult {
        ProgramResult.run(
            [
                "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose",
                address(user, database: database),
            ], input: text)
    }
}
