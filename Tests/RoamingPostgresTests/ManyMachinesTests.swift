import DefaultsRoaming
import RoamingPostgres
import TestSupport
import TestTiers
import Testing

/// Accounts with machines that came and went.
@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct ManyMachinesTests {
    /// Gives a user more machines, which were last there some days ago.
    private static func add(
        _ count: Int, to user: String, forgotten: Bool, days: Int, on server: RoamingServer
    ) throws {
        try server.administer(
            """
            INSERT INTO roam.replica (owner, id, name, seen, visit, is_forgotten)
            SELECT '\(user)', gen_random_uuid(), 'n', now() - interval '\(days) days',
                decode(repeat('00', 24), 'hex'), \(forgotten) FROM generate_series(1, \(count))
            """)
    }

    private static func count(of user: String, on server: RoamingServer) throws -> String {
        try server.administer("SELECT count(*) FROM roam.replica WHERE owner = '\(user)'")
    }

    private static func age(
        _ machine: TestMachine, by interval: String, on server: RoamingServer
    ) throws {
        try server.administer(
            "UPDATE roam.replica SET seen = seen - interval '\(interval)' WHERE id = '\(machine.id)'"
        )
    }

    @Test func `Forgotten machines do not keep new ones out`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        try Self.add(250, to: user, forgotten: true, days: 0, on: server)
        try await server.machine(of: user).meet()
    }

    @Test func `An account that is full takes a new machine after one was forgotten`() async throws
    {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let first = try server.machine(of: user)
        try await first.meet()
        try Self.add(199, to: user, forgotten: false, days: 0, on: server)
        let error = await #expect(throws: EngineError.self) {
            try await server.machine(of: user).meet()
        }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("forget some of them") == true)
        let machines = try await first.engine.machines()
        #expect(machines.count == 200)
        let other = try #require(machines.first { $0.id != first.id })
        try await first.engine.forget(other.id)
        try await server.machine(of: user).meet()
    }

    @Test func `Machines that were away for half a year make room, also for a new one`()
        async throws
    {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        try Self.add(200, to: user, forgotten: false, days: 181, on: server)
        try await server.machine(of: user).meet()
        #expect(try Self.count(of: user, on: server) == "1\n")
    }

    @Test func `Forgotten machines are bounded, too, and their rows are dropped after a week`()
        async throws
    {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        try Self.add(1999, to: user, forgotten: true, days: 0, on: server)
        let machine = try server.machine(of: user)
        try await machine.meet()
        let error = await #expect(throws: EngineError.self) {
            try await server.machine(of: user).meet()
        }
        #expect(error?.kind == .refused)
        try server.administer(
            "UPDATE roam.replica SET seen = seen - interval '8 days' WHERE owner = '\(user)'")
        try await machine.meet()
        #expect(try Self.count(of: user, on: server) == "1\n")
    }

    @Test(arguments: [true, false])
    func `A machine whose row was dropped joins anew`(wasForgotten: Bool) async throws {
        let server = try await RoamingServer.shared
        let (user, a, b) = try await server.twoMachines()
        try await a.meet()
        try await a.push(edit("k", "1"))
        try await b.meet()
        if wasForgotten { try await a.engine.forget(b.id) }
        #expect(
            try await b.clone(b.engine).meet().state == (wasForgotten ? .mustJoinAnew : .continued))
        try Self.age(b, by: wasForgotten ? "8 days" : "181 days", on: server)
        try Self.age(a, by: "2 hours", on: server)
        try await a.meet()
        #expect(try Self.count(of: user, on: server) == "1\n")
        #expect(try await b.meet().state == .mustJoinAnew)
        #expect(try await a.meet().state == .continued)
    }

    @Test func `A machine that is away for as long and meets first goes on`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        try Self.age(machine, by: "181 days", on: server)
        #expect(try await machine.meet().state == .continued)
        #expect(try Self.count(of: user, on: server) == "1\n")
    }
}
