import DefaultsRoaming
import Foundation
import RoamingPostgres
import TestSupport
import TestTiers
import Testing

@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct RestoredServerTests {
    /// Two machines that know revision 1, a backup from then, and a server that knows more.
    private struct Situation {
        let server: RoamingServer
        let user: String
        let a: TestMachine
        let b: TestMachine
        let backup: String

        init() async throws {
            server = try await RoamingServer()
            user = try await server.newUser()
            (a, b) = (try server.machine(of: user), try server.machine(of: user))
            try await a.meet()
            try await a.push(edit("k", "1"))
            try await a.meet()
            try await b.meet()
            _ = try await b.pull()
            try server.postgres.stop(.fast)
            backup = try server.postgres.backUp(as: "backup")
            try server.postgres.start()
        }

        func restore() throws {
            try server.postgres.stop(.immediate)
            try server.postgres.restore(backup)
            try server.postgres.start()
        }
    }

    @Test func `A restored server is known by a batch that it has lost`() async throws {
        let now = try await Situation()
        try await now.a.meet()
        try await now.a.push(edit("k", "2"))
        try now.restore()
        let reply = try await now.a.clone(now.a.engine).meet()
        #expect(reply.state == .rewound)
        #expect(reply.revision == 1 && reply.shared == 1)
        // That reply was lost.
        #expect(try await now.a.meet().state == .rewound)
        #expect(try await now.a.meet().state == .continued)
        try await now.a.push(edit("k", "2"))
        #expect(try await now.a.meet().state == .continued)
        #expect(try await now.b.meet().state == .continued)
        #expect(try await now.b.pull().values == ["k": "2"])
    }

    @Test
    func `A restored server is known by what a machine has pulled, even if it knows more since`()
        async throws
    {
        let now = try await Situation()
        try await now.a.meet()
        try await now.a.push(edit("lost", "2"))
        try await now.b.meet()
        #expect(try await now.b.pull().values == ["k": "1", "lost": "2"])
        try now.restore()
        let c = try now.server.machine(of: now.user)
        try await c.meet()
        for number in 0..<3 { try await c.push(edit("other", "\(number)")) }
        // The reply is lost at first.
        let reply = try await now.b.clone(now.b.engine).meet()
        #expect(reply.state == .rewound && reply.revision == 4 && reply.shared == 1)
        let repeated = try await now.b.meet()
        #expect(repeated.state == .rewound && repeated.shared == 0)
        #expect(try await now.b.meet().state == .continued)
    }

    @Test func `A restart, a crash and a backup that lost nothing are not noticed`() async throws {
        let now = try await Situation()
        try now.restore()
        for stop in [PostgresServer.Stop.fast, .immediate] {
            try now.server.postgres.stop(stop)
            try now.server.postgres.start()
            #expect(try await now.a.meet().state == .continued)
            #expect(try await now.b.meet().state == .continued)
            try await now.a.push(edit("k", "\(stop)"))
        }
    }

    @Test func `A machine that joined after the backup goes on`() async throws {
        let now = try await Situation()
        let c = try now.server.machine(of: now.user)
        try await c.meet()
        try now.restore()
        #expect(try await c.meet().state == .rewound)
        #expect(try await c.meet().state == .continued)
        try await c.push(edit("k", "3"))
    }

    @Test func `An account that was removed and added again is another place`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        try await machine.push(edit("k", "1"))
        let address = server.postgres.address()
        try await ServerSetup.removeUser(user, withData: true, at: address, on: server.loop.loop)
        let refused = await #expect(throws: EngineError.self) { try await machine.meet() }
        #expect(refused?.kind != .damaged)
        try await ServerSetup.addUser(user, at: address, on: server.loop.loop)
        let meeting = try await machine.meet()
        #expect(meeting.state == .rewound)
        #expect(meeting.revision == 0)
    }

    @Test func `A clone and a machine that was put back join anew`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let original = try server.machine(of: user)
        try await original.meet()
        try await original.push(edit("k", "1"))
        try await original.meet()
        let clone = original.clone(try server.machine(of: user).engine)
        try await clone.push(from: edit("k", "2"))
        try await original.push(from: edit("k", "3"), expecting: .mustJoinAnew)
        let backup = clone.clone(try server.machine(of: user).engine)
        try await clone.meet()
        let other = try server.machine(of: user)
        try await other.meet()
        try await other.push(edit("k", "4"))
        try await clone.meet()
        try await other.push(edit("k", "5"))
        try await clone.meet()
        // Nothing was pushed since the backup, and it is known nevertheless.
        #expect(try await backup.meet().state == .mustJoinAnew)
        #expect(try await clone.meet().state == .continued)
    }

    @Test func `A standby takes over: what was lost is noticed, and nothing else`() async throws {
        let primary = try await RoamingServer(
            PostgresServer(
                authentication: ["local all all trust", "local replication all trust"],
                options: ["synchronous_commit=remote_apply"]))
        let user = try await primary.newUser()
        let standby = try PostgresServer(copyOf: primary.postgres, isStandby: true)
        try primary.administer("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try primary.administer("SELECT pg_reload_conf()")
        let (a, b) = (try primary.machine(of: user), try primary.machine(of: user))
        try await a.meet()
        try await a.push(edit("k", "1"))
        try await b.meet()
        _ = try await b.pull()
        // The standby alone takes nothing; of both, the right one is found.
        let alone = try PostgresEngine(
            at: ServerAddress(standby.address(user)), on: primary.loop.loop)
        let refusal = await #expect(throws: EngineError.self) { try await b.clone(alone).meet() }
        #expect(refusal?.kind == .unreachable)
        let both = try PostgresEngine(
            at: ServerAddress(
                "host=\(standby.socketDirectory),\(primary.postgres.socketDirectory) user=\(user)"),
            on: primary.loop.loop)
        let second = b.clone(both)
        #expect(try await second.meet().state == .continued)
        b.place = second.place
        // From now on, the standby does not get what is acknowledged.
        try standby.stop(.fast)
        try primary.administer("ALTER SYSTEM SET synchronous_standby_names = ''")
        try primary.administer("SELECT pg_reload_conf()")
        try await a.meet()
        try await a.push(edit("k", "2"))
        try primary.postgres.stop(.immediate)
        try standby.start()
        try standby.sql("SELECT pg_promote()").requireOutput()
        #expect(try await second.meet().state == .continued)
        let first = a.clone(both)
        #expect(try await first.meet().state == .rewound)
        try await first.push(edit("k", "2"))
        try await second.meet()
        #expect(try await second.pull().values == ["k": "2"])
    }
}

extension TestMachine {
    /// A round that pushes one edit.
    fileprivate func push(from edit: Edit, expecting state: Meeting.State = .continued) async throws
    {
        let found = try await meet().state
        #expect(found == state)
        if found != .mustJoinAnew { try await push(edit) }
    }
}
