import DefaultsRoaming
import Foundation
import RoamingPostgres
import TestSupport
import TestTiers
import Testing

/// A hostile user with psql, against another user's rows.
@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct RowSecurityTests {
    private let server: RoamingServer
    private let victim: String
    private let enemy: String
    private let replica: ReplicaID

    init() async throws {
        server = try await RoamingServer.shared
        (victim, enemy) = (try await server.newUser("victim"), try await server.newUser("enemy"))
        let machine = try server.machine(of: victim)
        replica = machine.id
        try await machine.meet()
        try await machine.push(edit("k", "secret1"), edit("removed", nil))
        try await machine.push(edit("k", "secret2"))
        let own = try server.machine(of: enemy)
        try await own.meet()
        try await own.push(edit("k", "mine"))
    }

    /// Everything that the victim has.
    private func stored() throws -> String {
        let tables = ["account", "entry", "lost", "replica"].map { table in
            "SELECT t FROM roam.\(table) t WHERE owner = '\(victim)' ORDER BY t"
        }
        return try server.administer(tables.joined(separator: ";"))
    }

    private func attack(_ sql: String) -> ProgramResult {
        server.postgres.sql(sql.replacing("VICTIM", with: victim), as: enemy)
    }

    /// Statements that PostgreSQL refuses, with the state of the error.
    private static let refused: [(String, String)] = [
        (
            "INSERT INTO roam.entry VALUES ('VICTIM', 'a', 'b', 9, NULL, gen_random_uuid(), '')",
            "42501"
        ),
        (
            "INSERT INTO roam.lost (owner, domain, key, name, rev, replica) VALUES ('VICTIM', 'a', 'b', 'c', 1, gen_random_uuid())",
            "42501"
        ),
        (
            "INSERT INTO roam.replica (owner, id, name, seen, visit) VALUES ('VICTIM', gen_random_uuid(), '', now(), decode(repeat('00', 24), 'hex'))",
            "42501"
        ),
        ("INSERT INTO roam.account (owner) VALUES ('VICTIM')", "42501"),
        (
            "INSERT INTO roam.entry (owner, domain, key, rev, replica, archive) VALUES ('VICTIM', 'org.example.App', 'k', 9, gen_random_uuid(), '') ON CONFLICT (owner, domain, key) DO UPDATE SET archive = excluded.archive",
            "42501"
        ),
        (
            "INSERT INTO roam.entry (owner, domain, key, rev, replica, archive) VALUES ('VICTIM', 'org.example.App', 'k', 9, gen_random_uuid(), '') ON CONFLICT DO NOTHING RETURNING archive",
            "42501"
        ),
        ("UPDATE roam.entry SET owner = 'VICTIM'", "42501"),
        ("UPDATE roam.account SET owner = 'VICTIM'", "42501"),
        ("UPDATE roam.account SET bytes = 0", "42501"),
        ("UPDATE roam.account SET largest_bytes = 1000000000000", "42501"),
        ("UPDATE roam.setting SET largest_bytes = 1000000000000", "42501"),
        ("UPDATE roam.schema_version SET version = 9", "42501"),
        ("DELETE FROM roam.entry", "42501"), ("DELETE FROM roam.lost", "42501"),
        ("DELETE FROM roam.replica", "42501"), ("DELETE FROM roam.account", "42501"),
        ("TRUNCATE roam.entry", "42501"), ("TRUNCATE roam.lost", "42501"),
        (
            "COPY roam.entry FROM STDIN;\nVICTIM\ta\tb\t9\t\\N\t00000000-0000-0000-0000-000000000000\t\\N\n\\.",
            "0A000"
        ),
        ("COPY roam.entry TO '/tmp/stolen'", "42501"),
        ("COPY roam.entry TO PROGRAM 'cat'", "42501"),
        ("BEGIN; LOCK TABLE roam.entry IN ACCESS EXCLUSIVE MODE", "42501"),
        ("BEGIN; LOCK TABLE roam.entry IN SHARE MODE", "42501"),
        ("BEGIN; LOCK TABLE roam.account IN SHARE ROW EXCLUSIVE MODE", "42501"),
        ("BEGIN; LOCK TABLE roam.replica IN EXCLUSIVE MODE", "42501"),
        ("BEGIN; LOCK TABLE roam.lost IN EXCLUSIVE MODE", "42501"),
        ("BEGIN; LOCK TABLE roam.setting IN EXCLUSIVE MODE", "42501"),
        ("SET ROLE \"VICTIM\"", "42501"), ("SET ROLE roam_owner", "42501"),
        ("SET ROLE postgres", "42501"),
        ("SET SESSION AUTHORIZATION \"VICTIM\"", "42501"),
        ("ALTER ROLE CURRENT_USER BYPASSRLS", "42501"),
        ("ALTER ROLE CURRENT_USER SUPERUSER", "42501"),
        ("ALTER ROLE CURRENT_USER CONNECTION LIMIT -1", "42501"),
        ("CREATE ROLE other", "42501"), ("GRANT \"VICTIM\" TO CURRENT_USER", "42501"),
        ("GRANT roam_owner TO CURRENT_USER", "42501"),
        ("ALTER TABLE roam.entry DISABLE ROW LEVEL SECURITY", "42501"),
        ("ALTER TABLE roam.entry DISABLE TRIGGER ALL", "42501"),
        ("DROP POLICY own ON roam.entry", "42501"), ("DROP TABLE roam.entry", "42501"),
        ("CREATE POLICY mine ON roam.entry USING (true)", "42501"),
        ("SET session_replication_role = replica", "42501"),
        ("SET row_security = off; SELECT * FROM roam.entry", "42501"),
        ("CREATE TABLE roam.mine (x int)", "42501"), ("CREATE TABLE public.mine (x int)", "42501"),
        ("CREATE SCHEMA mine", "42501"), ("CREATE TEMP TABLE account (x int)", "42501"),
        ("CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "42501"),
        ("CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "42501"),
        ("DO $$ BEGIN PERFORM 1; END $$", "42501"),
        ("SELECT lo_create(0)", "42501"), ("SELECT lo_from_bytea(0, 'x')", "42501"),
        ("SELECT lo_creat(1)", "42501"),
        ("SELECT pg_advisory_lock(1)", "42501"), ("SELECT pg_try_advisory_xact_lock(1)", "42501"),
        ("SELECT * FROM pg_statistic", "42501"), ("SELECT * FROM pg_authid", "42501"),
        ("SELECT pg_read_file('PG_VERSION')", "42501"), ("SELECT pg_ls_dir('.')", "42501"),
        ("CREATE EXTENSION dblink", "42501"), ("ALTER SYSTEM SET fsync = off", "42501"),
        ("CREATE DATABASE mine", "42501"), ("CREATE PUBLICATION p FOR TABLE roam.entry", "42501"),
        ("SELECT pg_create_physical_replication_slot('s')", "42501"),
        ("SELECT roam.count_rows()", "42501"),
        ("ANALYZE VERBOSE roam.entry; SELECT * FROM pg_statistic", "42501"),
        ("ALTER FUNCTION roam.purge() SECURITY INVOKER", "42501"),
        ("BEGIN; SELECT 1; PREPARE TRANSACTION 'held'", "55000"),
    ]

    /// Queries that must find nothing.
    private static let empty = [
        "SELECT * FROM roam.entry WHERE owner = 'VICTIM'",
        "SELECT * FROM roam.entry WHERE owner <> current_user",
        "SELECT * FROM roam.account WHERE owner <> current_user", "SELECT * FROM roam.lost",
        "SELECT * FROM roam.replica WHERE owner <> current_user",
        "COPY (SELECT * FROM roam.entry WHERE owner <> current_user) TO STDOUT",
        "BEGIN; SELECT * FROM roam.entry WHERE owner = 'VICTIM' FOR UPDATE; COMMIT",
        "UPDATE roam.entry SET archive = 'x' WHERE owner = 'VICTIM' RETURNING *",
        "UPDATE roam.account SET rev = 0 WHERE owner = 'VICTIM' RETURNING *",
        "UPDATE roam.replica SET is_forgotten = true WHERE owner = 'VICTIM' RETURNING *",
        "UPDATE roam.lost SET pusher = NULL RETURNING *",
        // A function in the condition could see rows before the policy does.
        "SELECT key FROM roam.entry WHERE owner <> current_user AND 1 / (length(archive) - length(archive)) = 1",
        "SELECT key FROM roam.entry WHERE convert_from(archive, 'UTF8')::int = 1 AND owner = 'VICTIM'",
        "SELECT * FROM pg_stats WHERE schemaname = 'roam'",
        "SELECT * FROM pg_stats_ext WHERE schemaname = 'roam'",
        "SELECT query FROM pg_stat_activity WHERE usename = 'VICTIM' AND query NOT LIKE '<insufficient%'",
        "SET ROLE roam_user; SELECT * FROM roam.entry; SELECT * FROM roam.account",
        "SELECT * FROM pg_largeobject_metadata",
        "MERGE INTO roam.account a USING (SELECT 'VICTIM' AS owner) v ON a.owner = v.owner WHEN MATCHED THEN UPDATE SET rev = 0",
    ]

    @Test func `Statements on the rows of another user are refused or find nothing`() throws {
        let before = try stored()
        #expect(before.contains("org.example.App"))
        for (sql, state) in Self.refused {
            let result = attack(sql)
            #expect(
                result.status != 0 && result.error.contains("ERROR:  \(state):"),
                "\(sql): \(result)")
        }
        for sql in Self.empty {
            let result = attack(sql)
            #expect(result.status == 0 && result.output.isEmpty, "\(sql): \(result)")
        }
        #expect(try stored() == before)
        // What was tried is what works with one's own rows.
        let own = attack(
            "SELECT convert_from(archive, 'UTF8') FROM roam.entry; SELECT count(*) FROM roam.account"
        )
        #expect(own.output == "mine\n1\n", "\(own)")
    }

    @Test func `Functions delete rows of the caller only`() throws {
        let before = try stored()
        let name = try server.administer("SELECT name FROM roam.lost WHERE owner = '\(victim)'")
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(!name.isEmpty)
        let result = attack(
            """
            SELECT roam.drop_kept(ARRAY['org.example.App'], ARRAY['k'], ARRAY['\(name)']);
            UPDATE roam.replica SET pulled = 99;
            SELECT roam.purge();
            SET ROLE roam_user;
            SELECT roam.purge();
            """)
        #expect(result.status == 0, "\(result)")
        #expect(try stored() == before)
    }

    @Test func `Names in a search path of the enemy are not used`() throws {
        let before = try stored()
        // There is no schema to put functions into, and the owner's functions name theirs.
        let result = attack(
            """
            SET search_path = pg_temp, public;
            UPDATE roam.entry SET archive = 'longer than before';
            SELECT key FROM roam.entry;
            """)
        #expect(result.output == "k\n", "\(result)")
        #expect(try stored() == before)
    }

    @Test func `Estimates of the planner tell nothing about the rows of others`() throws {
        try server.administer(
            """
            INSERT INTO roam.account (owner) VALUES ('crowd') ON CONFLICT DO NOTHING;
            INSERT INTO roam.entry SELECT 'crowd', 'org.secret.Shop', 'k' || n, n, now(),
                '\(replica)', 'x' FROM generate_series(1, 5000) n ON CONFLICT DO NOTHING;
            ANALYZE roam.entry;
            """)
        func plan(_ condition: String) -> String {
            let result = attack("EXPLAIN SELECT * FROM roam.entry WHERE \(condition)")
            #expect(!result.output.isEmpty, "\(condition): \(result)")
            return result.output
                .replacing(/'[^']*'|rev < [0-9]+/, with: "?")
        }
        for column in ["domain", "key", "owner"] {
            let names = ["domain": "org.secret.Shop", "key": "k7", "owner": "crowd"]
            #expect(
                plan("\(column) = '\(names[column] ?? "")'")
                    == plan("\(column) = 'org.nobody.None'"))
        }
        #expect(plan("archive = 'x'") == plan("archive = 'y'"))
        #expect(plan("rev < 10") == plan("rev < 100000"))
    }

    @Test func `The channel of another user cannot be known`() async throws {
        let channel = try server.administer(
            "SELECT channel FROM roam.account WHERE owner = '\(victim)'"
        )
        .trimmingCharacters(in: .whitespacesAndNewlines)
        let name = channel.replacing("-", with: "")
        #expect(name.count == 32)
        let machine = try server.machine(of: victim)
        try await machine.engine.onNews {}
        try await machine.meet()
        let views = [
            "pg_stat_activity", "pg_locks", "pg_prepared_statements", "pg_settings",
            "pg_stat_user_tables",
            "pg_stat_database", "pg_roles", "pg_db_role_setting", "pg_stat_replication",
            "roam.account",
        ]
        for view in views {
            let result = attack("SELECT t::text FROM \(view) t")
            #expect(!result.output.contains(channel), "\(view)")
            #expect(!result.output.contains(name), "\(view)")
        }
        // Whoever knows it hears only that there is news, and so does a false alarm.
        #expect(attack("NOTIFY roam_\(name)").status == 0)
    }

    @Test func `A hostile client cannot pass the bounds of its account`() throws {
        try server.administer(
            "UPDATE roam.account SET largest_bytes = 5000, largest_keys = 5 WHERE owner = '\(enemy)'"
        )
        let insert =
            "INSERT INTO roam.entry SELECT current_user, 'a', 'k' || n, 1, NULL, gen_random_uuid()"
        let attacks = [
            "\(insert), '' FROM generate_series(1, 6) n",
            "\(insert), convert_to(repeat('x', 6000), 'UTF8') FROM generate_series(1, 1) n",
            "UPDATE roam.entry SET archive = convert_to(repeat('x', 6000), 'UTF8')",
            "INSERT INTO roam.lost SELECT current_user, 'a', 'k' || n, 'n', 1, NULL, gen_random_uuid(), '' FROM generate_series(1, 6) n",
            "INSERT INTO roam.entry VALUES (current_user, 'org.example.App', 'k', 1, NULL, gen_random_uuid(), convert_to(repeat('x', 6000), 'UTF8')) ON CONFLICT (owner, domain, key) DO UPDATE SET archive = excluded.archive",
            "INSERT INTO roam.replica (id, name, seen, visit) SELECT gen_random_uuid(), 'n', now(), decode(repeat('00', 24), 'hex') FROM generate_series(1, 201)",
        ]
        for sql in attacks {
            let result = attack(sql)
            #expect(result.error.contains("ERROR:  RM001:"), "\(sql): \(result)")
        }
        let large = attack(
            "UPDATE roam.entry SET archive = convert_to(repeat('x', 2000000), 'UTF8')")
        #expect(large.error.contains("RM001"), "\(large)")
        let counted = try server.administer(
            """
            SELECT a.keys = count(*) AND a.bytes = sum(octet_length(domain) + octet_length(key)
                + coalesce(octet_length(archive), 0) + 100)
            FROM roam.account a JOIN roam.entry e USING (owner) WHERE owner = '\(enemy)'
            GROUP BY a.keys, a.bytes
            """)
        #expect(counted == "t\n")
    }

    @Test func `A user has a bounded number of connections`() async throws {
        let name = RoamingServer.newName()
        let address = server.postgres.address()
        try await ServerSetup.addUser(name, connections: 2, at: address, on: server.loop.loop)
        let machines = try (0..<3).map { _ in try server.machine(of: name) }
        try await machines[0].meet()
        try await machines[1].meet()
        let error = await #expect(throws: EngineError.self) { try await machines[2].meet() }
        #expect(error?.kind == .unreachable)
        #expect(error?.description.contains("too many connections") == true)
    }

    @Test func `Even a superuser who roams reads no rows of others`() async throws {
        try server.administer(
            """
            INSERT INTO roam.account (owner) VALUES ('postgres') ON CONFLICT DO NOTHING;
            """)
        let machine = try server.machine(of: "postgres")
        #expect(try await machine.meet().revision == 0)
        #expect(try await machine.engine.machines().map(\.id) == [machine.id])
        #expect(try await machine.pull().versions.isEmpty)
    }
}
