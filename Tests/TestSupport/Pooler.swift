import Foundation
import Glibc

/// PgBouncer before a PostgreSQL server, ended with its last reference.
///
/// It gives each transaction a session of the role `roam_pooled`, and listens on a socket of its own.
public final class Pooler: Sendable {
    /// The directory of the socket, which is libpq's `host`.
    public let socketDirectory: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess
    private let guardian: Guardian

    private static let program: String? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin"])
            .map { $0 + "/pgbouncer" }.first { access($0, X_OK) == 0 }
    }()

    /// Whether one can be started.
    public static var isAvailable: Bool { PostgresServer.isAvailable && program != nil }

    /// Why tests are skipped without it.
    public static let missing = "pgbouncer is not installed"

    /// Starts one, and waits until it takes connections.
    ///
    /// - Parameters:
    ///   - server: The server, in which the role may sign in.
    ///   - sessions: How many sessions it has there.
    ///   - clients: How many connections it takes.
    public init(before server: PostgresServer, sessions: Int = 4, clients: Int = 100) throws {
        directory = try TemporaryDirectory()
        socketDirectory = directory.path
        try server.give(directory.path)
        // Each connection is let in: who a user is, the token says.
        let file = try directory.write(
            """
            [databases]
            defaults = host=\(server.socketDirectory) port=\(server.port) user=roam_pooled
            [pgbouncer]
            pool_mode = transaction
            default_pool_size = \(sessions)
            max_client_conn = \(clients)
            listen_port = 6432
            unix_socket_dir = \(directory.path)
            unix_socket_mode = 0777
            auth_type = any
            server_reset_query = DISCARD ALL
            server_reset_query_always = 1
            log_connections = 0
            log_disconnections = 0
            """, to: "pgbouncer.ini")
        try server.give(file)
        process = try ChildProcess(
            ["sh", "-c", "exec \"$@\" 2>&1", "sh"]
                + PostgresServer.asServerUser([Self.program ?? "pgbouncer", file]),
            output: .lines)
        guardian = try Guardian(of: process.processIdentifier, in: directory)
        var log = ""
        while let line = process.lines?.next() {
            log += line + "\n"
            if line.contains("process up") { break }
        }
        guard process.isRunning else {
            throw ProgramFailure(
                result: ProgramResult(status: process.waitUntilExit(), output: "", error: log))
        }
        // Otherwise it would wait once the pipe is full.
        let lines = process.lines
        Thread.detachNewThread { while lines?.next() != nil {} }
    }

    deinit {
        guardian.stop()
        process.send(SIGTERM)
        process.waitUntilExit()
    }

    /// Its process.
    public var processIdentifier: Int32 { process.processIdentifier }

    /// A connection string.
    public func address(_ user: String = "anybody") -> String {
        "host=\(socketDirectory) port=6432 dbname=defaults user=\(user)"
    }
}
