import SQLite

/// Versions that were read from the engine, on their way into the database.
extension RoamState {
    /// Takes a page of versions: bases, edits and arrivals change together with the revision.
    func take(
        _ replica: ReplicaRecord, _ body: () throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try body()
            try write(replica)
        }
    }

    /// The domains with arrivals for which nothing is in the way.
    func domainsOfArrivals() throws(SQLiteError) -> [String] {
        let select = try connection.prepare(
            "SELECT DISTINCT domain FROM arrival WHERE obstacle IS NULL ORDER BY domain")
        var domains: [String] = []
        while try select.step() { domains.append(select.text(at: 0) ?? "") }
        return domains
    }

    /// The next arrivals of a domain for which there is no edit and nothing in the way, in the order of their
    /// keys.
    ///
    /// - Parameters:
    ///   - last: The key after which they begin; nil for the first.
    ///   - limit: The bytes after which they end.
    func arrivals(
        in domain: String, after last: String?, limit: Int
    ) throws(SQLiteError) -> [Arrival] {
        let select = try connection.prepare(
            Self.arrivals + """
                 WHERE domain = ?1 AND (?2 IS NULL OR key > ?2) AND obstacle IS NULL
                    AND NOT EXISTS (SELECT 1 FROM edit
                        WHERE edit.domain = arrival.domain AND edit.key = arrival.key)
                ORDER BY key
                """)
        try select.bind(domain, at: 1)
        if let last { try select.bind(last, at: 2) }
        var (arrivals, bytes): ([Arrival], Int) = ([], 0)
        // Keys that only look alike are not in one change: for its maker they are the same.
        var names: Set<String> = []
        while bytes < limit, try select.step() {
            guard let arrival = select.arrival() else { continue }
            guard names.insert(arrival.version.key.name).inserted else { break }
            arrivals.append(arrival)
            bytes += arrival.version.archive?.count ?? 0
        }
        return arrivals
    }

    /// The arrival of a key; nil if there is none.
    func arrival(of key: RoamingKey) throws(SQLiteError) -> Arrival? {
        let select = try connection.prepare(Self.arrivals + " WHERE domain = ? AND key = ?")
        try select.bind(key)
        return try select.step() ? select.arrival() : nil
    }

    private static var arrivals: String {
        """
        SELECT domain, key, revision, context, archive, time, replica, obstacle FROM arrival
        """
    }

    /// Adds an arrival, which replaces an earlier one of the key.
    func write(_ arrival: Arrival) throws(SQLiteError) {
        let version = arrival.version
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO arrival VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)")
        try insert.bind(version.key)
        try insert.bind(Int64(bitPattern: version.mark.revision), at: 3)
        try insert.bind(version.mark.context, at: 4)
        try insert.bind(version.archive, at: 5)
        try insert.bind(version.time.microseconds, at: 6)
        try insert.bind(version.replica.bytes, at: 7)
        if let obstacle = arrival.obstacle { try insert.bind(obstacle, at: 8) }
        try insert.run()
    }

    func removeArrival(of key: RoamingKey) throws(SQLiteError) {
        let delete = try connection.prepare("DELETE FROM arrival WHERE domain = ? AND key = ?")
        try delete.bind(key)
        try delete.run()
    }

    /// Removes an arrival that a version has replaced.
    func removeArrival(of key: RoamingKey, before revision: UInt64) throws(SQLiteError) {
        let delete = try connection.prepare(
            "DELETE FROM arrival WHERE domain = ? AND key = ? AND revision <= ?")
        try delete.bind(key)
        try delete.bind(Int64(bitPattern: revision), at: 3)
        try delete.run()
    }

    /// Notes why an arrival cannot be stored.
    func note(obstacle: String?, ofArrivals keys: some Sequence<RoamingKey>) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            for key in keys {
                let update = try connection.prepare(
                    "UPDATE arrival SET obstacle = ?3 WHERE domain = ?1 AND key = ?2")
                try update.bind(key)
                if let obstacle { try update.bind(obstacle, at: 3) }
                try update.run()
            }
        }
    }

    /// Forgets why arrivals could not be stored, so that it is tried again.
    func forgetObstacles() throws(SQLiteError) {
        try connection.execute(
            "UPDATE arrival SET obstacle = NULL; UPDATE edit SET obstacle = NULL")
    }

    /// Notes the change that stores some arrivals, before it is made.
    func begin(_ token: String, storing arrivals: [Arrival]) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            for arrival in arrivals {
                let update = try connection.prepare(
                    "UPDATE arrival SET token = ?3 WHERE domain = ?1 AND key = ?2")
                try update.bind(arrival.version.key)
                try update.bind(token, at: 3)
                try update.run()
            }
        }
    }

    /// The changes of which nobody knows whether they were made, each with its domain.
    func begunChanges() throws(SQLiteError) -> [(token: String, domain: String)] {
        let select = try connection.prepare(
            "SELECT DISTINCT token, domain FROM arrival WHERE token IS NOT NULL ORDER BY token")
        var changes: [(String, String)] = []
        while try select.step() {
            changes.append((select.text(at: 0) ?? "", select.text(at: 1) ?? ""))
        }
        return changes
    }

    /// Ends a change: what it has stored is the base now.
    ///
    /// - Parameter isMade: Whether it was made, and is on the disk of the daemon.
    func end(_ token: String, isMade: Bool) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            if isMade {
                let select = try connection.prepare(Self.arrivals + " WHERE token = ?")
                try select.bind(token, at: 1)
                var made: [Arrival] = []
                while try select.step() {
                    if let arrival = select.arrival() { made.append(arrival) }
                }
                // It was made after the last look, and what was made before it is on the disk, too.
                let update = try connection.prepare(
                    """
                    UPDATE domain SET durable = generation
                    WHERE domain IN (SELECT domain FROM arrival WHERE token = ?)
                    """)
                try update.bind(token, at: 1)
                try update.run()
                for arrival in made { try store(arrival.version) }
            } else {
                let update = try connection.prepare(
                    "UPDATE arrival SET token = NULL WHERE token = ?")
                try update.bind(token, at: 1)
                try update.run()
            }
        }
    }

    /// Notes that a version stands here.
    func store(_ version: Version) throws(SQLiteError) {
        let base = Base(
            mark: version.mark, digest: ValueDigest(of: version.archive), time: version.time)
        try write(base, of: version.key)
        try removeArrival(of: version.key)
    }
}

/// The batch that is being pushed.
extension RoamState {
    /// Notes what is to be pushed, with the number and the nonce of the batch.
    func begin(_ replica: ReplicaRecord, pushing values: [(RoamingKey, [UInt8]?)])
        throws(SQLiteError)
    {
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute("DELETE FROM pushed")
            for (key, archive) in values {
                let insert = try connection.prepare("INSERT INTO pushed VALUES (?, ?, ?)")
                try insert.bind(key)
                try insert.bind(archive, at: 3)
                try insert.run()
            }
            try write(replica)
        }
    }

    /// The values that are being pushed; none if there is no batch.
    func pushedValues() throws(SQLiteError) -> [(key: RoamingKey, archive: [UInt8]?)] {
        let select = try connection.prepare(
            "SELECT domain, key, archive FROM pushed ORDER BY domain, key")
        var values: [(RoamingKey, [UInt8]?)] = []
        while try select.step() { values.append((select.key(from: 0), select.blob(at: 2))) }
        return values
    }

    /// Notes what became of the batch.
    func end(
        _ replica: ReplicaRecord, _ outcomes: [Outcome], of values: [RoamingKey: [UInt8]?]
    ) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            for outcome in outcomes {
                guard let archive = values[outcome.key] else { continue }
                let digest = ValueDigest(of: archive)
                switch outcome.result {
                case .stands:
                    try write(
                        Base(mark: outcome.mark, digest: digest, time: outcome.time),
                        of: outcome.key)
                    try removeArrival(of: outcome.key, before: outcome.mark.revision)
                case .lost:
                    // The value is kept elsewhere, and gives way to the version that arrives.
                    try write(Base(mark: nil, digest: digest, time: .unknown), of: outcome.key)
                }
                try removeEdit(of: outcome.key)
            }
            try connection.execute("DELETE FROM pushed")
            try write(replica)
        }
    }

    /// Gives up a batch that the engine has not made.
    func abandonBatch() throws(SQLiteError) {
        try connection.execute("DELETE FROM pushed")
    }
}

extension Statement {
    fileprivate func arrival() -> Arrival? {
        guard let replica = ReplicaID(bytes: blob(at: 6) ?? []) else { return nil }
        let mark = VersionMark(
            revision: UInt64(bitPattern: integer(at: 2)), context: blob(at: 3) ?? [])
        return Arrival(
            version: Version(
                key: key(from: 0), archive: blob(at: 4), time: time(at: 5), replica: replica,
                mark: mark),
            obstacle: text(at: 7))
    }
}
