import DefaultsRoaming
import Foundation
import Postgres
@testable import RoamingPostgres
import TestSupport
import TestTiers
import Testing

/// What machines cost the server.
///
/// The processor's time is printed with `DEFAULTSD_MEASURE=1`, beside that of a plain UPDATE in the same
/// run. It is not compared with anything: it depends on the machine.
@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct ServerCostTests {
    private static let isMeasuring =
        ProcessInfo.processInfo.environment["DEFAULTSD_MEASURE"] != nil
    private static let rounds = isMeasuring ? 1000 : 20

    /// An archive of a small value has 144 bytes.
    private static func value(_ number: Int) -> String {
        String("\(number) ".padding(toLength: 144, withPad: "x", startingAt: 0))
    }

    @Test func `The log-in of a machine with 2000 keys takes less than 500 kB`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        for part in 0..<4 {
            let keys = (0..<500).map { "WindowPosition\(part * 500 + $0)" }
            try await machine.push(machine.newBatch(keys.map { edit($0, Self.value(0)) }))
        }
        let proxy = try CuttingProxy(to: server.postgres)
        let address = try ServerAddress("host=\(proxy.directory.path) user=\(user)")
        let joining = TestMachine(.random(), PostgresEngine(at: address, on: server.loop.loop))
        let before = try await cpu(of: user, server)
        try await joining.meet()
        #expect(try await joining.pull().versions.count == 2000)
        let bytes = proxy.passed(.toClient)
        #expect(bytes < 500_000)
        let cost = try await cpu(of: user, server) - before
        await joining.engine.close()
        if Self.isMeasuring { print("log-in, 2000 keys: \(bytes) bytes, \(cost / 1000) us") }
    }

    @Test func `A page costs by its own rows, however many follow`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        try server.administer(
            """
            INSERT INTO roam.entry SELECT '\(user)', 'org.example.App', 'k' || n, n, now(),
                gen_random_uuid(), 'x' FROM generate_series(1, 3000) n;
            UPDATE roam.account SET rev = 3000 WHERE owner = '\(user)';
            ANALYZE roam.entry;
            """)
        let connection = try await PostgresConnection.open(
            ServerAddress(server.postgres.address(user)).options, on: server.loop.loop)
        try await connection.run(Statements.plannerSetting)
        let page = Statements().versions(after: 5, upTo: 3000, count: 20, bytes: 1 << 20)
        let rows = try await connection.run(
            Statement("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) " + page.sql, page.values))
        let plan = try (0..<rows.count).map { try rows.text($0, 0) }
        let scans = plan.filter { $0.contains("Scan using entry_rev") }
        #expect(scans.count == 2, "\(plan)")
        for scan in scans { #expect(scan.contains("actual rows=20 "), "\(plan)") }
        await connection.close()
    }

    /// The processor's time of all server processes of a user that still run, in nanoseconds.
    private func cpu(of user: String, _ server: RoamingServer) async throws -> Int {
        let processes = try server.administer(
            "SELECT pid FROM pg_stat_activity WHERE usename = '\(user)'"
        ).split(separator: "\n")
        return try processes.reduce(0) { sum, process in
            let text = try String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8)
            return sum + (text.split(separator: " ").first.flatMap { Int($0) } ?? 0)
        }
    }

    @Test func `Pushes and polls are measured beside a plain UPDATE`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        try server.administer(
            "CREATE TABLE roam.\(user) AS SELECT n, ''::bytea AS v FROM generate_series(1, 100) n;"
                + "ALTER TABLE roam.\(user) ADD PRIMARY KEY (n); GRANT ALL ON roam.\(user) TO \(user)"
        )
        let plain = try await PostgresConnection.open(
            ServerAddress(server.postgres.address(user)).options, on: server.loop.loop)
        var costs: [(String, Int)] = []
        func measure(_ what: String, _ body: (Int) async throws -> Void) async throws {
            let before = try await cpu(of: user, server)
            for round in 0..<Self.rounds { try await body(round) }
            costs.append((what, (try await cpu(of: user, server) - before) / Self.rounds / 1000))
        }
        for turn in 0..<2 {
            costs = []
            try await measure("plain UPDATE of one row") { round in
                try await plain.run(
                    Statement(
                        "UPDATE roam.\(user) SET v = $1 WHERE n = 7",
                        [.bytes(Array(Self.value(round).utf8))], isPrepared: true))
            }
            var marks: [String: VersionMark] = [:]
            for count in [1, 20] {
                try await measure("push of \(count)") { round in
                    let edits = (0..<count).map { key in
                        edit("k\(key)", Self.value(round + turn * 5000), base: marks["k\(key)"])
                    }
                    let result = try await machine.push(machine.newBatch(edits))
                    for outcome in result.outcomes { marks[outcome.key.name] = outcome.mark }
                }
            }
            try await measure("poll without news") { _ in try await machine.meet() }
            var revision = try await machine.meet().revision
            try await measure("push of 1, poll with news, and pull of it") { round in
                let news = edit("k0", "news \(turn).\(round)", base: marks["k0"])
                marks["k0"] = try await machine.push(news).outcomes.first?.mark
                try await machine.meet()
                revision = try await machine.pull(after: revision).revision
            }
        }
        await plain.close()
        if Self.isMeasuring { for (what, cost) in costs { print("\(what): \(cost) us") } }
        #expect(try await machine.meet().state == .continued)
    }
}
