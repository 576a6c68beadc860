package import Glibc
internal import Synchronization

// Invariants
//
// 1. The system is asked first. The helper is asked only if the system denies access (EACCES), as it
//    does to a confined process in a directory that was made after the process was confined.
// 2. A caller sees the result of one system call: a number, and `errno`.

/// The system calls that lead to a file by its name, for a process that may be confined.
package enum FileCalls {
    private static let helper = Mutex<RequestSocket?>(nil)

    /// From now on the helper is asked for what the system denies.
    ///
    /// - Parameters:
    ///   - helper: A process that a ``FileKeeper`` answers for.
    ///   - places: What it may do.
    /// - Returns: Whether it does.
    package static func ask(_ helper: RequestSocket, in places: FileKeeper.Places) -> Bool {
        guard FileRequest.begin(places).ask(helper)?.isDone == true else { return false }
        self.helper.withLock { $0 = helper }
        return true
    }

    /// The error of a file elsewhere that is no database of this program.
    package static let noDatabase = EMEDIUMTYPE

    /// open(2); what is made only its owner can read and write.
    package static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0o600) -> Int32 {
        opened(retrying { Glibc.open(path, flags, mode) }, or: .open(path, flags: flags))
    }

    /// Opens the same file once more, for reading only, also if it has lost its name.
    ///
    /// - Parameter descriptor: Where it is open for reading.
    package static func openAgain(_ descriptor: Int32) -> Int32 {
        // See proc_pid_fd(5): the link leads to the file itself, not to its name.
        let link = "/proc/self/fd/\(descriptor)"
        let number = retrying { Glibc.open(link, O_RDONLY | O_CLOEXEC) }
        guard number < 0, errno == EACCES else { return number }
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { return -1 }
        errno = EACCES
        return opened(-1, or: .reopen(FileDescriptor(owning: duplicate)))
    }

    private static func opened(_ number: Int32, or request: FileRequest) -> Int32 {
        guard number < 0, let answer = ask(request) else { return number }
        guard let descriptor = answer.descriptor else { return -1 }
        // The descriptor itself ends with its object.
        return fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
    }

    /// mkdir(2), for the owner alone.
    package static func makeDirectory(_ path: String) -> Int32 {
        result(of: mkdir(path, 0o700), or: .makeDirectory(path))
    }

    /// rename(2), in one directory.
    package static func rename(_ path: String, to other: String) -> Int32 {
        result(of: Glibc.rename(path, other), or: .rename(path, to: other))
    }

    /// unlink(2).
    package static func unlink(_ path: String) -> Int32 {
        result(of: Glibc.unlink(path), or: .unlink(path))
    }

    private static func result(of code: Int32, or request: FileRequest) -> Int32 {
        guard code < 0, let answer = ask(request) else { return code }
        return answer.isDone ? 0 : -1
    }

    /// - Returns: Nil if nobody is asked. Then `errno` is as it was.
    private static func ask(
        _ request: FileRequest
    ) -> (isDone: Bool, descriptor: FileDescriptor?)? {
        guard errno == EACCES, let helper = helper.withLock({ $0 }) else { return nil }
        let answer = request.ask(helper)
        if answer == nil { errno = EACCES }
        return answer
    }
}
