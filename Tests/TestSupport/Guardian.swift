import Foundation
import Glibc

/// A shell that ends a process, and removes its directory, when the tests have ended without doing so.
///
/// It reads from a pipe that this process alone keeps open for writing: however the process ends,
/// the system closes the pipe.
final class Guardian: Sendable {
    private let shell: ChildProcess
    private let pipe: Int32

    init(of process: pid_t, in directory: TemporaryDirectory) throws {
        let path = directory.path + "/guardian"
        // Open for reading as well, so that nobody has to wait for the other end.
        guard mkfifo(path, 0o600) == 0, case let pipe = open(path, O_RDWR | O_CLOEXEC), pipe >= 0
        else { throw CocoaError(.fileWriteUnknown) }
        self.pipe = pipe
        shell = try ChildProcess(
            ["sh", "-c", "read -r _; kill -9 $0; rm -r \"$1\"", "\(process)", directory.path],
            input: .file(path))
    }

    /// Ends it; the process is looked after by somebody else.
    func stop() {
        shell.send(SIGKILL)
        shell.waitUntilExit()
    }

    deinit {
        stop()
        close(pipe)
    }
}
