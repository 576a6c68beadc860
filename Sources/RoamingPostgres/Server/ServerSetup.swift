package import DBus
internal import DefaultsRoaming
internal import Postgres

/// What an administrator does with a server.
///
/// The address is a connection string for a role that may create roles, and schemas in the database. A
/// superuser can do more: see ``initialize(at:on:)``.
package enum ServerSetup {
    /// What ``initialize(at:on:)`` has done.
    package struct Report: Sendable, Equatable {
        /// The version of the tables before; 0 if there were none.
        package let versionBefore: Int64
        /// The version of the tables now.
        package let version: Int64
        /// The lines to add to `pg_hba.conf`, before all others.
        package let authenticationLines: [String]
        /// What could not be done, and who can do it: sentences.
        package let warnings: [String]
    }

    /// Creates or updates the tables, and the roles that the users need.
    ///
    /// If the database does not exist, it is made. Only a superuser can keep users from large objects,
    /// which have no bound, and from advisory locks; the report says so otherwise.
    ///
    /// - Throws: ``SetupError``.
    package static func initialize(at address: String, on loop: EventLoop) async throws -> Report {
        let address = try ServerAddress(address)
        return try await reporting(address) {
            try await createDatabase(address, on: loop)
            return try await connected(to: address, on: loop) { connection in
                let facts = try await Facts(connection)
                guard facts.version <= Schema.version else { throw SetupError.newer }
                try await createRoles(facts, on: connection)
                try await migrate(facts, on: connection)
                let warnings = try await close(facts, on: connection)
                return Report(
                    versionBefore: facts.version, version: Schema.version,
                    authenticationLines: authenticationLines(database: facts.database),
                    warnings: warnings)
            }
        }
    }

    /// The lines of `pg_hba.conf` for the users of a database: TLS from other machines.
    package static func authenticationLines(database: String) -> [String] {
        let name = quote(database)
        return [
            "local    \(name)  +\(Schema.userRole)       peer",
            "hostssl  \(name)  +\(Schema.userRole)  all  scram-sha-256",
            "host     \(name)  +\(Schema.userRole)  all  reject",
        ]
    }

    // MARK: The steps

    /// The settings of a role in whose sessions users run statements.
    static let sessionLimits = [
        "statement_timeout = '30s'", "lock_timeout = '10s'",
        "idle_in_transaction_session_timeout = '10s'",
    ]

    /// Makes the database, if there is none of this name.
    private static func createDatabase(_ address: ServerAddress, on loop: EventLoop) async throws {
        guard let name = address.options["dbname"], !name.contains("=") else { return }
        do {
            try await connected(to: address, on: loop) { _ in }
        } catch let failure as PostgresError {
            let other = address.connecting(to: "postgres")
            do {
                try await connected(to: other, on: loop) { connection in
                    let rows = try await connection.run(
                        Statement("SELECT FROM pg_database WHERE datname = $1::text", [.text(name)])
                    )
                    guard rows.count == 0 else { throw failure }
                    try await connection.run(
                        Statement(
                            """
                            CREATE DATABASE \(quote(name)) TEMPLATE template0 ENCODING 'UTF8'
                                LC_COLLATE 'C' LC_CTYPE 'C'
                            """))
                }
            } catch let error as PostgresError where error.kind == .noConnection {
                throw failure
            }
        }
    }

    /// What is there already.
    private struct Facts {
        let version: Int64
        let database: String
        let isSuperuser: Bool

        init(_ connection: PostgresConnection) async throws {
            let rows = try await connection.run(
                Statement(
                    """
                    SELECT to_regclass('roam.schema_version') IS NOT NULL,
                        current_database()::text, r.rolsuper, getdatabaseencoding()::text = 'UTF8',
                        current_setting('server_version_num')::bigint, r.rolcreaterole
                    FROM pg_roles r WHERE r.rolname = current_user
                    """))
            database = try rows.text(0, 1)
            isSuperuser = try rows.boolean(0, 2)
            guard try rows.boolean(0, 3) else { throw SetupError.encoding(database) }
            guard try rows.integer(0, 4) ?? 0 >= 130_000 else { throw SetupError.tooOld }
            guard try isSuperuser || rows.boolean(0, 5) else { throw SetupError.noRights }
            guard try rows.boolean(0, 0) else {
                version = 0
                return
            }
            let found = try await connection.run(
                Statement("SELECT version FROM roam.schema_version"))
            version = found.count == 1 ? try found.integer(0, 0) ?? 0 : 0
        }
    }

    private static func createRoles(
        _ facts: Facts, on connection: PostgresConnection
    ) async throws {
        let create = [Schema.ownerRole, Schema.userRole].map { role in
            Statement(
                """
                DO $$ BEGIN
                    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(role)') THEN
                        CREATE ROLE \(role) NOLOGIN;
                    END IF;
                END $$
                """)
        }
        let settings = sessionLimits.map { "ALTER ROLE \(Schema.pooledRole) SET \($0);" }
        // It may sign in when the administrator sets up a pooler. Clients of the pooler can change its
        // settings, so a superuser sets them again.
        let pooled = Statement(
            """
            DO $$
            DECLARE
                is_new boolean := NOT EXISTS (
                    SELECT FROM pg_roles WHERE rolname = '\(Schema.pooledRole)');
            BEGIN
                IF is_new THEN
                    CREATE ROLE \(Schema.pooledRole) NOLOGIN;
                END IF;
                IF is_new OR \(facts.isSuperuser) THEN
                    ALTER ROLE \(Schema.pooledRole) RESET ALL;
                    \(settings.joined(separator: "\n        "))
                END IF;
            END $$
            """)
        try await connection.run(create + [pooled], limit: limit)
        guard !facts.isSuperuser else { return }
        let member = try await connection.run(
            Statement("SELECT pg_has_role(current_user, '\(Schema.ownerRole)', 'USAGE')"))
        if try !member.boolean(0, 0) {
            try await connection.run(Statement("GRANT \(Schema.ownerRole) TO CURRENT_USER"))
        }
    }

    private static func migrate(_ facts: Facts, on connection: PostgresConnection) async throws {
        guard facts.version < Schema.version else { return }
        var statements = ["BEGIN"]
        if facts.version == 0 {
            statements.append("CREATE SCHEMA roam AUTHORIZATION \(Schema.ownerRole)")
        }
        if facts.isSuperuser {
            // The first set-up has taken it away from everybody.
            statements.append("GRANT USAGE ON LANGUAGE plpgsql TO \(Schema.ownerRole)")
        }
        statements.append("SET LOCAL ROLE \(Schema.ownerRole)")
        statements += Schema.steps[Int(facts.version)...].flatMap { $0 }
        statements.append("UPDATE roam.schema_version SET version = \(Schema.version)")
        statements.append("COMMIT")
        try await connection.run(statements.map { Statement($0) }, limit: longLimit)
    }

    /// Takes away what a database gives to everybody.
    private static func close(
        _ facts: Facts, on connection: PostgresConnection
    ) async throws -> [String] {
        let database = quote(facts.database)
        try await connection.run(
            [
                Statement("REVOKE ALL ON DATABASE \(database) FROM PUBLIC"),
                Statement(
                    "GRANT CONNECT ON DATABASE \(database) TO \(Schema.userRole), \(Schema.pooledRole)"
                ),
            ], limit: limit)
        guard facts.isSuperuser else { return [SetupError.sharedThings.description] }
        try await connection.run(
            [
                Statement("REVOKE CREATE ON SCHEMA public FROM PUBLIC"),
                Statement("REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC"),
                Statement(revokingFunctions),
            ], limit: limit)
        return []
    }

    /// Takes functions away that would harm others.
    ///
    /// Large objects count for nobody, and advisory locks are in memory that all share. The sessions of
    /// a pooler have one role, which could end and interrupt all of them. Administrators who are no
    /// superusers end the connections of users whom they remove.
    private static let revokingFunctions = """
        DO $$
        DECLARE
            name regprocedure;
        BEGIN
            FOR name IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
                AND (proname ~ '^pg_(try_)?advisory_' OR proname ~ '^lo_' OR proname = 'lowrite'
                    OR proname IN ('pg_cancel_backend', 'pg_terminate_backend'))
            LOOP
                EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', name);
                IF name::text ~ '^pg_terminate_backend' THEN
                    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO \(Schema.ownerRole)', name);
                END IF;
            END LOOP;
        END $$
        """
}

extension ServerAddress {
    /// The same server with another database.
    fileprivate func connecting(to database: String) -> ServerAddress {
        var options = options
        options["dbname"] = database
        return ServerAddress(options)
    }
}
