import DBus
import TestSupport
import TestTiers
import Testing

@testable import DefaultsSecrets

@Suite(.startsPrograms) struct KeyringLineTests {
    @Test func `a line that is released leaves no connection and no loop`() async throws {
        let bus = try PrivateBus()
        weak var loop: EventLoop?
        weak var connection: Connection?
        for _ in 1...20 {
            do {
                let line = try await KeyringLine.open(.address(bus.address), within: .seconds(3600))
                (loop, connection) = (line.loop, line.connection)
                try await line.connection.call(.bus, "/", "org.freedesktop.DBus.Peer", "Ping")
            }
            while loop != nil || connection != nil { await Task.yield() }
        }
    }
}
