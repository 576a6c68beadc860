import DefaultsRoaming
import SQLite

extension DirectoryState {
    /// Does what is done once a day: garbage is dropped, and others learn what this replica has joined.
    ///
    /// An acknowledgement alone is written only here, so that two replicas never answer each other.
    func maintain(onDay day: Int64) throws(SQLiteError) {
        guard day != own.day else { return }
        try change { () throws(SQLiteError) in
            own.day = day
            // Days on which this replica was there, whatever the clock says.
            try connection.run("UPDATE directory_snapshot SET idle = idle + 1")
            try collect()
            if !hasNewContent, try hasUnpublishedJoins() { try beginFile(isNew: false) }
        }
    }

    /// Whether this replica has joined more than its file says.
    private func hasUnpublishedJoins() throws(SQLiteError) -> Bool {
        try connection.hasRow(
            """
            SELECT 1 FROM directory_snapshot AS snapshot WHERE NOT EXISTS (
                SELECT 1 FROM directory_joined AS joined
                WHERE joined.replica = ? AND joined.other = snapshot.replica
                    AND joined.content >= snapshot.content)
            """, [own.replica.value])
    }

    private func collect() throws(SQLiteError) {
        if try connection.hasRow("SELECT 1 FROM directory_stable") {
            let late = try lateReplicas()
            for (replica, idle) in late where idle >= Self.longestAbsence {
                own.revision += 1
                for key in try takeOver(replica) { try settle(key) }
            }
            guard late.isEmpty else { return }
            try dropGarbage()
            try connection.run("DELETE FROM directory_stable")
        }
        try findGarbage()
    }

    /// The replicas that have not joined yet what was there when the garbage was found.
    private func lateReplicas() throws(SQLiteError) -> [(replica: ReplicaID, idle: Int64)] {
        try connection.rows(
            """
            SELECT replica, idle FROM directory_snapshot AS snapshot WHERE EXISTS (
                SELECT 1 FROM directory_stable AS stable
                WHERE stable.replica != snapshot.replica AND NOT EXISTS (
                    SELECT 1 FROM directory_joined AS joined
                    WHERE joined.replica = snapshot.replica AND joined.other = stable.replica
                        AND joined.content >= stable.content))
            """
        ) { (replica: $0.replica(at: 0), idle: $0.integer(at: 1)) }
    }

    /// Versions in this replica's file that are covered, or older than another of the same replica, or the
    /// only one of their key and a removal.
    ///
    /// Several replicas may vouch for a removal, and each of them drops it.
    private static let garbageHeads = """
        voucher = ?1 AND (EXISTS (
            SELECT 1 FROM directory_cover AS cover
            WHERE cover.domain = directory_head.domain AND cover.key = directory_head.key
                AND cover.replica = directory_head.replica
                AND cover.counter >= directory_head.counter)
        OR EXISTS (
            SELECT 1 FROM directory_head AS later
            WHERE later.domain = directory_head.domain AND later.key = directory_head.key
                AND later.replica = directory_head.replica
                AND later.counter > directory_head.counter)
        OR archive IS NULL AND NOT EXISTS (
            SELECT 1 FROM directory_head AS other
            WHERE other.domain = directory_head.domain AND other.key = directory_head.key
                AND (other.replica != directory_head.replica
                    OR other.counter != directory_head.counter)))
        """

    /// Covers in this replica's file whose versions no file has.
    private static let garbageCovers = """
        published = 1 AND NOT EXISTS (
            SELECT 1 FROM directory_head AS head
            WHERE head.domain = directory_cover.domain AND head.key = directory_cover.key
                AND head.replica = directory_cover.replica
                AND head.counter <= directory_cover.counter)
        """

    private func findGarbage() throws(SQLiteError) {
        try connection.run(
            "UPDATE directory_head SET garbage = 1 WHERE garbage = 0 AND \(Self.garbageHeads)",
            [own.replica.value])
        let hasHeads = connection.changedRows > 0
        try connection.run(
            "UPDATE directory_cover SET garbage = 1 WHERE garbage = 0 AND \(Self.garbageCovers)")
        guard hasHeads || connection.changedRows > 0 else { return }
        try connection.run(
            "INSERT INTO directory_stable SELECT replica, content FROM directory_snapshot")
        // If something is new in this transaction, the file gets its next content at the end.
        try connection.run(
            "INSERT INTO directory_stable VALUES (?, ?)",
            [own.replica.value, .integer(own.content + (hasNewContent ? 1 : 0))])
    }

    private func dropGarbage() throws(SQLiteError) {
        try connection.run(
            "DELETE FROM directory_head WHERE garbage = 1 AND \(Self.garbageHeads)",
            [own.replica.value])
        let hasHeads = connection.changedRows > 0
        try connection.run(
            """
            UPDATE directory_cover SET published = 0, garbage = 0
            WHERE garbage = 1 AND \(Self.garbageCovers)
            """)
        if hasHeads || connection.changedRows > 0 { hasNewContent = true }
        // What is not garbage any more may be found again.
        try connection.run("UPDATE directory_head SET garbage = 0 WHERE garbage = 1")
        try connection.run("UPDATE directory_cover SET garbage = 0 WHERE garbage = 1")
    }
}

// MARK: Orphans

extension DirectoryState {
    /// Takes orphans for removed, if the state is closed (7).
    func settleOrphans() throws(SQLiteError) {
        let orphans = try connection.rows(
            "SELECT domain, key FROM directory_shown WHERE orphan = 1 AND archive IS NOT NULL"
        ) { $0.key(at: 0) }
        guard !orphans.isEmpty, try isClosed() else { return }
        try change { () throws(SQLiteError) in
            own.revision += 1
            for key in orphans {
                try connection.run(
                    """
                    UPDATE directory_shown SET archive = NULL, revision = ?
                    WHERE domain = ? AND key = ?
                    """, [.integer(own.revision)] + key.values)
            }
        }
    }

    /// Whether all files are joined that the writers of the joined files had joined.
    private func isClosed() throws(SQLiteError) -> Bool {
        try !connection.hasRow(
            """
            SELECT 1 FROM directory_joined AS joined
            WHERE joined.replica != ?1 AND joined.other != ?1 AND joined.other NOT IN (
                SELECT replica FROM directory_forgotten)
            AND NOT EXISTS (
                SELECT 1 FROM directory_snapshot AS snapshot
                WHERE snapshot.replica = joined.other AND snapshot.content >= joined.content)
            """, [own.replica.value])
    }
}
