import DBus
import Testing
import TestSupport

@Suite struct ConnectionTests {
    @Test func `A connection greets the bus and can ask it for names`() async throws {
        let bus = try PrivateBus()
        let loop = try EventLoop.startThread(named: "test")
        let connection = try await Connection.open(.address(bus.address), on: loop)
        let names = try await connection.call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames"
        ) { reader in
            try reader.readArray { try $0.readString() }
        }
        #expect(names.contains(connection.uniqueName.string))
        await connection.close()
        loop.stop()
    }
}
