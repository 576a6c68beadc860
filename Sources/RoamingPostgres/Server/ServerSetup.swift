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

    /// A user who may roam.
    package struct User: Sendable, Equatable {
        /// The name of the role.
        package let name: String
        /// How many rows there are, with removals and what lost.
        package let keys: Int64
        /// Their size.
        package let bytes: Int64
        /// How many machines there are.
        package let machines: Int64
        /// When the last of them was there, in microseconds since 1970; nil if none ever was.
        package let seen: Int64?
        /// Whether the user was not removed.
        package let mayRoam: Bool
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

    /// Lets a user roam: makes the role if it is missing, and an account for it.
    ///
    /// The role gets no password. With SCRAM, the administrator sets one.
    ///
    /// - Parameters:
    ///   - name: The name of the role.
    ///   - connections: How many machines may be connected at once.
    ///   - address: The server.
    ///   - loop: The loop, which runs.
    /// - Throws: ``SetupError``.
    package static func addUser(
        _ name: String, connections: Int = 20, at address: String, on loop: EventLoop
    ) async throws {
        try await addUsers([name], connections: connections, at: address, on: loop)
    }

    /// Lets users roam, one after the other over one connection.
    ///
    /// - Throws: ``SetupError`` about the first one that cannot; those before it may roam.
    package static func addUsers(
        _ names: [String], connections: Int = 20, at address: String, on loop: EventLoop
    ) async throws {
        let address = try ServerAddress(address)
        try await reporting(address) {
            try await connected(to: address, on: loop) { connection in
                try await Schema.requireCurrent(on: connection, limit: limit)
                for name in names { try await add(name, connections, on: connection) }
            }
        }
    }

    private static func add(
        _ name: String, _ connections: Int, on connection: PostgresConnection
    ) async throws {
        let role = try await RoleFacts(name, connection)
        guard !role.isPowerful, name != Schema.pooledRole else { throw SetupError.powerful(name) }
        let quoted = quote(name)
        var statements = ["BEGIN"]
        if !role.exists { statements.append("CREATE ROLE \(quoted) LOGIN") }
        statements.append("ALTER ROLE \(quoted) CONNECTION LIMIT \(connections)")
        statements += sessionLimits.map { "ALTER ROLE \(quoted) SET \($0)" }
        statements += [
            "GRANT \(Schema.userRole) TO \(quoted)", "SET LOCAL ROLE \(Schema.ownerRole)",
        ]
        try await connection.run(
            statements.map { Statement($0) } + [
                Statement(
                    "INSERT INTO roam.account (owner) VALUES ($1) ON CONFLICT DO NOTHING",
                    [.text(name)]), Statement("COMMIT"),
            ], limit: limit)
    }

    /// The settings of a role in whose sessions users run statements.
    private static let sessionLimits = [
        "statement_timeout = '30s'", "lock_timeout = '10s'",
        "idle_in_transaction_session_timeout = '10s'",
    ]

    /// Makes tokens with which users roam through a pooler: one for each of them.
    ///
    /// The server does not know a token, so it cannot show it again. A user may have several.
    ///
    /// - Returns: The tokens, in the order of the users.
    /// - Throws: ``SetupError``.
    package static func addTokens(
        for names: [String], at address: String, on loop: EventLoop
    ) async throws -> [PoolToken] {
        let address = try ServerAddress(address)
        let tokens = names.map { _ in PoolToken.random() }
        try await reporting(address) {
            try await connected(to: address, on: loop) { connection in
                try await Schema.requireCurrent(on: connection, limit: limit)
                let results = try await connection.run(
                    [
                        Statement("BEGIN"), Statement("SET LOCAL ROLE \(Schema.ownerRole)"),
                        Statement(
                            """
                            INSERT INTO roam.token (digest, owner)
                            SELECT sha256(convert_to(t.token, 'UTF8')), t.owner
                            FROM unnest($1, $2) AS t (token, owner) JOIN roam.account USING (owner)
                                JOIN pg_roles ON rolname = owner
                            WHERE pg_has_role(oid, '\(Schema.userRole)', 'MEMBER') RETURNING owner
                            """, [.texts(tokens.map(\.text)), .texts(names)]),
                    ], limit: longLimit)
                let known = Set(
                    try (0..<results[2].count).map { row in try results[2].text(row, 0) })
                if let name = names.first(where: { !known.contains($0) }) {
                    throw SetupError.mayNotRoam(name)
                }
                try await connection.run(Statement("COMMIT"), limit: limit)
            }
        }
        return tokens
    }

    /// Does not let a user roam any more.
    ///
    /// The role stays, because it may be used for other things. It cannot reach the tables any more, and
    /// its connections end.
    ///
    /// - Parameter withData: Whether to remove what the user has stored.
    /// - Throws: ``SetupError``.
    package static func removeUser(
        _ name: String, withData: Bool, at address: String, on loop: EventLoop
    ) async throws {
        let address = try ServerAddress(address)
        try await reporting(address) {
            try await connected(to: address, on: loop) { connection in
                try await Schema.requireCurrent(on: connection, limit: limit)
                guard try await RoleFacts(name, connection).exists else {
                    throw SetupError.noUser(name)
                }
                var statements = [
                    Statement("BEGIN"),
                    Statement("REVOKE \(Schema.userRole) FROM \(quote(name))"),
                    Statement("SET LOCAL ROLE \(Schema.ownerRole)"),
                    Statement("DELETE FROM roam.token WHERE owner = $1", [.text(name)]),
                ]
                if withData {
                    // The account last: the others are counted in it.
                    for table in ["entry", "lost", "replica", "account"] {
                        statements.append(
                            Statement("DELETE FROM roam.\(table) WHERE owner = $1", [.text(name)]))
                    }
                }
                try await connection.run(statements + [Statement("COMMIT")], limit: longLimit)
                try await connection.run(
                    Statement(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE usename = $1::text AND datname = current_database()
                        """, [.text(name)]), limit: limit)
            }
        }
    }

    /// The users who have an account.
    ///
    /// - Throws: ``SetupError``.
    package static func users(at address: String, on loop: EventLoop) async throws -> [User] {
        let address = try ServerAddress(address)
        return try await reporting(address) {
            try await connected(to: address, on: loop) { connection in
                try await Schema.requireCurrent(on: connection, limit: limit)
                let results = try await connection.run(
                    [
                        Statement("BEGIN"), Statement("SET LOCAL ROLE \(Schema.ownerRole)"),
                        Statement(
                            """
                            SELECT a.owner, a.keys, a.bytes, count(r.id), max(r.seen), EXISTS (
                                SELECT FROM pg_roles WHERE rolname = a.owner
                                    AND pg_has_role(oid, '\(Schema.userRole)', 'MEMBER'))
                            FROM roam.account a LEFT JOIN roam.replica r
                                ON r.owner = a.owner AND NOT r.is_forgotten
                            GROUP BY a.owner ORDER BY a.owner
                            """), Statement("COMMIT"),
                    ], limit: longLimit)
                let rows = results[2]
                return try (0..<rows.count).map { row in
                    User(
                        name: try rows.text(row, 0), keys: try rows.integer(row, 1) ?? 0,
                        bytes: try rows.integer(row, 2) ?? 0,
                        machines: try rows.integer(row, 3) ?? 0, seen: try rows.time(row, 4),
                        mayRoam: try rows.boolean(row, 5))
                }
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

    static let limit = Duration.seconds(30)
    /// For statements that go through many rows.
    private static let longLimit = Duration.seconds(3600)

    private static func connected<Value: Sendable>(
        to address: ServerAddress, on loop: EventLoop,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await PostgresConnection.open(address.options, on: loop)
        do {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    private static func reporting<Value: Sendable>(
        _ address: ServerAddress, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw SetupError("\(address): \(error)")
        } catch let error as EngineError {
            throw SetupError("\(address): \(error)")
        }
    }

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

    /// What a role is.
    private struct RoleFacts {
        let exists: Bool
        /// Whether row security does not hold for it.
        let isPowerful: Bool

        init(_ name: String, _ connection: PostgresConnection) async throws {
            let rows = try await connection.run(
                Statement(
                    """
                    SELECT rolsuper OR rolbypassrls OR rolreplication OR rolcreaterole
                        OR pg_has_role(oid, $2::text, 'MEMBER')
                    FROM pg_roles WHERE rolname = $1::text
                    """, [.text(name), .text(Schema.ownerRole)]))
            exists = rows.count == 1
            isPowerful = exists ? try rows.boolean(0, 0) : false
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

    /// A name as an identifier.
    static func quote(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}

extension ServerAddress {
    /// The same server with another database.
    fileprivate func connecting(to database: String) -> ServerAddress {
        var options = options
        options["dbname"] = database
        return ServerAddress(options)
    }
}

/// Why the set-up of a server did not work.
package struct SetupError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What failed, why, and what to do: a sentence.
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    static let newer = SetupError(
        "the tables are of a later version of defaultsd-roam; use that version")
    static let tooOld = SetupError("the server is older than PostgreSQL 13; use a later one")
    static let noRights = SetupError("the role may not create roles; use one that may")
    static let sharedThings = SetupError(
        "users can make large objects, which have no bound, and advisory locks, whose memory all "
            + "share; run 'defaultsd-roam server init' as a superuser to prevent both")

    static func encoding(_ database: String) -> SetupError {
        SetupError(
            "the database '\(database)' has another encoding than UTF8; use another database")
    }

    static func powerful(_ name: String) -> SetupError {
        SetupError(
            "'\(name)' is a role with rights over others, for which row security does not hold; "
                + "use another role for roaming")
    }

    static func mayNotRoam(_ name: String) -> SetupError {
        SetupError("'\(name)' may not roam; run 'defaultsd-roam server add-user' first")
    }

    static func noUser(_ name: String) -> SetupError {
        SetupError("there is no role '\(name)'")
    }
}
