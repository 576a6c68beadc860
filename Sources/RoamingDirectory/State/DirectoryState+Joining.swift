import DefaultsRoaming
import SQLite

/// What became of a file that was joined.
enum Joining {
    /// It is not later than what is known of its replica, or its replica was forgotten. What it says for
    /// ever counts: who was forgotten, and the covers, unless its replica was forgotten.
    case known
    /// It was joined.
    case joined
    /// It knows more of this replica than this replica, or that it was forgotten.
    case knowsMore
    /// With it, there would be more replicas than a file can name.
    case tooMany
}

extension DirectoryState {
    /// Joins the file of another replica.
    func join(_ file: ReplicaFile) throws(SQLiteError) -> Joining {
        guard !file.forgotten.contains(own.replica) else {
            try endReplica(file.forgotten)
            return .knowsMore
        }
        guard !knowsMore(file) else { return .knowsMore }
        guard try !isJoined(file) else { return .known }
        let isForgotten = try isForgotten(file.replica)
        var isNews = false
        if !isForgotten { isNews = try isLater(file) }
        // What replaced the versions that a forgotten replica covers may be in its file only.
        let covering = isForgotten ? [] : file.entries.filter { $0.covers != VersionVector() }
        let isNewlyForgetting = try !file.forgotten.isSubset(of: forgotten())
        guard isNews || isNewlyForgetting || !covering.isEmpty else { return .known }
        guard try hasRoom(for: file, isNews: isNews) else { return .tooMany }
        return try change { () throws(SQLiteError) in
            own.revision += 1
            var touched: Set<RoamingKey> = []
            if isNews {
                touched = try replaceHeads(of: file)
                try replaceSnapshot(with: file)
            }
            touched.formUnion(try addCovers(of: covering))
            for replica in file.forgotten.sorted() {
                touched.formUnion(try takeOver(replica))
            }
            for key in touched { try settle(key) }
            return isNews ? .joined : .known
        }
    }

    /// Whether a file knows versions of this replica that this one has not made.
    private func knowsMore(_ file: ReplicaFile) -> Bool {
        file.joined[own.replica, default: 0] > own.content
            || file.entries.contains { $0.covers.counters[own.replica, default: 0] > own.counter }
    }

    /// Whether this very file was joined, with all that it says for ever.
    private func isJoined(_ file: ReplicaFile) throws(SQLiteError) -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM directory_snapshot WHERE replica = ? AND sequence = ? AND stamp = ?",
            [file.replica.value, .integer(file.sequence), .text(FileText.hexadecimal(file.stamp))])
    }

    /// Whether a file is later than the one of its replica that was joined.
    private func isLater(_ file: ReplicaFile) throws(SQLiteError) -> Bool {
        let known = try connection.rows(
            "SELECT sequence, stamp FROM directory_snapshot WHERE replica = ?", [file.replica.value]
        ) { ($0.integer(at: 0), FileText.bytes(Substring($0.text(at: 1) ?? ""), count: 16) ?? []) }
        return known.first.map { file.isLater(than: (sequence: $0.0, stamp: $0.1)) } ?? true
    }

    /// Whether a file of another replica was joined, and the replica was not forgotten since.
    func hasJoined(_ replica: ReplicaID) throws(SQLiteError) -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM directory_snapshot WHERE replica = ?", [replica.value])
    }

    private func hasRoom(for file: ReplicaFile, isNews: Bool) throws(SQLiteError) -> Bool {
        var replicas = try Set(
            connection.rows("SELECT replica FROM directory_snapshot") { $0.replica(at: 0) })
        if isNews { replicas.insert(file.replica) }
        let forgotten = try forgotten().union(file.forgotten)
        return replicas.count < FileLimits.replicas && forgotten.count < FileLimits.replicas
    }

    /// Puts the versions of a file in the place of those in the replica's earlier one.
    ///
    /// - Returns: The keys that have others now.
    private func replaceHeads(of file: ReplicaFile) throws(SQLiteError) -> Set<RoamingKey> {
        struct Place: Hashable {
            let key: RoamingKey
            let replica: ReplicaID
        }
        var old: [Place: (counter: Int64, time: EditTime)] = [:]
        let rows = try connection.rows(
            "SELECT domain, key, replica, counter, time FROM directory_head WHERE voucher = ?",
            [file.replica.value]
        ) {
            (
                Place(key: $0.key(at: 0), replica: $0.replica(at: 2)), $0.integer(at: 3),
                $0.time(at: 4)
            )
        }
        for (place, counter, time) in rows { old[place] = (counter, time) }
        var touched: Set<RoamingKey> = []
        for entry in file.entries {
            for head in entry.heads {
                let place = Place(key: entry.key, replica: head.dot.replica)
                let known = old.removeValue(forKey: place)
                if let known, known == (head.dot.counter, head.time) { continue }
                try insert(head, of: entry.key, voucher: file.replica)
                touched.insert(entry.key)
            }
        }
        for place in old.keys {
            try connection.run(
                """
                DELETE FROM directory_head
                WHERE domain = ? AND key = ? AND voucher = ? AND replica = ?
                """, place.key.values + [file.replica.value, place.replica.value])
            touched.insert(place.key)
        }
        return touched
    }

    func insert(_ head: Head, of key: RoamingKey, voucher: ReplicaID) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO directory_head
            (domain, key, voucher, replica, counter, time, archive) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, key.values + [voucher.value] + head.values)
    }

    private func addCovers(
        of entries: [ReplicaFile.Entry]
    ) throws(SQLiteError) -> Set<RoamingKey> {
        var touched: Set<RoamingKey> = []
        for entry in entries {
            for dot in entry.covers.dots {
                let isNew = try cover(dot, of: entry.key, isPublished: false)
                if isNew { touched.insert(entry.key) }
            }
        }
        return touched
    }

    private func replaceSnapshot(with file: ReplicaFile) throws(SQLiteError) {
        try connection.run(
            "INSERT OR REPLACE INTO directory_snapshot VALUES (?, ?, ?, ?, ?, ?, 0)",
            [
                file.replica.value, .integer(file.sequence),
                .text(FileText.hexadecimal(file.stamp)), .integer(file.content),
                .text(file.name), .integer(file.written),
            ])
        try connection.run(
            "DELETE FROM directory_joined WHERE replica = ?", [file.replica.value])
        for (other, content) in file.joined {
            try connection.run(
                "INSERT INTO directory_joined VALUES (?, ?, ?)",
                [file.replica.value, other.value, .integer(content)])
        }
    }
}

// MARK: Forgetting

extension DirectoryState {
    /// Forgets a replica: what it vouches for, this one does from now on.
    func forget(_ replica: ReplicaID) throws(SQLiteError) {
        try change { () throws(SQLiteError) in
            own.revision += 1
            for key in try takeOver(replica) { try settle(key) }
        }
    }

    /// The replicas that were forgotten.
    func forgotten() throws(SQLiteError) -> Set<ReplicaID> {
        try Set(connection.rows("SELECT replica FROM directory_forgotten") { $0.replica(at: 0) })
    }

    func isForgotten(_ replica: ReplicaID) throws(SQLiteError) -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM directory_forgotten WHERE replica = ?", [replica.value])
    }

    private func noteForgotten(_ replica: ReplicaID) throws(SQLiteError) {
        hasNewContent = true
        try connection.run("INSERT OR IGNORE INTO directory_forgotten VALUES (?)", [replica.value])
    }

    /// Notes that this replica was forgotten, so that nobody waits for it under the name that it has had.
    ///
    /// The writer of the file that says so may be forgotten itself, and then nobody else says so.
    ///
    /// - Parameter forgotten: This replica and others, whose versions this one takes over before.
    private func endReplica(_ forgotten: Set<ReplicaID>) throws(SQLiteError) {
        try change { () throws(SQLiteError) in
            own.revision += 1
            for replica in forgotten.sorted() where replica != own.replica {
                for key in try takeOver(replica) { try settle(key) }
            }
            try noteForgotten(own.replica)
        }
    }

    /// Takes over what only a replica vouches for, and forgets the replica.
    ///
    /// - Returns: The keys that have others now.
    func takeOver(_ replica: ReplicaID) throws(SQLiteError) -> Set<RoamingKey> {
        guard try !isForgotten(replica) else { return [] }
        try noteForgotten(replica)
        let heads = try connection.rows(
            """
            SELECT domain, key, replica, counter, time, archive FROM directory_head AS head
            WHERE voucher = ?1 AND NOT EXISTS (
                SELECT 1 FROM directory_cover AS cover
                WHERE cover.domain = head.domain AND cover.key = head.key
                    AND cover.replica = head.replica AND cover.counter >= head.counter)
            AND NOT EXISTS (
                SELECT 1 FROM directory_head AS other
                WHERE other.domain = head.domain AND other.key = head.key
                    AND other.replica = head.replica AND other.counter >= head.counter
                    AND other.voucher != ?1)
            """, [replica.value]
        ) { ($0.key(at: 0), $0.head(at: 2)) }
        for (key, head) in heads { try insert(head, of: key, voucher: own.replica) }
        try publishNeededCovers()
        let touched = try connection.rows(
            "SELECT DISTINCT domain, key FROM directory_head WHERE voucher = ?", [replica.value]
        ) { $0.key(at: 0) }
        try connection.run("DELETE FROM directory_head WHERE voucher = ?", [replica.value])
        try connection.run("DELETE FROM directory_snapshot WHERE replica = ?", [replica.value])
        try connection.run("DELETE FROM directory_joined WHERE replica = ?", [replica.value])
        try connection.run("DELETE FROM directory_stable WHERE replica = ?", [replica.value])
        return Set(touched)
    }

    /// The versions of others that this replica vouches for, and that nothing replaces.
    func takenOver() throws(SQLiteError) -> [(key: RoamingKey, head: Head)] {
        let heads = try connection.rows(
            """
            SELECT domain, key, replica, counter, time, archive FROM directory_head
            WHERE voucher = ?1 AND replica != ?1
            """, [own.replica.value]
        ) { (key: $0.key(at: 0), head: $0.head(at: 2)) }
        var live: [(key: RoamingKey, head: Head)] = []
        for (key, head) in heads where try versions(of: key).live.contains(head) {
            live.append((key, head))
        }
        return live
    }

    /// Says in this replica's file which versions in the files of others are replaced.
    ///
    /// The one who is forgotten does not say so any more.
    private func publishNeededCovers() throws(SQLiteError) {
        try connection.run(
            """
            UPDATE directory_cover SET published = 1, garbage = 0 WHERE EXISTS (
                SELECT 1 FROM directory_head AS head
                WHERE head.domain = directory_cover.domain AND head.key = directory_cover.key
                    AND head.replica = directory_cover.replica
                    AND head.counter <= directory_cover.counter)
            """)
    }

    /// The replicas that meet here, this one too.
    func machines(now: Int64) throws(SQLiteError) -> [Machine] {
        let others = try connection.rows(
            "SELECT replica, name, written FROM directory_snapshot ORDER BY name, replica"
        ) { row in
            Machine(
                id: row.replica(at: 0), name: row.text(at: 1) ?? "",
                // Its clock may be wrong.
                seen: min(row.integer(at: 2), now))
        }
        return [Machine(id: own.replica, name: own.name, seen: now)] + others
    }
}
