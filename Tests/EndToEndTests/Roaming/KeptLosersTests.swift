import DBus
import DefaultsClient
import DefaultsRoaming
import RoamingDirectory
import RoamingTerms
import Synchronization
import TestSupport
import TestTiers
import Testing

/// How long values that lost are kept, by a clock of the test.
@Suite(.startsPrograms) struct KeptLosersTests {
    private static let day: Int64 = 86_400_000_000

    @Test func `A value that lost is kept for 90 days, wherever the clock jumps`() async throws {
        let desktop = try Desktop()
        let place = try TemporaryDirectory()
        try write("org.example.Editor/Font/a-1", on: desktop)
        let loop = try EventLoop.startThread(named: "roaming")
        defer { loop.stop() }
        let connection = try await Connection.open(.address(desktop.bus.address), on: loop)
        let wall = Mutex<Int64>(20_000 * Self.day)
        let roamer = try Roamer(
            RemoteDefaults(over: connection),
            at: DirectoryEngine(place.path, database: place.path + "/roam.db", on: loop),
            named: "here", stateDirectory: place.path, machine: "laptop", choice: RoamChoice([]),
            clock: { wall.withLock { Moment(boot: [], sinceBoot: 0, wall: $0) } }, on: loop)
        try await roamer.round()
        // A year is one day of them.
        wall.withLock { $0 += 400 * Self.day }
        try await roamer.round()
        try write("org.example.Editor/Font/a-2", on: desktop)
        for _ in 3...90 {
            wall.withLock { $0 += Self.day }
            await roamer.noteMissedChanges()
            try await roamer.round()
            try await roamer.round()
        }
        #expect(
            try keys(on: desktop) == ["org.example.Editor/Font/a-1", "org.example.Editor/Font/a-2"])
        wall.withLock { $0 += Self.day }
        try await roamer.round()
        #expect(try keys(on: desktop) == ["org.example.Editor/Font/a-2"])
    }

    private func write(_ key: String, on desktop: Desktop) throws {
        try desktop.tool("write", RoamTerms.conflicts, key, "-string", "Serif").requireOutput()
    }

    private func keys(on desktop: Desktop) throws -> [String] {
        try desktop.tool("keys", RoamTerms.conflicts).requireOutput()
            .split(separator: "\n").map(String.init)
    }
}
