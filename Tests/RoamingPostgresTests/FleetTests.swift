import Foundation
@testable import RoamFleet
import TestSupport
import TestTiers
import Testing

/// The simulated fleet, small: what it counts, and no times.
@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct FleetTests {
    @Test(arguments: [Waiting.listen, .poll])
    func `What a fleet counts fits together`(waiting: Waiting) async throws {
        try await check(waiting)
    }

    @Test(.enabled(if: Pooler.isAvailable, "pgbouncer is not installed"))
    func `What a fleet counts behind a pooler fits together`() async throws {
        try await check(.pool)
    }

    private func check(_ waiting: Waiting) async throws {
        var random = SeededGenerator(case: waiting.rawValue)
        let seed = UInt32.random(in: 1 ... .max, using: &random)
        let options = try FleetOptions([
            "--waiting", waiting.rawValue, "--users", "5", "--machines", "2", "--keys", "30",
            "--seconds", "1", "--interval", "0.25", "--speed", "5000", "--rounds", "4",
            "--seed", "\(seed)",
        ])
        let fleet = try await Fleet(options)
        let stage = try await fleet.run(waiting)
        let samples = stage.samples
        #expect(stage.machines == 10)
        #expect(samples.count(.logIn) == 10)
        #expect(samples.count(.largeLogIn) == 4)
        #expect(samples.count(.largePush) == 1)
        // Two pushes of four machines, and the edits.
        #expect(options.editCount == 14)
        #expect(samples.count(.push) == 8 + 14)
        // The machines are the same in the end, and each push was counted by the server.
        #expect(stage.differing == 0)
        let revisions = try fleet.administer("SELECT sum(rev) FROM roam.account")
        #expect(revisions == "\(stage.pushes)")
        let keys = try fleet.administer("SELECT count(*) FROM roam.entry")
        #expect(keys == "\(5 * 30 + 2000)")
        // In both times, each machine has asked four times.
        if waiting != .listen { #expect(samples.count(.poll) == 2 * 10 * 4) }
        // An edit arrives at the user's other machine, unless a later one takes its place before.
        #expect(1...14 ~= samples.count(.news))
        for operation in [Operation.logIn, .push] {
            #expect(samples.serverCost(of: operation) ?? 0 > 0)
            #expect(samples.quantile(0.5, of: operation) ?? 0 > 0)
        }
        #expect((samples.poolerCost(of: .logIn) ?? 0 > 0) == (waiting == .pool))
        #expect(stage.laterWAL > 144)
        let size = try #require(fleet.keySize)
        #expect(size > 144 && size < 4096)
        let lines = Report(options: options, stages: [stage], keySize: size).lines
        #expect(lines.contains { $0.hasPrefix("log-in, 2 000 keys") })
        #expect(lines.contains { $0.hasPrefix("100000000 ") } == (waiting != .listen))
    }

    @Test func `The arithmetic for many users is that of the page`() {
        let scale = Scale(users: 100_000, machines: 10_000, interval: 30)
        #expect(Int(scale.pushes) == 289)
        #expect(Int(scale.polls) == 333)
        let costs = Scale.Costs(
            push: 0.001, poll: 0.001, logIn: 0.018, machine: 3e6, edit: 1000, key: 400)
        let need = scale.need(costs)
        #expect(abs(need.processors - (0.289 + 0.333 + 0.1)) < 0.001)
        #expect(need.memory == 3e10)
        #expect(need.disk == 1.2e10)
        #expect(need.wal == 5e9)
        #expect(scale.servers(costs) == 1)
        // 90 TB for connections, of which a server has 64 GB.
        #expect(Scale(users: 1e8, machines: 3e7, interval: 300).servers(costs) == 1407)
    }

    @Test func `Wrong options are refused`() {
        for words in [["--users"], ["--users", "0"], ["--waiting", "hope"], ["--what", "1"]] {
            #expect(throws: FleetError.self) { try FleetOptions(words) }
        }
    }
}
