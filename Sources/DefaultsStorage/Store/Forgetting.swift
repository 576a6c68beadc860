internal import DefaultsModel
internal import SQLite

/// What a store forgets in a quiet moment: the entries of dropped domains, surplus tokens, and the
/// rows of empty domains.
///
/// Each step is a transaction that takes some tenths of a second at most.
struct Forgetting {
    /// How many empty domains keep their rows at least, and half as many as may have some.
    ///
    /// Those with the oldest last changes are forgotten first.
    static let emptyDomainsKept = 1024
    /// How many rows a step removes, and those of one domain more.
    static let rowsAtOnce: Int64 = 1024

    private let connection: Connection

    init(on connection: Connection) {
        self.connection = connection
    }

    /// Forgets some.
    ///
    /// - Parameters:
    ///   - isTight: Whether the disk has hardly any space for the log.
    ///   - isErased: Whether nothing that was removed is in the file.
    /// - Returns: Whether something was forgotten; there may be more.
    func forgetSome(isTight: Bool, isErased: Bool) throws(SQLiteError) -> Bool {
        try connection.transaction { () throws(SQLiteError) in
            let dropped = DroppedDomains(on: connection)
            if try dropped.removeSome(isTight: isTight, isErased: isErased) { return true }
            if try forgetTokens() { return true }
            return try forgetDomains()
        }
    }

    /// Forgets the oldest tokens of the domains that have most, if there are too many.
    ///
    /// So a program with very many tokens does not make the service forget those of others.
    ///
    /// Their age does not count: a clock that is set would make an acknowledged change happen twice.
    private func forgetTokens() throws(SQLiteError) -> Bool {
        let select = try connection.prepare("SELECT domain, count(*) FROM tokens GROUP BY domain")
        var counts: [(domain: Int64, tokens: Int)] = []
        while try select.step() {
            counts.append((select.integer(at: 0), Int(clamping: select.integer(at: 1))))
        }
        guard let share = Token.share(of: counts.map(\.tokens)) else { return false }
        if share == 0 { return try forgetOldestTokens() }
        let delete = try connection.prepare(
            """
            DELETE FROM tokens WHERE id IN
                (SELECT id FROM tokens WHERE domain = ?1 ORDER BY id LIMIT ?2)
            """)
        var left = Forgetting.rowsAtOnce
        for (domain, tokens) in counts where tokens > share && left > 0 {
            let surplus = min(Int64(tokens - share), left)
            try delete.bind(domain, at: 1)
            try delete.bind(surplus, at: 2)
            try delete.run()
            left -= surplus
        }
        return true
    }

    /// Forgets the oldest tokens of all domains.
    private func forgetOldestTokens() throws(SQLiteError) -> Bool {
        let delete = try connection.prepare(
            """
            DELETE FROM tokens WHERE id IN (SELECT id FROM tokens
                WHERE id <= (SELECT id FROM tokens ORDER BY id DESC LIMIT 1 OFFSET ?1)
                ORDER BY id LIMIT \(Forgetting.rowsAtOnce))
            """)
        try delete.bind(Int64(Token.rememberedInAll), at: 1)
        try delete.run()
        return connection.changedRows > 0
    }

    /// Forgets empty domains if there are too many, the oldest first.
    private func forgetDomains() throws(SQLiteError) -> Bool {
        let kept = Forgetting.emptyDomainsKept
        let count = try connection.prepare("SELECT count(*) \(Forgetting.emptyDomains)")
        guard try count.step() else { return false }
        let surplus = count.integer(at: 0) - Int64(kept)
        guard surplus >= Int64(kept) else { return false }
        let select = try connection.prepare(
            "SELECT id, last_change \(Forgetting.emptyDomains) ORDER BY last_change, id LIMIT ?1")
        try select.bind(min(surplus, Forgetting.rowsAtOnce), at: 1)
        var oldest: [(row: Int64, lastChange: Int64)] = []
        while try select.step() {
            oldest.append((select.integer(at: 0), select.integer(at: 1)))
        }
        let newest = oldest[try remove(oldest.map(\.row)) - 1].lastChange
        let raise = try connection.prepare("UPDATE state SET forgotten = max(forgotten, ?1)")
        try raise.bind(newest, at: 1)
        try raise.run()
        return true
    }

    /// Removes the first of some domains: at least one, and as many as a step may.
    ///
    /// Each may have the rows of many removed keys.
    ///
    /// - Returns: How many of them are removed.
    private func remove(_ domains: [Int64]) throws(SQLiteError) -> Int {
        let entries = try connection.prepare("DELETE FROM entries WHERE domain = ?1")
        let domain = try connection.prepare("DELETE FROM domains WHERE id = ?1")
        var removedRows: Int64 = 0
        for (index, row) in domains.enumerated() {
            try entries.bind(row, at: 1)
            try entries.run()
            removedRows += Int64(connection.changedRows) + 1
            try domain.bind(row, at: 1)
            try domain.run()
            if removedRows >= Forgetting.rowsAtOnce { return index + 1 }
        }
        return domains.count
    }

    /// A domain whose count is wrong may have values, and one with tokens may be asked for them.
    private static let emptyDomains = """
        FROM domains WHERE key_count <= 0
            AND NOT EXISTS (SELECT 1 FROM tokens WHERE domain = domains.id)
            AND NOT EXISTS
                (SELECT 1 FROM entries WHERE domain = domains.id AND archive IS NOT NULL)
        """
}
