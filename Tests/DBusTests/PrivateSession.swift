import DBus
import TestSupport

/// A bus of a test's own, with a loop on a thread of its own to connect on.
final class PrivateSession: Sendable {
    let bus: PrivateBus
    let loop: EventLoop

    init(limits: [String: Int] = [:]) throws {
        bus = try PrivateBus(limits: limits)
        loop = try EventLoop.startThread(named: "test")
    }

    deinit {
        loop.stop()
    }

    func connect() async throws -> Connection {
        try await Connection.open(.address(bus.address), on: loop)
    }

    /// Connects on a loop of its own, so that the other connections can wait for this one.
    func connectApart() async throws -> Connection {
        try await Connection.open(
            .address(bus.address), on: EventLoop.startThread(named: "apart"))
    }

    /// Runs a program that takes the bus for the session's.
    func run(_ command: String...) async -> ProgramResult {
        await ProgramResult.running(
            command, environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin"])
    }
}
