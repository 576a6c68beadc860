import CLinux
@preconcurrency import Glibc
package import SystemCalls

/// A `defaultsd --peer` that a process runs for itself when it reaches no service.
///
/// It works on the user's database, by the same rules as the service. When this process closes its end of
/// the socket, or ends, the daemon writes everything to disk and exits.
package struct PrivateDaemon: Sendable {
    /// The process, which somebody has to wait for.
    package let process: Int32
    private let log: DaemonLog

    /// Why there is no private daemon.
    package enum Failure: Error {
        /// No program `defaultsd` was found.
        case notInstalled
        /// This program has more rights than its caller, who chose the environment.
        case notAllowed
        /// The system does not run the program, or lacks what it needs, for this reason.
        case cannotRun(String, reason: String)
    }

    /// Starts the daemon.
    ///
    /// - Parameter variables: The environment of the daemon, as ``environment()`` gives it.
    /// - Returns: The daemon, and this process's end of its socket.
    /// - Throws: ``Failure``.
    package static func start(
        with variables: [String] = environment()
    ) throws(Failure) -> (daemon: PrivateDaemon, socket: FileDescriptor) {
        guard !UserBus.hasMoreRights else { throw .notAllowed }
        guard let program = DaemonProgram.find() else { throw .notInstalled }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .last(program) }
        let ours = FileDescriptor(owning: ends[0])
        let theirs = FileDescriptor(owning: ends[1])
        guard let log = DaemonLog() else { throw .last(program) }
        do throws(SystemError) {
            let process = try withExtendedLifetime((theirs, log)) { () throws(SystemError) in
                try SpawnedProcess(
                    program, ["--peer", "0", "--priorities"], environment: variables,
                    input: theirs.number, errors: log.descriptor.number)
            }
            return (PrivateDaemon(process: process.identifier, log: log), ours)
        } catch {
            throw .cannotRun(program, reason: error.reason)
        }
    }

    /// Waits until the daemon has written everything and ended.
    ///
    /// - Returns: Its exit status; the number of a signal that ended it, plus 128.
    package func waitUntilExit() -> Int32 {
        SpawnedProcess.exitStatus(SpawnedProcess.reap(process))
    }

    /// What the daemon's last error was, in its words; nil if it has reported none.
    package var complaint: String? { log.lines(of: ["<2>", "<3>"]).last }

    /// What the daemon warned of, as of damage that it repaired.
    package var warnings: [String] { log.lines(of: ["<4>"]) }
}

extension PrivateDaemon.Failure {
    /// The failure of the last system call.
    fileprivate static func last(_ program: String) -> Self {
        .cannotRun(program, reason: SystemError.words(for: errno))
    }
}

// MARK: Its environment

extension PrivateDaemon {
    /// This process's variables, without the address of a service manager that watches this process.
    ///
    /// To be called where the program may read its environment: a thread that changes it races with this.
    package static func environment() -> [String] {
        var variables: [String] = []
        var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let text = next.pointee {
            variables.append(String(cString: text))
            next += 1
        }
        variables.removeAll { $0.hasPrefix("NOTIFY_SOCKET=") }
        // The daemon has no other place for the database.
        if !variables.contains(where: { $0.hasPrefix("HOME=") }),
            let home = ExpectedDatabase.homeOfUser
        {
            variables.append("HOME=\(home)")
        }
        return variables
    }
}

/// Where the program `defaultsd` is.
package enum DaemonProgram {
    /// Where programs are installed, for processes whose `PATH` is short, as those of cron.
    private static let standardDirectories = ["/usr/local/bin", "/usr/bin"]

    /// The one beside this program, or else the first in `PATH` or where programs are installed.
    ///
    /// - Returns: Nil if there is none.
    package static func find() -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories =
            [ownDirectory].compactMap(\.self) + path.split(separator: ":").map(String.init)
            + standardDirectories
        return directories.filter { $0.hasPrefix("/") }.map { "\($0)/defaultsd" }.first(
            where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        FileStatus.ifAny(path)?.kind == .regular && access(path, X_OK) == 0
    }

    /// The directory of the running program.
    private static var ownDirectory: String? {
        Path.target(ofLink: "/proc/self/exe").map(Path.parent)
    }
}

/// What a private daemon says on standard error, in a file in memory: the daemon goes on although nobody
/// reads it.
private struct DaemonLog: Sendable {
    let descriptor: FileDescriptor
    /// The newest bytes that are read.
    private static let limit = 1 << 16

    init?() {
        let number = clinux_make_memory_file("defaultsd-log")
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
    }

    /// The lines that have one of these priorities, without it.
    func lines(of priorities: Set<String>) -> [String] {
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let size = lseek(descriptor.number, 0, SEEK_END)
        let count = pread(descriptor.number, &bytes, Self.limit, max(0, size - off_t(Self.limit)))
        guard count > 0 else { return [] }
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
            .filter { priorities.contains(String($0.prefix(3))) }
            .map { String($0.dropFirst(3)) }
    }
}
