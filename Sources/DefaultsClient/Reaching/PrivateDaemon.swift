import CLinux
package import DBus
@preconcurrency import Glibc

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
        let process = try spawn(
            program, variables, serving: theirs.number, log: log.descriptor.number)
        return (PrivateDaemon(process: process, log: log), ours)
    }

    /// Waits until the daemon has written everything and ended.
    ///
    /// - Returns: Its exit status; the number of a signal that ended it, plus 128.
    package func waitUntilExit() -> Int32 {
        Self.exitStatus(Self.reap(process))
    }

    /// Waits for the end of a child, and gives its status as wait(2) has it.
    package static func reap(_ process: Int32) -> Int32 {
        var status: Int32 = 0
        // The program may ignore the ends of its children, so that there is nothing to collect.
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// The exit status in what wait(2) gives; the number of a signal, plus 128.
    package static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : signal + 128
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

// MARK: Starting the program

extension PrivateDaemon {
    /// Starts the program with the socket as its standard input, and nothing else of this process.
    private static func spawn(
        _ program: String, _ variables: [String], serving socket: Int32, log: Int32
    ) throws(Failure) -> pid_t {
        // Above the standard descriptors, which the program may have closed: none overwrites another.
        let socket = fcntl(socket, F_DUPFD_CLOEXEC, 3)
        let log = fcntl(log, F_DUPFD_CLOEXEC, 3)
        defer { for number in [socket, log] where number >= 0 { close(number) } }
        guard socket >= 0, log >= 0 else { throw .last(program) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let outcomes = [
            posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO),
            // A reader of this program's output must not wait for the daemon to end.
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0),
            posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO),
            clinux_close_from(&actions, 3),
        ]
        if let code = outcomes.first(where: { $0 != 0 }) {
            throw .cannotRun(program, reason: SystemError.words(for: code))
        }

        var attributes = childAttributes()
        defer { posix_spawnattr_destroy(&attributes) }
        // The C strings live until the child has its own.
        let arguments = cStrings([program, "--peer", "0", "--priorities"])
        let variables = cStrings(variables)
        defer { for text in arguments + variables { free(text) } }
        var process = pid_t()
        let code = posix_spawn(&process, program, &actions, &attributes, arguments, variables)
        guard code == 0 else {
            throw .cannotRun(program, reason: SystemError.words(for: code))
        }
        return process
    }

    /// No signal is blocked or ignored, and what the keyboard sends goes to this program alone.
    private static func childAttributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        return attributes
    }

    /// Copies for the caller to free, and nil as the end of the list.
    private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

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
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && access(path, X_OK) == 0
    }

    /// The directory of the running program.
    private static var ownDirectory: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &bytes, bytes.count)
        guard length > 0 else { return nil }
        let path = String(
            decoding: bytes.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
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
