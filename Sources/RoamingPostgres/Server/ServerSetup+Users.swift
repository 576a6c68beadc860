package import DBus
internal import DefaultsRoaming
internal import Postgres

/// The users of a server.
extension ServerSetup {
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
                let hasRole = try await RoleFacts(name, connection).exists
                if !hasRole, try await !hasAccount(name, connection) {
                    throw SetupError.noUser(name)
                }
                var statements = [Statement("BEGIN")]
                if hasRole {
                    statements.append(
                        Statement("REVOKE \(Schema.userRole) FROM \(quote(name))"))
                }
                statements += [
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

    /// Whether there is an account, even if its role was dropped.
    private static func hasAccount(
        _ name: String, _ connection: PostgresConnection
    ) async throws -> Bool {
        let results = try await connection.run(
            [
                Statement("BEGIN"), Statement("SET LOCAL ROLE \(Schema.ownerRole)"),
                Statement("SELECT FROM roam.account WHERE owner = $1", [.text(name)]),
                Statement("COMMIT"),
            ], limit: limit)
        return results[2].count > 0
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
}
