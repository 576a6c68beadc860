internal import DefaultsRoaming
internal import Postgres

/// The statements of the engine.
///
/// Row security limits each to the rows of the user. They name the owner nevertheless: it does not hold
/// for superusers and the owner of the tables.
struct Statements {
    /// What the server calls the user.
    private let user: String
    /// What begins each transaction: who asks, if the session belongs to nobody.
    let beginning: [Statement]

    /// The statements of a session of the user's own, or of those who have a token.
    init(token: PoolToken? = nil) {
        guard let token else {
            (user, beginning) = ("current_user", [])
            return
        }
        // In a query of its own, so that it is called once. Local settings end with the transaction, and
        // the next one may be in another session.
        user = "(SELECT roam.caller())"
        beginning = [
            Statement(
                """
                SELECT pg_catalog.set_config('\(Schema.tokenSetting)', $1, true),
                    pg_catalog.set_config('enable_bitmapscan', 'off', true)
                """, [.text(token.text)])
        ]
    }

    /// The name of a channel: an identifier without characters to quote.
    static func channelName(_ channel: [UInt8]) -> String {
        "roam_" + channel.hexadecimal
    }

    // MARK: Meeting

    /// The account, and what is known of a replica.
    func meeting(of replica: ReplicaID) -> Statement {
        Statement(
            """
            SELECT a.rev, a.purged, a.channel, s.poll_seconds, pg_is_in_recovery(),
                clock_timestamp(),
                EXISTS (SELECT FROM roam.lost l WHERE l.owner = \(user)
                    AND (l.pusher = $1 OR l.pusher IS NULL OR l.noticed < \(Self.longAgo))),
                r.name, r.seen, r.push, r.push_nonce, r.pulled, r.is_forgotten, r.visit,
                r.visit_rev, r.visit_before, r.is_rewound, a.dropped
            FROM roam.setting s, roam.account a
                LEFT JOIN roam.replica r ON r.owner = a.owner AND r.id = $1
            WHERE a.owner = \(user)
            """, [.uuid(replica.bytes)], isPrepared: true)
    }

    /// The time before which a replica that has pushed has had the time to keep what lost.
    private static let longAgo = "clock_timestamp() - interval '10 minutes'"

    /// Stores what the server is to remember of a replica, unless another process has done so meanwhile.
    func write(
        _ row: ReplicaRow, of replica: ReplicaID, named name: String, over visit: Visit?
    ) -> Statement {
        let values: [Parameter] = [
            .uuid(replica.bytes), .text(Self.shortened(name)),
            .integer(Int64(clamping: row.pulled)), .bytes(row.visit.bytes),
            .integer(Int64(clamping: row.visitRevision)), .bytes(row.visitBefore?.bytes),
            .boolean(row.isRewound),
        ]
        guard let visit else { return Statement(addition, values, isPrepared: true) }
        return Statement(
            """
            UPDATE roam.replica SET name = $2, pulled = $3, seen = clock_timestamp(), visit = $4,
                visit_rev = $5, visit_before = $6, is_rewound = $7
            WHERE owner = \(user) AND id = $1 AND visit = $8
            """, values + [.bytes(visit.bytes)], isPrepared: true)
    }

    /// Adds a replica.
    ///
    /// A new one needs no removal that was purged, also not one that was purged just now. The lock makes the
    /// next purge wait for its row.
    private var addition: String {
        """
        INSERT INTO roam.replica
            (owner, id, name, pulled, seen, visit, visit_rev, visit_before, is_rewound)
        VALUES (\(user), $1, $2,
            greatest($3, (SELECT purged FROM roam.account WHERE owner = \(user) FOR SHARE)),
            clock_timestamp(), $4, $5, $6, $7)
        ON CONFLICT (owner, id) DO NOTHING
        """
    }

    /// A name that the server takes: of at most 255 bytes, without NUL.
    private static func shortened(_ name: String) -> String {
        var name = name.filter { $0 != "\0" }
        while name.utf8.count > 255 { name.removeLast() }
        return name
    }

    /// Drops the rows of machines that do not come back, and the removals that all others have pulled.
    static let purge = Statement("SELECT roam.purge()", isPrepared: true)

    // MARK: Pulling

    /// Sets the planner right, which has no statistics and expects few rows.
    ///
    /// It would read all rows of the owner for each page, to sort them.
    static let plannerSetting = Statement("SET enable_bitmapscan = off")

    /// The versions of a page, which ends with the revision that reaches one of the bounds.
    ///
    /// The order by owner and revision is that of the index.
    func versions(
        after revision: UInt64, upTo last: UInt64, count: Int, bytes: Int64
    ) -> Statement {
        Statement(
            """
            WITH page AS MATERIALIZED (SELECT coalesce(
                (SELECT rev FROM (
                    SELECT rev, row_number() OVER sofar AS count,
                        sum(octet_length(archive)) OVER sofar AS bytes
                    FROM (SELECT owner, rev, archive FROM roam.entry
                        WHERE owner = \(user) AND rev > $1 AND rev <= $2
                        ORDER BY owner, rev LIMIT $3) AS first
                    WINDOW sofar AS (ORDER BY owner, rev ROWS UNBOUNDED PRECEDING)) AS sums
                WHERE count >= $3 OR bytes >= $4 ORDER BY rev LIMIT 1), $2) AS last)
            SELECT domain, key, rev, written, replica, archive FROM page, roam.entry
            WHERE owner = \(user) AND rev > $1 AND rev <= page.last
            ORDER BY owner, rev
            """,
            [
                .integer(Int64(clamping: revision)), .integer(Int64(clamping: last)),
                .integer(Int64(max(count, 1))), .integer(bytes),
            ], isPrepared: true)
    }

    /// What lost and a replica is to keep.
    func losers(for replica: ReplicaID) -> Statement {
        Statement(
            losers(where: "pusher = $1 OR pusher IS NULL OR noticed < \(Self.longAgo)"),
            [.uuid(replica.bytes)])
    }

    /// The first losers, up to ``LoserLimit``, each with the number of all of them.
    private func losers(where condition: String) -> String {
        """
        SELECT domain, key, name, written, replica, archive, total FROM (
            SELECT *, sum(coalesce(octet_length(archive), 0)) OVER sofar AS bytes,
                row_number() OVER sofar AS number, count(*) OVER () AS total
            FROM roam.lost WHERE owner = \(user) AND (\(condition))
            WINDOW sofar AS (ORDER BY rev, domain, key, name ROWS UNBOUNDED PRECEDING)) AS l
        WHERE number = 1 OR number <= \(LoserLimit.count) AND bytes <= \(LoserLimit.bytes)
        ORDER BY number
        """
    }

    // MARK: Pushing

    /// Begins the transaction of a push: locks the account, and reads what it is about.
    ///
    /// The results of the last three are the account, the replica and the versions.
    func beginPush(_ batch: Batch, of replica: ReplicaID) -> [Statement] {
        // The level first: it cannot be set after a query.
        [Statement("BEGIN ISOLATION LEVEL READ COMMITTED", isPrepared: true)] + beginning + [
            Statement(
                """
                UPDATE roam.account a SET rev = rev + 1 FROM roam.setting s
                WHERE a.owner = \(user)
                RETURNING a.rev, clock_timestamp(), a.bytes, a.keys,
                    coalesce(a.largest_bytes, s.largest_bytes),
                    coalesce(a.largest_keys, s.largest_keys), s.largest_value, a.channel,
                    s.poll_seconds
                """, isPrepared: true),
            Statement(
                """
                SELECT push, push_nonce, push_rev, outcomes, is_forgotten FROM roam.replica
                WHERE owner = \(user) AND id = $1
                """, [.uuid(replica.bytes)], isPrepared: true),
            Statement(
                """
                SELECT e.domain, e.key, e.rev, e.written, e.replica, e.archive
                FROM unnest($1, $2) AS k (domain, key)
                    JOIN roam.entry e ON e.owner = \(user) AND e.domain = k.domain
                        AND e.key = k.key
                """,
                [
                    .texts(batch.edits.map(\.key.domain)), .texts(batch.edits.map(\.key.name)),
                ], isPrepared: true),
        ]
    }

    /// Writes what becomes of a push, and ends its transaction.
    func endPush(
        _ batch: Batch, _ plan: PushPlan, of replica: ReplicaID, _ account: LockedAccount
    ) -> [Statement] {
        var statements: [Statement] = []
        if !plan.writes.isEmpty { statements.append(write(plan, replica, account)) }
        if !plan.losers.isEmpty { statements.append(keep(plan, batch, replica, account)) }
        if plan.writes.isEmpty, plan.losers.isEmpty {
            // Nobody has seen the revision, because the account is locked.
            statements.append(
                Statement("UPDATE roam.account SET rev = rev - 1 WHERE owner = \(user)"))
        }
        statements.append(note(batch, plan, of: replica, account))
        if !plan.writes.isEmpty, account.isAnnounced {
            statements.append(
                Statement(
                    "SELECT pg_notify($1, '')", [.text(Self.channelName(account.channel))],
                    isPrepared: true))
        }
        statements.append(Statement("COMMIT", isPrepared: true))
        return statements
    }

    private func write(
        _ plan: PushPlan, _ replica: ReplicaID, _ account: LockedAccount
    ) -> Statement {
        Statement(
            """
            INSERT INTO roam.entry AS e (owner, domain, key, rev, written, replica, archive)
            SELECT \(user), w.domain, w.key, $1, w.written, $2, w.archive
            FROM unnest($3, $4, $5, $6) AS w (domain, key, written, archive)
            ON CONFLICT (owner, domain, key) DO UPDATE SET rev = excluded.rev,
                written = excluded.written, replica = excluded.replica,
                archive = excluded.archive
            """,
            [
                .integer(Int64(clamping: account.revision)), .uuid(replica.bytes),
                .texts(plan.writes.map(\.edit.key.domain)),
                .texts(plan.writes.map(\.edit.key.name)),
                .times(plan.writes.map(\.time.microseconds)),
                .byteArrays(plan.writes.map(\.edit.archive)),
            ], isPrepared: true)
    }

    private func keep(
        _ plan: PushPlan, _ batch: Batch, _ replica: ReplicaID, _ account: LockedAccount
    ) -> Statement {
        Statement(
            """
            INSERT INTO roam.lost
                (owner, domain, key, name, rev, written, replica, archive, pusher, push)
            SELECT \(user), l.domain, l.key, l.name, $1, l.written, l.replica, l.archive, $2, $3
            FROM unnest($4, $5, $6, $7, $8, $9) AS l (domain, key, name, written, replica, archive)
            """,
            [
                .integer(Int64(clamping: account.revision)), .uuid(replica.bytes),
                .integer(Int64(clamping: batch.number)),
                .texts(plan.losers.map(\.key.domain)), .texts(plan.losers.map(\.key.name)),
                .texts(plan.losers.map(\.name)), .times(plan.losers.map(\.time.microseconds)),
                .uuids(plan.losers.map(\.replica.bytes)), .byteArrays(plan.losers.map(\.archive)),
            ], isPrepared: true)
    }

    private func note(
        _ batch: Batch, _ plan: PushPlan, of replica: ReplicaID, _ account: LockedAccount
    ) -> Statement {
        Statement(
            """
            UPDATE roam.replica SET push = $2, push_nonce = $3, push_rev = $4, outcomes = $5
            WHERE owner = \(user) AND id = $1
            """,
            [
                .uuid(replica.bytes), .integer(Int64(clamping: batch.number)),
                .uuid(batch.nonce), .integer(Int64(clamping: account.revision)),
                .bytes(StoredOutcomes.bytes(of: plan.outcomes)),
            ], isPrepared: true)
    }

    /// Notes that a batch was answered and not made.
    func noteRefused(_ batch: Batch, of replica: ReplicaID) -> Statement {
        Statement(
            """
            UPDATE roam.replica SET push = $2, push_nonce = $3, push_rev = NULL, outcomes = NULL
            WHERE owner = \(user) AND id = $1 AND push <= $2
            """,
            [
                .uuid(replica.bytes), .integer(Int64(clamping: batch.number)),
                .uuid(batch.nonce),
            ])
    }

    /// What lost in a batch that was made before, as far as nobody has kept it.
    func losers(of batch: Batch, from replica: ReplicaID) -> Statement {
        Statement(
            losers(where: "pusher = $1 AND push = $2"),
            [.uuid(replica.bytes), .integer(Int64(clamping: batch.number))])
    }

    /// Forgets losers that were kept.
    func deleteLosers(_ losers: [Loser]) -> Statement {
        Statement(
            "SELECT roam.drop_kept($1, $2, $3)",
            [
                .texts(losers.map(\.key.domain)), .texts(losers.map(\.key.name)),
                .texts(losers.map(\.name)),
            ])
    }

    /// Gives losers to whoever asks next, because the replica that was to keep them is gone.
    func orphanLosers(of replica: ReplicaID) -> Statement {
        Statement(
            "UPDATE roam.lost SET pusher = NULL WHERE owner = \(user) AND pusher = $1",
            [.uuid(replica.bytes)])
    }

    // MARK: Machines

    /// The replicas of the account.
    var machines: Statement {
        Statement(
            """
            SELECT id, name, seen FROM roam.replica WHERE owner = \(user) AND NOT is_forgotten
            ORDER BY name, id
            """)
    }

    /// Forgets a replica.
    ///
    /// The row stays for some days. After that, the revision of its last visit is known, so that the
    /// replica is not taken for one that a restored server has lost.
    func forget(_ replica: ReplicaID) -> Statement {
        Statement(
            """
            UPDATE roam.replica SET is_forgotten = true, outcomes = NULL
            WHERE owner = \(user) AND id = $1
            """, [.uuid(replica.bytes)])
    }
}
