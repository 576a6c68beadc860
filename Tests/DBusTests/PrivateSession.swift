import DBus
import TestSupport

/// A bus of a test's own, with two loops on threads of their own to connect on.
final class PrivateSession: Sendable {
    let bus: PrivateBus
    let loop: EventLoop
    private let otherLoop: EventLoop

    init(limits: [String: Int] = [:]) throws {
        bus = try PrivateBus(limits: limits)
        loop = try EventLoop.startThread(named: "test")
        otherLoop = try EventLoop.startThread(named: "other")
    }

    deinit {
        loop.stop()
        otherLoop.stop()
    }

    func connect() async throws -> Connection {
        try await Connection.open(.address(bus.address), within: HangGuard.limit, on: loop)
    }

    /// Connects on the other loop, so that neither side does its work in the turn of the other.
    func connectApart() async throws -> Connection {
        try await Connection.open(.address(bus.address), within: HangGuard.limit, on: otherLoop)
    }

    /// Runs a program that takes the bus for the session's.
    func run(_ command: String...) async -> ProgramResult {
        await ProgramResult.running(
            command,
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin"])
    }
}

extension Connection {
    /// The unique name, of a connection to a bus.
    nonisolated var name: String { uniqueName?.string ?? "none" }
}
