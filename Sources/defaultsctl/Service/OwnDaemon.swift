import DBus
import DefaultsClient
import SystemCalls

/// A `defaultsd --peer` that this program runs for itself.
///
/// It ends together with the program.
///
/// However this program ends, its end of the socket is closed. Then the daemon writes everything to
/// disk and ends.
struct OwnDaemon {
    private let daemon: PrivateDaemon

    /// Starts the daemon.
    ///
    /// - Parameter reason: Why no other service can be used, for the error.
    /// - Returns: The daemon, and our end of its socket.
    /// - Throws: ``ToolError`` if no daemon can be run.
    static func start(
        because reason: String
    ) throws -> (process: OwnDaemon, socket: FileDescriptor) {
        do throws(PrivateDaemon.Failure) {
            let (daemon, socket) = try PrivateDaemon.start()
            Interruption.follow(daemon.process)
            return (OwnDaemon(daemon: daemon), socket)
        } catch {
            switch error {
            case .notInstalled, .notAllowed: throw ToolError.noDaemon(reason)
            case .cannotRun(let program, let words): throw ToolError.daemonFailed(program, words)
            }
        }
    }

    /// Waits until the daemon has written everything and ended, and prints its warnings.
    ///
    /// - Parameter outcome: The outcome of the command.
    /// - Throws: ``ToolError`` with the daemon's message if it could not serve or could not write.
    func end<Outcome>(after outcome: Result<Outcome, any Error>) throws {
        let status = Interruption.waitForEnd(of: daemon.process)
        // Damage is reported here, because the log of this daemon goes nowhere else.
        for warning in daemon.warnings { Complaint.say(warning) }
        guard status != 0 else { return }
        let words = daemon.complaint ?? "defaultsd has ended with status \(status)."
        switch outcome {
        case .success: throw ToolError.notWritten(words)
        case .failure(let error) where error is LostAnswer || error.ofContract is DBusError:
            throw ToolError.ownDaemon(words)
        case .failure: break
        }
    }
}
