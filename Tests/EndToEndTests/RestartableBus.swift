import Foundation
import Glibc
import TestSupport
import Testing

/// A bus of a desktop's own that comes again at the same address, with the desktop's services.
final class RestartableBus {
    /// Where a program finds it.
    let environment: [String: String]
    private let configuration: String
    private let socket: String
    private var daemon: ChildProcess?

    /// - Parameter isRunning: Whether it is there from the beginning.
    init(in desktop: Desktop, isRunning: Bool = true) throws {
        socket = desktop.directory.path + "/bus"
        configuration = try desktop.directory.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(socket)</listen>
              <servicedir>\(desktop.directory.path)/services</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """, to: "second-bus.conf")
        environment = desktop.environment.merging(
            [
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(socket)",
                // Clients do not stand in for its daemon while it is away.
                "CLIENT_BUS": "unix:path=\(socket)",
            ]) { $1 }
        if isRunning { try start() }
    }

    deinit { stop() }

    func start() throws {
        daemon = try ChildProcess(
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--print-address"],
            environment: environment, output: .lines)
        _ = try #require(daemon?.lines?.next())
    }

    /// Ends it at once.
    func stop() {
        daemon?.send(SIGKILL)
        daemon?.waitUntilExit()
        daemon = nil
        unlink(socket)
    }

    func restart() throws {
        stop()
        try start()
    }
}
