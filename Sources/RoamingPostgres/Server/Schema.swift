internal import DefaultsRoaming
internal import Postgres

// Invariants
//
// 1. A step that was released is never changed. A change of the tables is another step.
// 2. All objects belong to the role `roam_owner`, which nobody can sign in as. Functions that run with its
//    rights name the schema of everything that they use.
// 3. A user reaches only rows with the user's own name: row security on each table with an owner.
// 4. No user may delete rows or update whole tables. PostgreSQL lets those who may lock a table against
//    everybody. Functions delete what a user may delete.
// 5. The planner keeps no statistics about these tables. Otherwise EXPLAIN would tell how often a name
//    occurs in the rows of others.
// 6. A session of the role `roam_pooled` belongs to nobody. Each of its transactions reaches the rows of the
//    user whose token it has set, and no rows without one. The tables hold only digests of tokens.

/// The tables on the server, in the schema `roam`.
enum Schema {
    /// The number of steps that this version of the program knows.
    static var version: Int64 { Int64(steps.count) }

    /// The role that the users are members of.
    static let userRole = "roam_user"
    /// The role that owns the tables.
    static let ownerRole = "roam_owner"
    /// The role of the sessions that a pooler shares among users.
    static let pooledRole = "roam_pooled"

    /// States of errors that the schema's own functions raise.
    enum State {
        /// A bound of the account would be exceeded.
        static let full = "RM001"
        /// The user has no account.
        static let noAccount = "RM002"
    }

    /// The steps, each one more than the one before.
    static let steps: [[String]] = [firstStep, pooling]

    /// Reads which version the server has.
    ///
    /// - Throws: ``EngineError`` if it is another one than this program's.
    static func requireCurrent(on connection: PostgresConnection, limit: Duration) async throws {
        let version: Int64
        do {
            let rows = try await connection.run(
                Statement("SELECT version FROM roam.schema_version"), limit: limit)
            version = rows.count == 1 ? try rows.integer(0, 0) ?? 0 : 0
        } catch let error as PostgresError where State.missing.contains(error.state ?? "") {
            throw EngineError(
                .refused,
                "the database is not set up, or you are not one of its users; its administrator runs "
                    + "'defaultsd-roam server init' and 'defaultsd-roam server add-user'")
        }
        if version > Self.version {
            throw EngineError(
                .refused,
                "the server was set up by a later version of defaultsd-roam; install that one here")
        }
        if version < Self.version {
            throw EngineError(
                .refused,
                "the server was set up by an earlier version of defaultsd-roam; its administrator "
                    + "runs 'defaultsd-roam server init' of this version")
        }
    }

    private static var firstStep: [String] {
        tables + security + counting + deleting(of: "session_user", "CREATE") + deletingRights
    }

    private static let tables = [
        "CREATE TABLE roam.schema_version (version bigint NOT NULL)",
        "INSERT INTO roam.schema_version VALUES (0)",
        // One row. With 0 seconds, the server announces changes.
        """
        CREATE TABLE roam.setting (
            only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
            poll_seconds bigint NOT NULL DEFAULT 0 CHECK (poll_seconds BETWEEN 0 AND 86400),
            largest_bytes bigint NOT NULL DEFAULT 268435456 CHECK (largest_bytes >= 0),
            largest_keys bigint NOT NULL DEFAULT 100000 CHECK (largest_keys >= 0),
            largest_value bigint NOT NULL DEFAULT 1048576 CHECK (largest_value >= 0))
        """,
        "INSERT INTO roam.setting DEFAULT VALUES",
        // The bounds are those of the setting if they are NULL. The other numbers are the revisions up to
        // which removals were purged and machines had been here whose rows were dropped.
        """
        CREATE TABLE roam.account (
            owner text COLLATE "C" PRIMARY KEY DEFAULT current_user,
            rev bigint NOT NULL DEFAULT 0 CHECK (rev >= 0),
            purged bigint NOT NULL DEFAULT 0 CHECK (purged >= 0),
            dropped bigint CHECK (dropped >= 0),
            channel uuid NOT NULL DEFAULT gen_random_uuid(),
            bytes bigint NOT NULL DEFAULT 0,
            keys bigint NOT NULL DEFAULT 0,
            largest_bytes bigint CHECK (largest_bytes >= 0),
            largest_keys bigint CHECK (largest_keys >= 0)) WITH (fillfactor = 50)
        """,
        // A row without an archive is a removal.
        """
        CREATE TABLE roam.entry (
            owner text COLLATE "C" NOT NULL DEFAULT current_user,
            domain text COLLATE "C" NOT NULL CHECK (octet_length(domain) <= 255),
            key text COLLATE "C" NOT NULL CHECK (octet_length(key) <= 1024),
            rev bigint NOT NULL CHECK (rev > 0),
            written timestamptz,
            replica uuid NOT NULL,
            archive bytea,
            PRIMARY KEY (owner, domain, key))
        """,
        "CREATE INDEX entry_rev ON roam.entry (owner, rev)",
        "CREATE INDEX entry_removed ON roam.entry (owner, rev) WHERE archive IS NULL",
        // What lost, until a replica has kept it. The pusher is the replica that is to keep it.
        """
        CREATE TABLE roam.lost (
            owner text COLLATE "C" NOT NULL DEFAULT current_user,
            domain text COLLATE "C" NOT NULL CHECK (octet_length(domain) <= 255),
            key text COLLATE "C" NOT NULL CHECK (octet_length(key) <= 1024),
            name text COLLATE "C" NOT NULL CHECK (octet_length(name) <= 64),
            rev bigint NOT NULL CHECK (rev > 0),
            written timestamptz,
            replica uuid NOT NULL,
            archive bytea,
            pusher uuid,
            push bigint,
            noticed timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (owner, domain, key, name))
        """,
        """
        CREATE TABLE roam.replica (
            owner text COLLATE "C" NOT NULL DEFAULT current_user,
            id uuid NOT NULL,
            name text NOT NULL CHECK (octet_length(name) <= 255),
            joined timestamptz NOT NULL DEFAULT clock_timestamp(),
            seen timestamptz NOT NULL,
            push bigint NOT NULL DEFAULT 0 CHECK (push >= 0),
            push_nonce uuid,
            push_rev bigint,
            outcomes bytea CHECK (octet_length(outcomes) <= 65536),
            pulled bigint NOT NULL DEFAULT 0 CHECK (pulled >= 0),
            visit bytea NOT NULL CHECK (octet_length(visit) = 24),
            visit_rev bigint NOT NULL DEFAULT 0,
            visit_before bytea CHECK (octet_length(visit_before) = 24),
            is_rewound boolean NOT NULL DEFAULT false,
            is_forgotten boolean NOT NULL DEFAULT false,
            PRIMARY KEY (owner, id)) WITH (fillfactor = 50)
        """,
    ]

    private static let owned = ["account", "entry", "lost", "replica"]

    private static var security: [String] {
        let policies = owned.flatMap { table in
            [
                "ALTER TABLE roam.\(table) ENABLE ROW LEVEL SECURITY",
                """
                CREATE POLICY own ON roam.\(table) TO \(userRole)
                    USING (owner = current_user) WITH CHECK (owner = current_user)
                """,
            ]
        }
        let columns = [
            "account": ["owner", "channel"], "entry": ["owner", "domain", "key", "rev", "archive"],
            "lost": ["owner", "domain", "key", "name", "archive", "pusher"],
            "replica": ["owner", "id", "name"],
        ]
        let statistics = owned.flatMap { table in
            (columns[table] ?? []).map {
                "ALTER TABLE roam.\(table) ALTER COLUMN \($0) SET STATISTICS 0"
            }
        }
        return policies + statistics
            + ["REVOKE ALL ON ALL TABLES IN SCHEMA roam FROM PUBLIC"] + rights(of: userRole)
    }

    private static func rights(of role: String) -> [String] {
        [
            "GRANT USAGE ON SCHEMA roam TO \(role)",
            "GRANT SELECT ON roam.schema_version, roam.setting TO \(role)",
            // The bounds and the counts are not the user's to change.
            "GRANT SELECT, UPDATE (rev, purged) ON roam.account TO \(role)",
            // Invariant 4.
            """
            GRANT SELECT, INSERT, UPDATE (rev, written, replica, archive) ON roam.entry
                TO \(role)
            """,
            "GRANT SELECT, INSERT, UPDATE (pusher) ON roam.lost TO \(role)",
            """
            GRANT SELECT, INSERT, UPDATE (name, seen, push, push_nonce, push_rev, outcomes, pulled,
                    visit, visit_rev, visit_before, is_rewound, is_forgotten)
                ON roam.replica TO \(role)
            """,
        ]
    }

    /// Functions that count what an account has, for all clients: a hostile one may use any SQL.
    private static var counting: [String] {
        let events = [
            ("INSERT", "NEW TABLE AS new_rows"), ("DELETE", "OLD TABLE AS old_rows"),
            ("UPDATE", "OLD TABLE AS old_rows NEW TABLE AS new_rows"),
        ]
        let triggers = ["entry", "lost"].flatMap { table in
            events.map { event, rows in
                """
                CREATE TRIGGER count_\(event.lowercased()) AFTER \(event) ON roam.\(table)
                    REFERENCING \(rows) FOR EACH STATEMENT EXECUTE FUNCTION roam.count_rows()
                """
            }
        }
        return [countRows, countReplicas] + triggers + [
            """
            CREATE TRIGGER count_insert AFTER INSERT ON roam.replica
                FOR EACH ROW EXECUTE FUNCTION roam.count_replicas()
            """,
            """
            REVOKE EXECUTE ON FUNCTION roam.count_rows(), roam.count_replicas() FROM PUBLIC
            """,
        ]
    }

    /// What a row counts for: ``Room`` has the same rule.
    private static let size =
        "octet_length(domain) + octet_length(key) + coalesce(octet_length(archive), 0) + 100"

    private static let countRows = """
        CREATE FUNCTION roam.count_rows() RETURNS trigger
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            added bigint := 0;
            grown bigint := 0;
            largest bigint := 0;
            who text;
            several boolean := false;
            spare bigint;
            former bigint;
            former_keys bigint;
            bounds record;
        BEGIN
            IF TG_OP <> 'DELETE' THEN
                SELECT min(owner), min(owner) <> max(owner), count(*), sum(\(size)),
                        max(octet_length(archive))
                    INTO who, several, added, grown, largest FROM new_rows;
            END IF;
            IF TG_OP <> 'INSERT' THEN
                SELECT coalesce(min(owner), who), min(owner) <> max(owner), count(*), sum(\(size))
                    INTO who, several, former_keys, former FROM old_rows;
                added := added - former_keys;
                grown := coalesce(grown, 0) - coalesce(former, 0);
            END IF;
            IF who IS NULL THEN
                RETURN NULL;
            END IF;
            IF several THEN
                RAISE EXCEPTION 'a statement changes rows of several owners'
                    USING HINT = 'Change the rows of one owner at a time.';
            END IF;
            IF added <> 0 OR grown <> 0 THEN
                UPDATE roam.account SET bytes = bytes + grown, keys = keys + added
                    WHERE owner = who;
                IF NOT FOUND AND TG_OP <> 'DELETE' THEN
                    RAISE EXCEPTION 'there is no account for this user'
                        USING ERRCODE = '\(State.noAccount)';
                END IF;
            END IF;
            IF added > 0 OR grown > 0 OR largest > 0 THEN
                -- Removals, and what they replace, have a quarter more: an account that is full must be
                -- able to shrink.
                spare := CASE WHEN largest IS NULL OR TG_TABLE_NAME = 'lost' THEN 4 ELSE 0 END;
                SELECT a.bytes > b.bytes + coalesce(b.bytes / nullif(spare, 0), 0) AND grown > 0
                        OR a.keys > b.keys + coalesce(b.keys / nullif(spare, 0), 0) AND added > 0
                        AS is_full, largest > s.largest_value AS is_too_large
                    INTO bounds FROM roam.account a, roam.setting s,
                        LATERAL (SELECT coalesce(a.largest_bytes, s.largest_bytes),
                            coalesce(a.largest_keys, s.largest_keys)) AS b (bytes, keys)
                    WHERE a.owner = who;
                IF bounds.is_full OR bounds.is_too_large THEN
                    RAISE EXCEPTION 'there is no room for it' USING ERRCODE = '\(State.full)';
                END IF;
            END IF;
            RETURN NULL;
        END $$
        """

    /// How long a machine may be away before it is dropped and has to join as a new one.
    private static let longestAbsence = "180 days"

    /// Functions that delete rows of the user who has signed in.
    ///
    /// - Parameters:
    ///   - user: The expression for the user.
    ///   - verb: Whether they are made or replaced.
    private static func deleting(of user: String, _ verb: String) -> [String] {
        [
            // The account is always locked first, so that two replicas do not wait for each other.
            """
            \(verb) FUNCTION roam.purge() RETURNS void
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            DECLARE
                reached bigint;
            BEGIN
                PERFORM FROM roam.account WHERE owner = \(user) FOR UPDATE;
                -- A machine that is here at this moment holds the lock of its row, and is not waited for.
                WITH gone AS (
                    DELETE FROM roam.replica WHERE owner = \(user) AND id IN (
                        SELECT id FROM roam.replica WHERE owner = \(user)
                            AND (seen < clock_timestamp() - interval '\(longestAbsence)'
                                OR is_forgotten AND seen < clock_timestamp() - interval '7 days')
                        FOR UPDATE SKIP LOCKED) RETURNING visit_rev)
                SELECT max(visit_rev) INTO reached FROM gone;
                IF reached IS NOT NULL THEN
                    UPDATE roam.account SET dropped = greatest(dropped, reached)
                        WHERE owner = \(user);
                END IF;
                SELECT min(pulled) INTO reached FROM roam.replica
                    WHERE owner = \(user) AND NOT is_forgotten
                        AND seen > clock_timestamp() - interval '\(longestAbsence)';
                WITH gone AS (
                    DELETE FROM roam.entry
                    WHERE owner = \(user) AND archive IS NULL AND rev <= reached RETURNING rev)
                SELECT max(rev) INTO reached FROM gone;
                IF reached IS NOT NULL THEN
                    UPDATE roam.account SET purged = greatest(purged, reached)
                        WHERE owner = \(user);
                END IF;
            END $$
            """,
            """
            \(verb) FUNCTION roam.drop_kept(domains text[], keys text[], names text[]) RETURNS void
                LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
                DELETE FROM roam.lost l USING unnest(domains, keys, names) AS k (domain, key, name)
                WHERE l.owner = \(user) AND l.domain = k.domain AND l.key = k.key
                    AND l.name = k.name
            $$
            """,
        ]
    }

    private static let deletingRights = [
        """
        REVOKE EXECUTE ON FUNCTION roam.purge(), roam.drop_kept(text[], text[], text[]) FROM PUBLIC
        """,
        """
        GRANT EXECUTE ON FUNCTION roam.purge(), roam.drop_kept(text[], text[], text[])
            TO \(userRole)
        """,
    ]

    /// What lets a pooler share sessions among users.
    private static var pooling: [String] {
        let policies = owned.map { table in
            // A query calls the function once, and not for each row.
            """
            CREATE POLICY pooled ON roam.\(table) TO \(pooledRole)
                USING (owner = (SELECT roam.caller())) WITH CHECK (owner = (SELECT roam.caller()))
            """
        }
        return [tokens, caller] + policies + rights(of: pooledRole)
            + deleting(of: "roam.caller()", "CREATE OR REPLACE") + [
                """
                REVOKE EXECUTE ON FUNCTION roam.caller() FROM PUBLIC
                """,
                """
                GRANT EXECUTE ON FUNCTION roam.caller() TO \(userRole), \(pooledRole)
                """,
                """
                GRANT EXECUTE ON FUNCTION roam.purge(), roam.drop_kept(text[], text[], text[])
                    TO \(pooledRole)
                """,
            ]
    }

    /// Nobody but the owner and superusers may read them.
    private static let tokens = """
        CREATE TABLE roam.token (
            digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
            owner text COLLATE "C" NOT NULL REFERENCES roam.account (owner) ON DELETE CASCADE,
            made timestamptz NOT NULL DEFAULT clock_timestamp())
        """

    /// The user on whose behalf a transaction runs; NULL if it has set no token that is valid.
    ///
    /// The setting is the transaction's own, and it is the secret itself. So nobody can set that of
    /// another user, and nothing is left of it in the session.
    private static let caller = """
        CREATE FUNCTION roam.caller() RETURNS text
            LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            IF session_user <> '\(pooledRole)' THEN
                RETURN session_user;
            END IF;
            RETURN (SELECT owner FROM roam.token WHERE digest =
                sha256(convert_to(current_setting('\(tokenSetting)', true), 'UTF8')));
        END $$
        """

    /// The setting of a transaction that has the token.
    static let tokenSetting = "roam.token"

    private static let countReplicas = """
        CREATE FUNCTION roam.count_replicas() RETURNS trigger
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            IF NOT EXISTS (SELECT FROM roam.account WHERE owner = NEW.owner) THEN
                RAISE EXCEPTION 'there is no account for this user'
                    USING ERRCODE = '\(State.noAccount)';
            END IF;
            -- Rows of machines that were forgotten stay for a while, and are bounded, too.
            IF (SELECT count(*) FILTER (WHERE NOT is_forgotten) > 200 OR count(*) > 2000
                    FROM roam.replica WHERE owner = NEW.owner) THEN
                RAISE EXCEPTION 'the account has too many machines; forget some of them'
                    USING ERRCODE = '\(State.full)';
            END IF;
            RETURN NULL;
        END $$
        """
}

extension Schema.State {
    /// PostgreSQL's states for a table, schema or right that is not there.
    fileprivate static let missing: Set = ["42P01", "3F000", "42501"]
}
