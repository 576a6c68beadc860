import DBus
import Foundation
import TestTiers
import Testing
import TestSupport

/// The bus that the other tests use.
@Suite(.startsPrograms) struct PrivateBusTests {
    @Test func `The bus does not outlive tests that crash`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let bus = try PrivateBus()
            FileHandle.standardError.write(Data("\n\(bus.address)\n".utf8))
            withExtendedLifetime(bus) { exit(1) }
        }
        let address = try #require(
            result.map(complaint)?.split(separator: "\n").first { $0.hasPrefix("unix:") })
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let loop = try EventLoop.startThread(named: "test")
        defer { loop.stop() }
        // Where it has ended already there is nobody to connect to.
        guard
            let connection = try? await Connection.open(.address(String(address)), on: loop)
        else { return }
        await connection.onDisconnect { end.finish() }
        for await _ in ended {}
    }
}
