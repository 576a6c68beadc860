import DefaultsRoaming
import Foundation
@testable import RoamingPostgres
import TestSupport
import TestTiers
import Testing

/// Users whose transactions share the sessions of a pooler.
@Suite(
    .startsPrograms, .enabled(if: PostgresServer.isAvailable, missing),
    .enabled(if: Pooler.isAvailable, Comment(rawValue: Pooler.missing)))
struct PooledTests {
    private let server: RoamingServer
    private let pooler: Pooler

    init() async throws {
        server = try await RoamingServer()
        try server.administer("ALTER ROLE roam_pooled LOGIN")
        // Two sessions, so that each is used by everybody.
        pooler = try Pooler(before: server.postgres, sessions: 2)
    }

    /// A user, with a token.
    private func newUser() async throws -> (name: String, token: PoolToken) {
        let name = try await server.newUser("pooled")
        let tokens = try await ServerSetup.addTokens(
            for: [name], at: server.postgres.address(), on: server.loop.loop)
        return (name, try #require(tokens.first))
    }

    private func machine(with token: PoolToken) throws -> TestMachine {
        TestMachine(
            .random(),
            PostgresEngine(
                at: try ServerAddress(pooler.address()), token: token, on: server.loop.loop))
    }

    /// Runs SQL as a client of the pooler that has a token, or none.
    ///
    /// Others go on meanwhile: the server ends transactions whose client does not.
    private func attack(_ sql: String, with token: PoolToken? = nil) async -> ProgramResult {
        let identity =
            token.map { "SELECT set_config('roam.token', '\($0.text)', true) \\gset\n" } ?? ""
        return await ProgramResult.running(
            [
                "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose",
                pooler.address(),
            ], input: "BEGIN;\n\(identity)\(sql);\nCOMMIT;")
    }

    @Test func `Many machines share two sessions, and each has its user's keys`() async throws {
        var machines: [[TestMachine]] = []
        for _ in 0..<5 {
            let (_, token) = try await newUser()
            machines.append(try [machine(with: token), machine(with: token)])
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, pair) in machines.enumerated() {
                group.addTask {
                    for round in 0..<10 {
                        try await pair[0].meet()
                        var mark = try await pair[0].pull().versions.first?.mark
                        let value = "\(number) \(round)"
                        mark = try await pair[0].push(edit("k", value, base: mark)).outcomes.first?
                            .mark
                        try await pair[1].meet()
                        let page = try await pair[1].pull()
                        #expect(page.values == ["k": value])
                        #expect(page.versions.first?.mark == mark)
                    }
                }
            }
            try await group.waitForAll()
        }
        let sessions = try server.administer(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = 'roam_pooled'")
        #expect(sessions == "2\n" || sessions == "1\n")
        let owners = try server.administer(
            "SELECT count(DISTINCT owner), count(*) FROM roam.entry WHERE owner LIKE 'pooled%'")
        #expect(owners == "5|5\n")
    }

    @Test func `Everything that an engine does works through the pooler`() async throws {
        let (name, token) = try await newUser()
        let (first, second) = (try machine(with: token), try machine(with: token))
        // What is announced is not heard here, so they ask.
        try await first.engine.onNews {}
        try await first.meet()
        try await second.meet()
        #expect(first.engine.pollInterval == .seconds(300))
        try await first.push(edit("k", "first"), edit("removed", nil))
        let lost = try await second.push(edit("k", "second"))
        #expect(lost.losers.map(\.value) == ["first"])
        try await second.engine.noteKept(lost.losers)
        #expect(try server.administer("SELECT count(*) FROM roam.lost") == "0\n")
        try server.administer(
            "UPDATE roam.account SET largest_keys = 3 WHERE owner = '\(name)'")
        try await first.meet()
        await #expect(throws: EngineError.self) {
            try await first.push(edit("a", "1"), edit("b", "1"), edit("c", "1"))
        }
        try await first.meet()
        try await first.push(edit("a", "1"))
        for machine in [first, second] {
            let revision = try await machine.meet().revision
            await machine.engine.notePulled(upTo: revision)
            try server.administer("UPDATE roam.replica SET seen = seen - interval '1 day'")
        }
        try await first.meet()
        try await second.meet()
        // Both had pulled the removal, so it is dropped.
        #expect(
            try server.administer("SELECT key FROM roam.entry ORDER BY key") == "a\nk\n")
        #expect(try await first.engine.machines().count == 2)
        try await first.engine.forget(second.id)
        #expect(try await second.meet().state == .mustJoinAnew)
    }

    @Test func `A token is of one user, and ends with the user's right`() async throws {
        let (name, token) = try await newUser()
        let (_, other) = try await newUser()
        let machine = try machine(with: token)
        try await machine.meet()
        try await machine.push(edit("k", "secret"))
        #expect(try await self.machine(with: other).meet().revision == 0)
        let stranger = try self.machine(with: .random())
        let refused = await #expect(throws: EngineError.self) { try await stranger.meet() }
        #expect(refused?.kind == .refused)
        let address = server.postgres.address()
        try await ServerSetup.removeUser(
            name, withData: false, at: address, on: server.loop.loop)
        let ended = await #expect(throws: EngineError.self) { try await machine.meet() }
        #expect(ended?.kind == .refused)
        for name in [name, "nobody at all"] {
            await #expect(throws: SetupError.self) {
                try await ServerSetup.addTokens(for: [name], at: address, on: server.loop.loop)
            }
        }
    }

    /// Statements that must be refused, with or without a token.
    private static let refused: [(String, String)] = [
        ("SELECT * FROM roam.token", "42501"), ("INSERT INTO roam.token VALUES ('', '')", "42501"),
        ("DELETE FROM roam.token", "42501"), ("DELETE FROM roam.entry", "42501"),
        (
            "INSERT INTO roam.entry VALUES ('VICTIM', 'a', 'b', 9, NULL, gen_random_uuid(), '')",
            "42501"
        ),
        ("INSERT INTO roam.account (owner) VALUES ('VICTIM')", "42501"),
        ("UPDATE roam.entry SET owner = 'VICTIM'", "42501"),
        ("SET ROLE \"VICTIM\"", "42501"), ("SET ROLE roam_user", "42501"),
        ("SET ROLE roam_owner", "42501"), ("SET SESSION AUTHORIZATION \"VICTIM\"", "42501"),
        ("SET row_security = off; SELECT * FROM roam.entry", "42501"),
        ("CREATE FUNCTION roam.caller() RETURNS text LANGUAGE sql AS 'SELECT 1'", "42501"),
        (
            "CREATE OR REPLACE FUNCTION roam.caller() RETURNS text LANGUAGE sql AS 'SELECT 1'",
            "42501"
        ),
        ("CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "42501"),
        ("CREATE TEMP TABLE account (x int)", "42501"), ("CREATE SCHEMA mine", "42501"),
        ("DO $$ BEGIN PERFORM 1; END $$", "42501"),
        ("SELECT pg_terminate_backend(pg_backend_pid())", "42501"),
        ("SELECT pg_cancel_backend(pg_backend_pid())", "42501"),
        ("SELECT pg_advisory_xact_lock(1)", "42501"), ("SELECT lo_create(0)", "42501"),
        ("LOCK TABLE roam.entry IN SHARE MODE", "42501"),
        ("ALTER ROLE CURRENT_USER BYPASSRLS", "42501"), ("CREATE ROLE other", "42501"),
        ("GRANT roam_pooled TO \"VICTIM\"", "42501"),
    ]

    /// Queries that must find nothing of another user.
    private static let empty = [
        "SELECT * FROM roam.entry WHERE owner = 'VICTIM'",
        "SELECT * FROM roam.account WHERE owner = 'VICTIM'",
        "SELECT * FROM roam.replica WHERE owner = 'VICTIM'",
        "SELECT * FROM roam.lost WHERE owner = 'VICTIM'",
        "SELECT * FROM roam.entry WHERE owner = 'VICTIM' FOR UPDATE",
        "UPDATE roam.entry SET archive = 'x' WHERE owner = 'VICTIM' RETURNING *",
        "UPDATE roam.account SET rev = 0 WHERE owner = 'VICTIM' RETURNING *",
        "UPDATE roam.replica SET is_forgotten = true WHERE owner = 'VICTIM' RETURNING *",
        "SELECT 1 FROM roam.entry WHERE owner = 'VICTIM' AND 1 / (length(archive) - length(archive)) = 1",
        "COPY (SELECT * FROM roam.entry WHERE owner = 'VICTIM') TO STDOUT",
    ]

    @Test func `A hostile client of the pooler reaches nothing of another user`() async throws {
        let (name, token) = try await newUser()
        let (enemy, own) = try await newUser()
        let machine = try machine(with: token)
        try await machine.meet()
        try await machine.push(edit("k", "secret"))
        let before = try stored(of: name)
        for client in [nil, own] {
            for (sql, state) in Self.refused {
                let result = await attack(sql.replacing("VICTIM", with: name), with: client)
                #expect(
                    result.status != 0 && result.error.contains("ERROR:  \(state):"),
                    "\(sql): \(result)")
            }
            for sql in Self.empty {
                let result = await attack(sql.replacing("VICTIM", with: name), with: client)
                #expect(result.status == 0 && result.output.isEmpty, "\(sql): \(result)")
            }
        }
        // Without a token there are no rows; with one there are the user's own.
        let all = "SELECT owner FROM roam.account"
        #expect(await attack(all).output == "")
        #expect(await attack(all, with: own).output == "\(enemy)\n")
        #expect(await attack("SELECT roam.caller()").output == "\n")
        #expect(try stored(of: name) == before)
    }

    @Test func `Nothing of a transaction is left for the next user of its session`() async throws {
        let (name, token) = try await newUser()
        let machine = try machine(with: token)
        try await machine.meet()
        // The role of all sessions sees what they run, and the token is no part of it.
        async let meetings: Void = {
            for _ in 0..<50 { try await machine.meet() }
        }()
        for _ in 0..<5 {
            let look = "SELECT query FROM pg_stat_activity; SELECT * FROM pg_prepared_statements;"
            let seen = await attack(String(repeating: look, count: 20))
            #expect(seen.status == 0 && !seen.output.contains(token.text), "\(seen)")
        }
        try await meetings
        // Both sessions are used, also after an error.
        for _ in 0..<6 {
            try await machine.meet()
            _ = await attack("SELECT 1 / 0", with: token)
            let found = await attack(
                "SELECT current_setting('roam.token', true); TABLE roam.account")
            #expect(found.output == "\n", "\(found)")
        }
        // Settings that a client leaves in a session do not take others to its account, or from theirs.
        let (_, own) = try await newUser()
        for _ in 0..<4 {
            _ = await attack(
                """
                SET roam.token = '\(own.text)'; SET search_path = pg_temp;
                SET default_transaction_read_only = on; SET row_security = off
                """)
        }
        for round in 0..<4 {
            try await machine.meet()
            let mark = try await machine.pull().versions.first?.mark
            try await machine.push(edit("k", "\(round)", base: mark))
        }
        let owners = try server.administer("SELECT DISTINCT owner FROM roam.entry")
        #expect(owners == "\(name)\n")
        #expect(await attack("TABLE roam.account").output == "")
    }

    @Test func `What a client makes of the role's settings ends with the next set-up`() async throws
    {
        let (_, token) = try await newUser()
        let machine = try machine(with: token)
        try await machine.meet()
        let spoiled = await attack(
            "ALTER ROLE roam_pooled SET default_transaction_read_only = on", with: token)
        #expect(spoiled.status == 0, "\(spoiled)")
        _ = try await ServerSetup.initialize(at: server.postgres.address(), on: server.loop.loop)
        let settings = try server.administer(
            "SELECT array_length(setconfig, 1) FROM pg_db_role_setting "
                + "WHERE setrole = 'roam_pooled'::regrole")
        #expect(settings == "3\n")
    }

    @Test func `The tables do not have the token itself`() async throws {
        let (_, token) = try await newUser()
        let dump = try PostgresServer.run(
            "pg_dump", ["-h", server.postgres.socketDirectory, "-U", "postgres", "defaults"])
        #expect(dump.contains("roam.token"))
        #expect(!dump.contains(token.text))
    }

    @Test func `A token is read from a file that only its user can read`() throws {
        let directory = try TemporaryDirectory()
        let token = PoolToken.random()
        #expect(try PoolToken(file: directory.path + "/none") == nil)
        let file = try directory.write(token.text + "\n", to: "token")
        chmod(file, 0o600)
        #expect(try PoolToken(file: file) == token)
        chmod(file, 0o640)
        #expect(throws: PoolTokenError.self) { try PoolToken(file: file) }
        for text in ["", "short", token.text + token.text, "\(token.text) \(token.text)"] {
            let wrong = try directory.write(text, to: "wrong")
            chmod(wrong, 0o600)
            #expect(throws: PoolTokenError.self, "\(text)") { try PoolToken(file: wrong) }
        }
        #expect(throws: PoolTokenError.self) { try PoolToken(file: directory.path) }
    }

    /// Everything that a user has.
    private func stored(of name: String) throws -> String {
        let tables = ["account", "entry", "lost", "replica"].map { table in
            "SELECT t FROM roam.\(table) t WHERE owner = '\(name)' ORDER BY t"
        }
        return try server.administer(tables.joined(separator: ";"))
    }
}
