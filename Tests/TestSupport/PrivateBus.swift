import Foundation
import Glibc

/// A real dbus-daemon on a socket of its own, ended with its last reference, and also where the tests
/// end without a chance to let go of it.
public final class PrivateBus: Sendable {
    /// Where to reach it, as `DBUS_SESSION_BUS_ADDRESS` takes it.
    public let address: String

    private let directory: TemporaryDirectory
    private let daemon: ChildProcess
    private let guardian: Guardian

    /// Starts it, and waits until it listens.
    ///
    /// - Parameters:
    ///   - serviceDirectory: Where it finds activation files.
    ///   - limits: Names and values of `<limit>` elements, where they are to be others than
    ///     those of a session's bus.
    ///   - isOpenToAll: Whether every user may connect, and also one who does not say who it is.
    ///   - environment: What it and the services that it starts see; nil for that of the tests.
    public init(
        serviceDirectory: String? = nil, limits: [String: Int] = [:], isOpenToAll: Bool = false,
        environment: [String: String]? = nil
    ) throws {
        directory = try TemporaryDirectory()
        if isOpenToAll { chmod(directory.path, 0o755) }
        let admission = isOpenToAll ? Self.admissionOfAll : ("", "")
        let services = serviceDirectory.map { "<servicedir>\($0)</servicedir>" } ?? ""
        let bounds = Self.sessionLimits.merging(limits) { $1 }
            .map { "<limit name=\"\($0.key)\">\($0.value)</limit>" }.joined()
        let configuration = try directory.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:dir=\(directory.path)</listen>
              \(admission.0)
              \(services)
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
                \(admission.1)
              </policy>
              \(bounds)
            </busconfig>
            """, to: "bus.conf")
        daemon = try ChildProcess(
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--print-address"],
            environment: environment, output: .lines)
        guard let address = daemon.lines?.next() else {
            throw ProgramFailure(
                result: ProgramResult(status: 1, output: "", error: "dbus-daemon did not start"))
        }
        self.address = address
        guardian = try Guardian(of: daemon.processIdentifier, in: directory)
    }

    /// What lets everybody in, in the configuration and in its policy.
    private static let admissionOfAll = (
        "<auth>EXTERNAL</auth><auth>ANONYMOUS</auth><allow_anonymous/>", "<allow user=\"*\"/>"
    )

    /// Those of a session's bus; a bus without a word on it has far lower ones.
    private static let sessionLimits = [
        "max_incoming_bytes": 1_000_000_000, "max_incoming_unix_fds": 250_000_000,
        "max_outgoing_bytes": 1_000_000_000, "max_outgoing_unix_fds": 250_000_000,
        "max_message_size": 1_000_000_000,
        // In milliseconds: a test that is kept waiting by others is no stranger to its bus.
        "auth_timeout": 3_600_000,
        "max_connections_per_user": 100_000, "max_match_rules_per_connection": 50_000,
        "max_names_per_connection": 50_000, "max_replies_per_connection": 50_000,
    ]

    deinit {
        stop()
    }

    /// Ends the bus, as at the end of a session; every client sees its socket closed.
    public func stop() {
        // First, so that it never sees the daemon's number become another process's.
        guardian.stop()
        daemon.send(SIGKILL)
        daemon.waitUntilExit()
    }

    /// The identifier of the daemon's process.
    public var processIdentifier: Int32 { daemon.processIdentifier }
}
