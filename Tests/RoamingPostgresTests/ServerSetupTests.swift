import DefaultsRoaming
import Foundation
@testable import Postgres
@testable import RoamingPostgres
import TestSupport
import TestTiers
import Testing

@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct ServerSetupTests {
    @Test func `A server is set up, and again without a change`() async throws {
        let postgres = try PostgresServer()
        let loop = try Loop()
        let first = try await ServerSetup.initialize(at: postgres.address(), on: loop.loop)
        #expect(first.versionBefore == 0)
        #expect(first.version == Schema.version)
        #expect(first.warnings.isEmpty)
        #expect(
            first.authenticationLines.contains { $0.hasPrefix("hostssl  \"defaults\"  +roam_user") }
        )
        let before = try Self.schema(postgres)
        let second = try await ServerSetup.initialize(at: postgres.address(), on: loop.loop)
        #expect(second.versionBefore == Schema.version)
        #expect(try Self.schema(postgres) == before)
    }

    @Test func `An administrator without all rights removes users of a superuser's server`()
        async throws
    {
        let server = try await RoamingServer()
        let user = try await server.newUser()
        try server.administer(
            """
            CREATE ROLE boss LOGIN CREATEROLE; GRANT roam_owner TO boss;
            GRANT roam_user TO boss WITH ADMIN OPTION
            """)
        let address = server.postgres.address("boss")
        try await ServerSetup.removeUser(user, withData: true, at: address, on: server.loop.loop)
        #expect(try await ServerSetup.users(at: address, on: server.loop.loop).isEmpty)
    }

    @Test func `A server of an earlier version is updated, and keeps what it has`() async throws {
        let server = try await RoamingServer()
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        try await machine.push(edit("k", "1"))
        let new = try Self.schema(server.postgres)
        // The first step is the whole of the earlier version.
        try server.administer(
            """
            DROP POLICY pooled ON roam.account; DROP POLICY pooled ON roam.entry;
            DROP POLICY pooled ON roam.lost; DROP POLICY pooled ON roam.replica;
            DROP TABLE roam.token; DROP FUNCTION roam.caller();
            DROP OWNED BY roam_pooled; DROP ROLE roam_pooled;
            UPDATE roam.schema_version SET version = 1;
            """)
        let address = server.postgres.address()
        let report = try await ServerSetup.initialize(at: address, on: server.loop.loop)
        #expect(report.versionBefore == 1)
        #expect(report.version == 2)
        #expect(try Self.schema(server.postgres) == new)
        try await machine.meet()
        #expect(try await machine.pull().values == ["k": "1"])
    }

    private static func schema(_ postgres: PostgresServer) throws -> String {
        let dump = try PostgresServer.run(
            "pg_dump", ["-h", postgres.socketDirectory, "-U", "postgres", "defaults"])
        // Later versions of pg_dump write a random word.
        return dump.split(separator: "\n").filter { !$0.contains("restrict") }.joined(
            separator: "\n")
    }

    @Test func `Users come, are listed with their sizes, and go`() async throws {
        let server = try await RoamingServer()
        let address = server.postgres.address()
        let loop = server.loop.loop
        // An awkward name, of somebody who has a role already.
        let name = "o\"Hara $1 ü"
        try server.administer("CREATE ROLE \"o\"\"Hara $1 ü\" LOGIN")
        try await ServerSetup.addUser(name, at: address, on: loop)
        try await ServerSetup.addUser(name, at: address, on: loop)
        try await ServerSetup.addUser("ada", at: address, on: loop)
        let machine = try server.machine(of: "ada")
        try await machine.meet()
        try await machine.push(edit("k", "1"), edit("l", "1"))
        let users = try await ServerSetup.users(at: address, on: loop)
        #expect(users.map(\.name) == ["ada", name])
        #expect(users.map(\.keys) == [2, 0])
        #expect(users.map(\.machines) == [1, 0])
        #expect(users[0].bytes == Int64(2 * (100 + "org.example.App".utf8.count + 2)))
        #expect(users[0].seen != nil && users[1].seen == nil)
        #expect(users.map(\.mayRoam) == [true, true])
        try await ServerSetup.removeUser("ada", withData: false, at: address, on: loop)
        #expect(
            try await ServerSetup.users(at: address, on: loop).map(\.mayRoam) == [false, true])
        await #expect(throws: EngineError.self) { try await machine.meet() }
        try await ServerSetup.addUser("ada", at: address, on: loop)
        #expect(try await machine.meet().state == .continued)
        #expect(try await machine.pull().values == ["k": "1", "l": "1"])
        try await ServerSetup.removeUser("ada", withData: true, at: address, on: loop)
        try await ServerSetup.removeUser(name, withData: true, at: address, on: loop)
        #expect(try await ServerSetup.users(at: address, on: loop).isEmpty)
        let rows = try server.administer(
            """
            SELECT (SELECT count(*) FROM roam.entry) + (SELECT count(*) FROM roam.lost)
                + (SELECT count(*) FROM roam.replica)
            """)
        #expect(rows == "0\n")
        await #expect(throws: SetupError.self) {
            try await ServerSetup.removeUser("nobody at all", withData: true, at: address, on: loop)
        }
    }

    @Test func `The data of a role that is gone can be removed, once`() async throws {
        let server = try await RoamingServer.shared
        let (address, loop) = (server.postgres.address(), server.loop.loop)
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        try await machine.push(edit("k", "1"))
        await machine.engine.close()
        try await ServerSetup.removeUser(user, withData: false, at: address, on: loop)
        try server.administer("DROP ROLE \(user)")
        try await ServerSetup.removeUser(user, withData: true, at: address, on: loop)
        #expect(
            try server.administer("SELECT count(*) FROM roam.entry WHERE owner = '\(user)'")
                == "0\n")
        let error = await #expect(throws: SetupError.self) {
            try await ServerSetup.removeUser(user, withData: true, at: address, on: loop)
        }
        #expect(error?.description.contains(user) == true)
    }

    @Test func `Roles for which row security does not hold are no users`() async throws {
        let server = try await RoamingServer.shared
        try server.administer(
            "CREATE ROLE passes BYPASSRLS LOGIN; CREATE ROLE owns LOGIN IN ROLE roam_owner")
        for name in ["postgres", "passes", "owns"] {
            let error = await #expect(throws: SetupError.self) {
                try await ServerSetup.addUser(
                    name, at: server.postgres.address(), on: server.loop.loop)
            }
            #expect(error?.description.contains("row security") == true)
        }
        try server.administer("DROP ROLE passes; DROP ROLE owns")
    }

    @Test func `An administrator without all rights sets a server up, and is told what is missing`()
        async throws
    {
        let postgres = try PostgresServer()
        try postgres.sql(
            "CREATE ROLE boss LOGIN CREATEROLE CREATEDB; CREATE ROLE small LOGIN",
            database: "postgres"
        ).requireOutput()
        let loop = try Loop()
        let report = try await ServerSetup.initialize(at: postgres.address("boss"), on: loop.loop)
        #expect(report.warnings.count == 1)
        try await ServerSetup.addUser("ada", at: postgres.address("boss"), on: loop.loop)
        let machine = TestMachine(
            .random(), PostgresEngine(at: try ServerAddress(postgres.address("ada")), on: loop.loop)
        )
        try await machine.meet()
        try await machine.push(edit("k", "1"))
        #expect(
            try await ServerSetup.users(at: postgres.address("boss"), on: loop.loop).map(\.keys)
                == [1])
        await #expect(throws: SetupError.self) {
            try await ServerSetup.initialize(at: postgres.address("small"), on: loop.loop)
        }
        await #expect(throws: SetupError.self) {
            try await ServerSetup.addUser("eve", at: postgres.address("small"), on: loop.loop)
        }
    }
}
