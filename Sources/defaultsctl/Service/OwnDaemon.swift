import CLinux
import DBus
@preconcurrency import Glibc

/// A `defaultsd --peer` that this program runs for itself, and that ends with it.
///
/// However this program ends, its end of the socket is closed, which makes the daemon write
/// everything and end.
struct OwnDaemon {
    private let identifier: pid_t
    private let log: DaemonLog

    /// Starts the daemon.
    ///
    /// - Parameter reason: Why there is no other, for the error.
    /// - Returns: The daemon, and our end of its socket.
    /// - Throws: ``ToolError`` where there is none to be run.
    static func start(
        because reason: String
    ) throws -> (process: OwnDaemon, socket: FileDescriptor) {
        guard let program = DaemonProgram.find() else { throw ToolError.noDaemon(reason) }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ToolError.daemonFailed(program, SystemWords.last)
        }
        let (ours, theirs) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let log = try DaemonLog()
        let identifier = try spawn(program, serving: theirs.number, log: log.descriptor.number)
        Interruption.follow(identifier)
        return (OwnDaemon(identifier: identifier, log: log), ours)
    }

    /// Waits until the daemon has written everything and ended, and tells of what it warned of.
    ///
    /// - Parameter outcome: What the command has come to.
    /// - Throws: ``ToolError`` with the daemon's own words where it could not serve or not write.
    func end<Outcome>(after outcome: Result<Outcome, any Error>) throws {
        let status = Interruption.waitForEnd(of: identifier)
        // Nobody else would tell of damage: there is no journal of the system that has the log.
        for warning in log.warnings { Complaint.say(warning) }
        guard status != 0 else { return }
        let words = log.complaint ?? "defaultsd has ended with status \(status)."
        switch outcome {
        case .success: throw ToolError.notWritten(words)
        case .failure(let error) where error is DBusError: throw ToolError.ownDaemon(words)
        case .failure: break
        }
    }

    /// Starts the program with the socket as its standard input.
    private static func spawn(_ program: String, serving socket: Int32, log: Int32) throws -> pid_t
    {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO)
        // Who reads what this program prints does not wait for the daemon.
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A group of its own: what the keyboard sends is for this program to pass on.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        // The C strings live until the child has its own.
        let words = [program, "--peer", "0", "--priorities"]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        // The manager of whatever unit runs this program is not the daemon's to be told that it serves.
        unsetenv("NOTIFY_SOCKET")
        var identifier = pid_t()
        let code = posix_spawn(&identifier, program, &actions, &attributes, arguments, environ)
        guard code == 0 else { throw ToolError.daemonFailed(program, SystemWords.of(code)) }
        return identifier
    }
}

/// Where the program `defaultsd` is.
enum DaemonProgram {
    /// The one beside this program, or else the first in PATH; nil where there is none.
    static func find() -> String? {
        let beside = SystemFile.target(of: "/proc/self/exe").map(SystemFile.directory)
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories = [beside].compactMap(\.self) + path.split(separator: ":").map(String.init)
        return directories.map { "\($0)/defaultsd" }.first { access($0, X_OK) == 0 }
    }
}

/// What a daemon of one's own says on standard error, in a file in memory: nobody has to read it for
/// the daemon to go on.
private struct DaemonLog {
    let descriptor: FileDescriptor

    init() throws {
        let number = clinux_make_memory_file("defaultsd-log")
        guard number >= 0 else { throw ToolError.daemonFailed("defaultsd", SystemWords.last) }
        descriptor = FileDescriptor(owning: number)
    }

    /// The last line that is an error's; nil where there is none.
    var complaint: String? { lines(of: ["<2>", "<3>"]).last }

    /// The lines that are warnings, as of damage that was mended.
    var warnings: [String] { lines(of: ["<4>"]) }

    /// The lines that have one of these priorities, without it.
    private func lines(of priorities: Set<String>) -> [String] {
        let limit = 1 << 16
        var bytes = [UInt8](repeating: 0, count: limit)
        let size = lseek(descriptor.number, 0, SEEK_END)
        let count = pread(descriptor.number, &bytes, limit, max(0, size - off_t(limit)))
        guard count > 0 else { return [] }
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
            .filter { priorities.contains(String($0.prefix(3))) }
            .map { String($0.dropFirst(3)) }
    }
}
