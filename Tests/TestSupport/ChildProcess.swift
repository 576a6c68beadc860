import CLinux
public import Foundation
import Glibc
import Synchronization

/// A program started as a child of the tests.
///
/// Unlike Foundation's `Process`:
/// - It begins with no signal blocked. The threads on which tests run block all of them, a child would
///   inherit that, and SIGTERM would never reach it.
/// - It has no descriptor of the tests but its standard ones. Others would hold open what a test waits for
///   the end of.
public final class ChildProcess: Sendable {
    /// Its identifier.
    public let processIdentifier: Int32

    /// What writes to its standard input, if that is a pipe.
    public let input: FileHandle?

    /// What it prints, where that was asked for.
    public let lines: LineReader?

    /// What it has said on standard error, if that is kept.
    private let complaints: FileHandle?
    private let outcome = Mutex<Int32?>(nil)

    /// What a child reads.
    public enum Input: Sendable {
        /// Nothing.
        case nothing
        /// A file.
        case file(String)
        /// What is written to ``ChildProcess/input`` while it runs.
        case pipe
    }

    /// Where an output of a child goes.
    public enum Output: Sendable {
        /// Nowhere.
        case nothing
        /// To a file, which is emptied before.
        case file(String)
        /// To ``ChildProcess/lines``, to be read while it runs.
        case lines
        /// Into memory, for ``ChildProcess/requireSuccess()``.
        case kept
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: The program, looked for in PATH, and its arguments.
    ///   - environment: The whole environment; nil for that of the tests.
    ///   - input: Its standard input.
    ///   - output: Where its standard output goes.
    ///   - error: Where its standard error goes; not to `lines`. By default it is kept.
    /// - Throws: `POSIXError` where it cannot be started; ``ProgramsNotAllowed`` in tests that start none.
    public init(
        _ command: [String], environment: [String: String]? = nil, input: Input = .nothing,
        output: Output = .nothing, error: Output = .kept
    ) throws {
        try ProgramsNotAllowed.check(command)
        var streams = try ChildStreams()
        self.input = try streams.add(input)
        lines = try streams.add(output, as: 1).map(LineReader.init)
        complaints = try streams.add(error, as: 2)
        let environment = environment ?? ProcessInfo.processInfo.environment
        processIdentifier = try spawn(command, RunningTest.mark(environment), &streams)
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
        // Without the lock, so that another thread can send it a signal meanwhile.
        var information = siginfo_t()
        while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0,
            errno == EINTR
        {}
        return outcome.withLock { outcome in
            let status = outcome ?? reap(processIdentifier, 0) ?? 127
            outcome = status
            return status
        }
    }
}

extension ChildProcess {
    /// Waits for its end, and fails with what it has said if its exit status is not 0.
    ///
    /// - Throws: ``ProgramFailure``.
    public func requireSuccess() throws {
        try ProgramResult(status: waitUntilExit(), output: "", error: complaint).requireOutput()
    }

    /// What it has said on standard error.
    private var complaint: String {
        guard let file = complaints?.fileDescriptor else { return "" }
        // It has the position in common with the child, so that is not moved.
        var bytes = [UInt8](repeating: 0, count: Int(max(0, fileSize(file))))
        let count = pread(file, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private func fileSize(_ file: Int32) -> off_t {
        var status = stat()
        return fstat(file, &status) == 0 ? status.st_size : 0
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

/// The standard streams of a child, before it is started.
private struct ChildStreams: ~Copyable {
    private var files = posix_spawn_file_actions_t()
    /// The child's ends of pipes, which are closed here when the child has them.
    private var theirs: [FileHandle] = []

    init() throws {
        posix_spawn_file_actions_init(&files)
    }

    deinit {
        var files = files
        posix_spawn_file_actions_destroy(&files)
    }

    /// Calls a closure with all that is to be done in the child, once.
    mutating func withActions<Result>(
        _ body: (UnsafePointer<posix_spawn_file_actions_t>) -> Result
    ) -> Result {
        clinux_close_from(&files, 3)
        return withExtendedLifetime(theirs) { body(&files) }
    }

    /// - Returns: What writes to the child.
    mutating func add(_ input: ChildProcess.Input) throws -> FileHandle? {
        switch input {
        case .nothing: open("/dev/null", O_RDONLY, as: 0)
        case .file(let path): open(path, O_RDONLY, as: 0)
        case .pipe:
            let (reading, writing) = try pipe()
            pass(reading, as: 0)
            return writing
        }
        return nil
    }

    /// - Returns: What reads from the child, or what it writes is kept in.
    mutating func add(_ output: ChildProcess.Output, as number: Int32) throws -> FileHandle? {
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        switch output {
        case .nothing: open("/dev/null", flags, as: number)
        case .file(let path): open(path, flags, as: number)
        case .lines:
            let (reading, writing) = try pipe()
            pass(writing, as: number)
            return reading
        case .kept:
            let file = try Self.owned(clinux_make_memory_file("output"))
            pass(file, as: number)
            return file
        }
        return nil
    }

    private static func owned(_ file: Int32) throws -> FileHandle {
        guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
        return FileHandle(fileDescriptor: file, closeOnDealloc: true)
    }

    private mutating func open(_ path: String, _ flags: Int32, as number: Int32) {
        posix_spawn_file_actions_addopen(&files, number, path, flags, 0o600)
    }

    private mutating func pass(_ file: FileHandle, as number: Int32) {
        posix_spawn_file_actions_adddup2(&files, file.fileDescriptor, number)
        theirs.append(file)
    }

    /// A pipe that no other child inherits; Foundation's are not close-on-exec.
    private func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        var ends: [Int32] = [-1, -1]
        guard clinux_make_pipe(&ends) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE)
        }
        // Those who use it wait.
        for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) & ~O_NONBLOCK) }
        return (
            FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
            FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        )
    }
}

private func spawn(
    _ command: [String], _ environment: [String: String], _ streams: inout ChildStreams
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

    // The C strings live until the child has its own.
    var arguments = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for string in arguments + variables { free(string) } }
    var child = pid_t()
    let code = streams.withActions {
        posix_spawnp(&child, command[0], $0, &attributes, &arguments, &variables)
    }
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
    return child
}
