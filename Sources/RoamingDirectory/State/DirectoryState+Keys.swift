import DefaultsRoaming
import SQLite

/// The versions of a key.
struct KeyVersions {
    /// All that files have, with the replica that vouches for each.
    var heads: [(voucher: ReplicaID, head: Head)]
    /// What is replaced, or kept as lost.
    var covers: VersionVector

    /// The versions that nothing replaces, the latest of each replica.
    var live: [Head] {
        var latest: [ReplicaID: Head] = [:]
        for (_, head) in heads {
            let other = latest[head.dot.replica]
            let isLater =
                other.map {
                    ($0.dot.counter, $0) < (head.dot.counter, head)
                } ?? true
            if isLater { latest[head.dot.replica] = head }
        }
        return latest.values.filter { !covers.covers($0.dot) }
    }
}

/// The version of a key that the replica was told.
struct Shown {
    var head: Head
    var revision: Int64
    /// Whether it is in no file any more.
    var isOrphan: Bool
}

extension DirectoryState {
    func versions(of key: RoamingKey) throws(SQLiteError) -> KeyVersions {
        let heads = try connection.rows(
            """
            SELECT voucher, replica, counter, time, archive FROM directory_head
            WHERE domain = ? AND key = ?
            """, key.values
        ) { (voucher: $0.replica(at: 0), head: $0.head(at: 1)) }
        let dots = try connection.rows(
            "SELECT replica, counter FROM directory_cover WHERE domain = ? AND key = ?", key.values
        ) { Dot($0.replica(at: 0), $0.integer(at: 1)) }
        var covers = VersionVector()
        for dot in dots { covers.add(dot) }
        return KeyVersions(heads: heads, covers: covers)
    }

    func shown(of key: RoamingKey) throws(SQLiteError) -> Shown? {
        try connection.rows(
            """
            SELECT replica, counter, time, archive, revision, orphan FROM directory_shown
            WHERE domain = ? AND key = ?
            """, key.values
        ) { row in
            Shown(
                head: row.head(at: 0), revision: row.integer(at: 4),
                isOrphan: row.integer(at: 5) != 0)
        }.first
    }

    func show(_ head: Head, of key: RoamingKey, at revision: Int64) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO directory_shown
            (domain, key, replica, counter, time, archive, revision) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, key.values + head.values + [.integer(revision)])
    }

    /// What a writer has seen who knows the shown version of a key.
    ///
    /// It has not seen versions that lost to the shown one, except those of the same value.
    func mark(of key: RoamingKey) throws(SQLiteError) -> VersionMark {
        guard let shown = try shown(of: key) else {
            return VersionMark(revision: UInt64(own.revision))
        }
        let versions = try versions(of: key)
        var seen = versions.covers
        seen.add(shown.head.dot)
        let live = versions.live
        if live.count > 1 {
            let value = ValueDigest(of: shown.head.archive)
            for head in live where ValueDigest(of: head.archive) == value { seen.add(head.dot) }
        }
        return VersionMark(revision: UInt64(shown.revision), context: seen.bytes)
    }

    /// Brings the shown version of a key, and the losers, up to date with its versions.
    ///
    /// The revision is that of the transaction under way.
    func settle(_ key: RoamingKey) throws(SQLiteError) {
        let versions = try versions(of: key)
        let live = versions.live
        let known = try shown(of: key)
        guard let winner = live.max() else {
            if let known, !known.isOrphan { try setOrphan(key, true) }
            return
        }
        if winner != known?.head {
            try show(winner, of: key, at: own.revision)
        } else if known?.isOrphan == true {
            try setOrphan(key, false)
        }
        for (voucher, head) in versions.heads where voucher == own.replica {
            if versions.covers.covers(head.dot) {
                try removeLoser(head.loserName)
            } else if head.dot != winner.dot, live.contains(head) {
                if ValueDigest(of: head.archive) != ValueDigest(of: winner.archive) {
                    try addLoser(head, of: key)
                } else if try !isOnlyInFormerFiles(winner, versions) {
                    // Else an edit of a writer who knew only the winner would conflict with it.
                    try withdraw(head.dot, of: key, versions)
                }
            }
        }
    }

    /// Whether no file has a version but those of names that this machine has had before, so that it may
    /// be that of a copy (invariant 11).
    ///
    /// If such a name was forgotten, its versions are in files of others, and they stay there.
    func isOnlyInFormerFiles(
        _ version: Head, _ versions: KeyVersions
    ) throws(SQLiteError) -> Bool {
        guard try isFormer(version.dot.replica) else { return false }
        for (voucher, head) in versions.heads where head == version {
            if try !isFormer(voucher) { return false }
        }
        return true
    }

    /// Whether this machine has had a name before.
    private func isFormer(_ replica: ReplicaID) throws(SQLiteError) -> Bool {
        try connection.hasRow("SELECT 1 FROM directory_former WHERE replica = ?", [replica.value])
    }

    /// Takes a version out of the file of this replica: it lost and is kept, or is not needed.
    ///
    /// Others may vouch for it, too, or for an earlier one of the same replica. They learn from this
    /// replica's file that both are replaced.
    private func withdraw(
        _ dot: Dot, of key: RoamingKey, _ versions: KeyVersions
    ) throws(SQLiteError) {
        let isListed = versions.heads.contains { voucher, head in
            voucher != own.replica && head.dot.replica == dot.replica
                && head.dot.counter <= dot.counter
        }
        try cover(dot, of: key, isPublished: isListed)
        try connection.run(
            """
            DELETE FROM directory_head WHERE domain = ? AND key = ? AND voucher = ? AND replica = ?
            """, key.values + [own.replica.value, dot.replica.value])
        hasNewContent = true
    }

    private func setOrphan(_ key: RoamingKey, _ isOrphan: Bool) throws(SQLiteError) {
        try connection.run(
            "UPDATE directory_shown SET orphan = ? WHERE domain = ? AND key = ?",
            [.integer(isOrphan ? 1 : 0)] + key.values)
    }

    /// Notes that versions of others are replaced, or kept as lost.
    ///
    /// - Parameter isPublished: Whether the file of this replica says so.
    /// - Returns: Whether this was not known.
    @discardableResult
    func cover(_ dot: Dot, of key: RoamingKey, isPublished: Bool) throws(SQLiteError) -> Bool {
        try connection.run(
            """
            INSERT INTO directory_cover (domain, key, replica, counter, published)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                garbage = CASE WHEN excluded.published THEN 0 ELSE garbage END,
                published = max(published, excluded.published),
                counter = max(counter, excluded.counter)
            WHERE excluded.counter > counter OR excluded.published
            """,
            key.values + [
                dot.replica.value, .integer(dot.counter), .integer(isPublished ? 1 : 0),
            ])
        return connection.changedRows > 0
    }
}

// MARK: What lost

extension DirectoryState {
    func addLoser(_ head: Head, of key: RoamingKey) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR IGNORE INTO directory_loser
            (name, domain, key, replica, counter, time, archive) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, [.text(head.loserName)] + key.values + head.values)
    }

    private func removeLoser(_ name: String) throws(SQLiteError) {
        try connection.run("DELETE FROM directory_loser WHERE name = ?", [.text(name)])
    }

    /// What is to be kept on this machine, up to ``LoserLimit``, and whether there is more.
    func losers() throws(SQLiteError) -> (first: [Loser], hasMore: Bool) {
        let sizes = try connection.rows(
            """
            SELECT name, coalesce(length(archive), 0) FROM directory_loser ORDER BY name LIMIT ?
            """, [.integer(Int64(LoserLimit.count) + 1)]
        ) { (name: $0.text(at: 0) ?? "", bytes: Int($0.integer(at: 1))) }
        let count = LoserLimit.fits(sizes.map(\.bytes))
        guard count > 0 else { return ([], false) }
        let first = try connection.rows(
            """
            SELECT name, domain, key, replica, counter, time, archive FROM directory_loser
            WHERE name <= ? ORDER BY name
            """, [.text(sizes[count - 1].name)]
        ) { row in
            let head = row.head(at: 3)
            return Loser(
                name: row.text(at: 0) ?? "", key: row.key(at: 1), archive: head.archive,
                time: head.time, replica: head.dot.replica)
        }
        return (first, count < sizes.count)
    }

    /// Forgets losers that are kept, and takes them out of the file of this replica.
    func noteKept(_ losers: [Loser]) throws(SQLiteError) {
        try change { () throws(SQLiteError) in
            for loser in losers { try noteKept(loser) }
        }
    }

    private func noteKept(_ loser: Loser) throws(SQLiteError) {
        let dots = try connection.rows(
            "SELECT replica, counter FROM directory_loser WHERE name = ?", [.text(loser.name)]
        ) { Dot($0.replica(at: 0), $0.integer(at: 1)) }
        guard let dot = dots.first else { return }
        try removeLoser(loser.name)
        let versions = try versions(of: loser.key)
        let live = versions.live
        // It may have won meanwhile, because the winner was replaced by an earlier edit.
        guard let winner = live.max(), winner.dot != dot, live.contains(where: { $0.dot == dot })
        else { return }
        guard versions.heads.contains(where: { $0.voucher == own.replica && $0.head.dot == dot })
        else { return }
        try withdraw(dot, of: loser.key, versions)
    }
}
