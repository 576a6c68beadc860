import Foundation
public import Glibc
import Synchronization

/// A program started as a child of the tests.
///
/// Unlike Foundation's `Process` it begins with no signal blocked: the threads on which tests run
/// block all of them, a child would inherit that, and SIGTERM would never reach it.
public final class ChildProcess: Sendable {
    /// Its identifier.
    public let processIdentifier: pid_t

    /// What it prints, where that was asked for.
    public let lines: LineReader?

    private let outcome = Mutex<Int32?>(nil)

    /// Where an output of a child goes.
    public enum Output: Sendable {
        /// Nowhere.
        case nothing
        /// To a file, which is emptied before.
        case file(String)
        /// To ``ChildProcess/lines``, to be read while it runs.
        case lines
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: The program, looked for in PATH, and its arguments.
    ///   - environment: The whole environment; nil for that of the tests.
    ///   - input: The file that is its standard input.
    ///   - output: Where its standard output goes.
    ///   - error: Where its standard error goes; not to `lines`.
    /// - Throws: `POSIXError` where it cannot be started.
    public init(
        _ command: [String], environment: [String: String]? = nil, input: String = "/dev/null",
        output: Output = .nothing, error: Output = .nothing
    ) throws {
        let environment = environment ?? ProcessInfo.processInfo.environment
        (processIdentifier, lines) = try starting.withLock { _ in
            var streams = [(Int32(0), input, O_RDONLY)]
            for (number, output) in [(Int32(1), output), (2, error)] {
                if let path = output.path {
                    streams.append((number, path, O_WRONLY | O_CREAT | O_TRUNC))
                }
            }
            guard case .lines = output else {
                return (try spawn(command, environment, streams, pipe: nil), nil)
            }
            let pipe = Pipe()
            let descriptor = pipe.fileHandleForWriting.fileDescriptor
            for end in [descriptor, pipe.fileHandleForReading.fileDescriptor] {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            }
            let child = try spawn(command, environment, streams, pipe: descriptor)
            // Else the end of the child would not be the end of the lines.
            try pipe.fileHandleForWriting.close()
            return (child, LineReader(pipe.fileHandleForReading))
        }
    }

    /// It does not outlive this object: one that has ended and is not waited for would be in the way
    /// of whoever waits for any child, as the runner of exit tests does.
    deinit {
        send(SIGKILL)
        waitUntilExit()
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool {
        outcome.withLock { outcome in
            if outcome == nil { outcome = reap(processIdentifier, WNOHANG) }
            return outcome == nil
        }
    }

    /// Sends it a signal, where it still runs.
    public func send(_ signal: Int32) {
        outcome.withLock { outcome in
            // Not reaped, so the identifier is still its own.
            if outcome == nil { kill(processIdentifier, signal) }
        }
    }

    /// Waits for its end.
    ///
    /// - Returns: Its exit status; for a program that a signal ended, the signal's number plus 128.
    @discardableResult
    public func waitUntilExit() -> Int32 {
        outcome.withLock { outcome in
            let status = outcome ?? reap(processIdentifier, 0) ?? 127
            outcome = status
            return status
        }
    }
}

/// Takes over the status of a child that has ended; nil if it has not.
private func reap(_ child: pid_t, _ options: Int32) -> Int32? {
    var status: Int32 = 0
    while true {
        switch waitpid(child, &status, options) {
        case child:
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : signal + 128
        case -1 where errno == EINTR: continue
        default: return nil
        }
    }
}

/// No child is started between the making of a pipe and its protection from being inherited: it
/// would hold the pipe open.
private let starting = Mutex(())

private func spawn(
    _ command: [String], _ environment: [String: String],
    _ streams: [(number: Int32, path: String, flags: Int32)], pipe: Int32?
) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for stream in streams {
        posix_spawn_file_actions_addopen(&actions, stream.number, stream.path, stream.flags, 0o600)
    }
    if let pipe { posix_spawn_file_actions_adddup2(&actions, pipe, 1) }
    // Else it would hold open what others wait for the end of.
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        if let number = Int32(name), number > 2 {
            posix_spawn_file_actions_addclose(&actions, number)
        }
    }

    // The C strings live until the child has its own.
    var arguments = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for string in arguments + variables { free(string) } }
    var child = pid_t()
    let code = posix_spawnp(&child, command[0], &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
    return child
}

extension ChildProcess.Output {
    fileprivate var path: String? {
        switch self {
        case .nothing: "/dev/null"
        case .file(let path): path
        case .lines: nil
        }
    }
}
