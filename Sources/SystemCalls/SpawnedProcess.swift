internal import CLinux
internal import Glibc

/// A child process that runs another program.
package struct SpawnedProcess: Sendable {
    /// The number of the process, until somebody has waited for its end.
    package let identifier: Int32

    /// Starts a program.
    ///
    /// Of this process's descriptors, the child gets only the given ones; its standard output is
    /// `/dev/null`. No signal is blocked or ignored. Signals from the keyboard go only to this
    /// process.
    ///
    /// - Parameters:
    ///   - arguments: Without the name of the program.
    ///   - variables: Its environment.
    ///   - input: Its standard input.
    ///   - errors: Its standard error.
    package init(
        _ program: String, _ arguments: [String], environment variables: [String], input: Int32,
        errors: Int32
    ) throws(SystemError) {
        // Above the standard descriptors, which this program may have closed: none overwrites another.
        let input = try Self.duplicate(input)
        let errors = try Self.duplicate(errors)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let outcomes = [
            posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO),
            // A reader of this process's output must not wait for the child to end.
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0),
            posix_spawn_file_actions_adddup2(&actions, errors.number, STDERR_FILENO),
            clinux_close_from(&actions, 3),
        ]
        if let number = outcomes.first(where: { $0 != 0 }) {
            throw SystemError(call: "posix_spawn_file_actions", path: program, number: number)
        }

        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        // The C strings live until the child has copies.
        let arguments = Self.cStrings([program] + arguments)
        let variables = Self.cStrings(variables)
        defer { for text in arguments + variables { free(text) } }
        var identifier = pid_t()
        let number = withExtendedLifetime((input, errors)) {
            posix_spawn(&identifier, program, &actions, &attributes, arguments, variables)
        }
        guard number == 0 else {
            throw SystemError(call: "posix_spawn", path: program, number: number)
        }
        self.identifier = identifier
    }

    private static func duplicate(_ number: Int32) throws(SystemError) -> FileDescriptor {
        let duplicate = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard duplicate >= 0 else { throw .last("fcntl", "descriptor \(number)") }
        return FileDescriptor(owning: duplicate)
    }

    private static func attributes() -> posix_spawnattr_t {
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

    /// Copies that the caller frees, with nil at the end of the list.
    private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }
}

extension SpawnedProcess {
    /// Waits for the end of a child, and returns its status as in wait(2).
    package static func reap(_ identifier: Int32) -> Int32 {
        var status: Int32 = 0
        // If this program ignores the ends of its children, there is nothing to collect.
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// The exit status in a result of wait(2), or 128 plus the number of a signal.
    package static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : signal + 128
    }
}
