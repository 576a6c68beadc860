import DBus
import DefaultsClient
import DefaultsRoaming
import RoamingDirectory
import RoamingTerms
import Synchronization
import TestSupport
import Testing

/// How long values that lost are kept, by a clock of the test.
@Suite struct KeptLosersTests {
    private static let day: Int64 = 86_400_000_000

    @Test func `A value that lost is kept for 90 days, wherever the clock jumps`() async throws {
        let desktop = try Desktop()
        let place = try TemporaryDirectory()
        try write("org.example.Editor/Font/a-1", on: desktop)
        let loop = try EventLoop.startThread(named: "roaming")
        defer { loop.stop() }
        let wall = Mutex<Int64>(20_000 * Self.day)
        let roamer = try await roamer(of: desktop, at: place, state: place.path, on: loop) {
            wall.withLock { Moment(boot: [], sinceBoot: 0, wall: $0) }
        }
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

    @Test func `A value that lost is kept anew if it loses itself on a machine that joins again`()
        async throws
    {
        let (laptop, tower) = (try Desktop(), try Desktop())
        let (place, states) = (
            try TemporaryDirectory(), try (0..<3).map { _ in try TemporaryDirectory() }
        )
        try write("org.example.Editor/Font/a-1", on: laptop)
        let loop = try EventLoop.startThread(named: "roaming")
        defer { loop.stop() }
        let first = try await roamer(of: laptop, at: place, state: states[0].path, on: loop)
        try await first.round()
        try await roamer(of: tower, at: place, state: states[1].path, on: loop).round()
        #expect(try keys(on: tower) == ["org.example.Editor/Font/a-1"])
        try laptop.tool("delete", RoamTerms.conflicts, "org.example.Editor/Font/a-1")
            .requireOutput()
        await first.noteMissedChanges()
        try await first.round()
        try await roamer(of: tower, at: place, state: states[2].path, on: loop).round()
        let kept = try keys(on: tower)
        let loser = try #require(kept.first.flatMap(KeptLoser.init(valueKey:)))
        #expect(kept == [loser.valueKey, loser.aboutKey])
        #expect((loser.domain, loser.key) == ("org.example.Editor", "Font") && loser.name != "a-1")
    }

    private func roamer(
        of desktop: Desktop, at place: TemporaryDirectory, state: String, on loop: EventLoop,
        clock: @escaping @Sendable () -> Moment = { .now }
    ) async throws -> Roamer {
        try Roamer(
            RemoteDefaults(over: await Connection.open(.address(desktop.bus.address), on: loop)),
            at: DirectoryEngine(place.path, database: state + "/roam.db", on: loop),
            named: "here", stateDirectory: state, machine: "laptop", choice: RoamChoice([]),
            clock: clock, on: loop)
    }

    private func write(_ key: String, on desktop: Desktop) throws {
        try desktop.tool("write", RoamTerms.conflicts, key, "-string", "Serif").requireOutput()
    }

    private func keys(on desktop: Desktop) throws -> [String] {
        try desktop.tool("keys", RoamTerms.conflicts).requireOutput()
            .split(separator: "\n").map(String.init)
    }
}
