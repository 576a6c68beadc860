import Confinement
import DBus
import Glibc
import SystemCalls

// Invariants
//
// 1. It answers only processes of this user.
// 2. It says only what any program of the user outside of a sandbox can see for itself. It opens no file
//    for others.

/// A process that says who a process is to a daemon in a user namespace of its own.
///
/// The service manager starts it outside of the namespace, for each connection to its socket.
package enum Examiner {
    /// What names the socket to the daemon.
    private static let variable = "DEFAULTSD_HELPER"

    /// Answers at the socket on standard input, until the other end is closed.
    package static func serve() -> ExitStatus {
        let socket = FileDescriptor(owning: STDIN_FILENO)
        guard UnixSocket.owner(ofPeerAt: socket) == geteuid() else {
            return ExitStatus(of: LifeCycleError.noDaemon)
        }
        try? SystemCallFilter.ofHelper(getpid()).apply()
        let examiner = ProcessExaminer()
        RequestSocket.serve(on: socket) { examiner.answer($0) ?? RequestSocket.Letter(Parcel()) }
        return .success
    }

    /// Whether the environment names one outside of this process's namespaces.
    static var isOutside: Bool { path != nil }

    private static var path: String? {
        let value = getenv(variable).map { String(cString: $0) } ?? ""
        return value.isEmpty ? nil : value
    }

    /// Connects to such a process; nil if the environment names none.
    ///
    /// - Throws: If the environment names its socket, and no process listens there.
    static func connectToOutside() throws(SystemError) -> FileDescriptor? {
        guard let path else { return nil }
        guard let address = UnixSocketAddress(path: path) else {
            throw SystemError(call: "connect to", path: path, number: ENAMETOOLONG)
        }
        return try UnixSocket.connect(to: address, keepingBounds: true)
    }
}
