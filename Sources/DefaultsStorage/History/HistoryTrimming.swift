internal import DefaultsModel
internal import DefaultsTerms
internal import SQLite

/// Keeps the history within its bounds, some rows at a time.
///
/// Over a bound, the domain with the most bytes loses first: in it the rows of programs in a sandbox, then
/// the oldest rows of the key with the most bytes. So a program that writes all the time has a short history,
/// and the others keep theirs.
struct HistoryTrimming {
    /// The most actions.
    static let mostActions: Int64 = 65_536
    /// The most domains of which only the time is known from which on nothing is missing.
    static let mostEmptyDomains: Int64 = 4096
    /// The most rows that one step removes.
    private static let rowsOfStep: Int64 = 1024
    /// How many rows of a key, by programs outside of a sandbox, go last.
    static let rowsKept: Int64 = 8

    private let file: HistoryFile
    private let rules: HistoryRules
    /// The present time, in seconds since 1970.
    private let time: Int64
    private var connection: Connection { file.connection }

    /// A row that is to be removed.
    private struct Surplus {
        let id: Int64
        let domain: Int64
        let last: Int64
        let size: Int64
    }

    init(of file: HistoryFile, by rules: HistoryRules, at time: Int64) {
        self.file = file
        self.rules = rules
        self.time = time
    }

    /// Removes everything.
    ///
    /// - Returns: Whether there was anything.
    func forgetAll() throws(SQLiteError) -> Bool {
        guard
            try number("SELECT (SELECT count(*) FROM actions) + (SELECT count(*) FROM domains)") > 0
        else { return false }
        for table in ["rows", "refs", "actions", "authors", "domains"] {
            try connection.execute("DELETE FROM \(table)")
        }
        return true
    }

    /// Does one step.
    ///
    /// - Returns: Whether there may be more to do.
    func trimSome() throws(SQLiteError) -> Bool {
        try connection.transaction { () throws(SQLiteError) in
            if try remove(oldRows()) { return true }
            if try remove(excludedRows()) { return true }
            if try remove(surplusRows()) { return true }
            if try remove(rowsOfSurplusActions()) { return true }
            try removeActions()
            try removeDomains()
            return false
        }
    }

    /// Gives free pages back, and empties the log: it may still have what was removed.
    func finish() throws(SQLiteError) {
        try connection.execute("PRAGMA incremental_vacuum")
        try file.foldLog()
    }

    // MARK: What is removed

    /// The rows of actions that are older than the days that are kept, by the days that the history has seen.
    private func oldRows() throws(SQLiteError) -> [Surplus] {
        guard let day = try firstDay() else { return [] }
        return try rows("action IN (SELECT id FROM actions WHERE day < ?1)", day)
    }

    /// The first day that is kept; nil if none is too old.
    private func firstDay() throws(SQLiteError) -> Int64? {
        let day = try number("SELECT days FROM meta") - Int64(rules[.days])
        return day > 0 ? day : nil
    }

    /// The rows of what is to have no history any more.
    private func excludedRows() throws(SQLiteError) -> [Surplus] {
        guard !rules.excludedDomains.isEmpty || !rules.excludedKeys.isEmpty else { return [] }
        let select = try connection.prepare("SELECT id, name, host FROM domains WHERE bytes > 0")
        var domains: [(id: Int64, domain: Domain)] = []
        while try select.step() {
            let name = select.text(at: 1) ?? ""
            guard let domain = Domain(name: name, hostColumn: select.text(at: 2) ?? "") else {
                continue
            }
            domains.append((select.integer(at: 0), domain))
        }
        select.reset()
        for (id, domain) in domains {
            if !rules.covers(domain) {
                let found = try rows("domain = ?1", id)
                if !found.isEmpty { return found }
            }
            for key in rules.excludedKeys[domain.name] ?? [] {
                let found = try rows("domain = ?1 AND key = ?2", id, key)
                if !found.isEmpty { return found }
            }
        }
        return []
    }

    /// Rows of the largest domain, if it or the whole history is above its bound.
    private func surplusRows() throws(SQLiteError) -> [Surplus] {
        let select = try connection.prepare(
            """
            SELECT id, bytes, (SELECT CAST(total(bytes) AS INTEGER) FROM domains) FROM domains
                ORDER BY bytes DESC LIMIT 1
            """)
        guard try select.step() else { return [] }
        let domain = select.integer(at: 0)
        let (bytes, all) = (bounded(select.integer(at: 1)), bounded(select.integer(at: 2)))
        select.reset()
        let (mostOfDomain, most) = (Int64(rules[.bytesPerDomain]), Int64(rules[.bytes]))
        guard bytes > mostOfDomain || all > most else { return [] }
        // Down to 7/8, so that not each flush has to do it.
        let surplus = max(bytes - mostOfDomain / 8 * 7, all - most / 8 * 7)
        var sum: Int64 = 0
        return try fairRows(of: domain).prefix { row in
            defer { sum += row.size }
            return sum < surplus
        }.map { $0 }
    }

    /// The rows of a domain that go first.
    private func fairRows(of domain: Int64) throws(SQLiteError) -> [Surplus] {
        let confined = try rows(
            """
            domain = ?1 AND action IN (SELECT actions.id FROM actions
                JOIN authors ON authors.id = actions.author WHERE authors.application <> '')
            """, domain)
        if !confined.isEmpty { return confined }
        if let key = try largestKey(of: domain, having: "count(*) > \(HistoryTrimming.rowsKept)") {
            return try rows(
                """
                domain = ?1 AND key = ?2 AND first < (SELECT first FROM rows
                    WHERE domain = ?1 AND key = ?2 ORDER BY first DESC
                    LIMIT 1 OFFSET \(HistoryTrimming.rowsKept - 1))
                """, domain, key)
        }
        // All keys have few.
        return try rows("domain = ?1", domain)
    }

    private func largestKey(
        of domain: Int64, having condition: String
    ) throws(SQLiteError) -> String? {
        let select = try connection.prepare(
            """
            SELECT key FROM rows WHERE domain = ?1 GROUP BY key HAVING \(condition)
                ORDER BY sum(size) DESC LIMIT 1
            """)
        try select.bind(domain, at: 1)
        return try select.step() ? select.text(at: 0) : nil
    }

    /// Rows of actions, if there are too many actions: the oldest of the author who has most.
    private func rowsOfSurplusActions() throws(SQLiteError) -> [Surplus] {
        guard let (author, last) = try surplusActions() else { return [] }
        return try rows(
            "action IN (SELECT id FROM actions WHERE \(Self.by(author)) AND id <= ?1)", last)
    }

    /// The condition for actions of an author; in a sandbox, of all that the application calls itself.
    private static func by(_ author: Int64) -> String {
        """
        (author = \(author) OR author IN (SELECT other.id FROM authors
            JOIN authors AS other ON other.application = authors.application
            WHERE authors.id = \(author) AND authors.application <> ''))
        """
    }

    /// An author with most actions, if there are too many, and the newest of those that go.
    private func surplusActions() throws(SQLiteError) -> (author: Int64, last: Int64)? {
        let count = try number("SELECT count(*) FROM actions")
        guard count > HistoryTrimming.mostActions else { return nil }
        let select = try connection.prepare(
            """
            SELECT author, count(*) FROM actions LEFT JOIN authors ON authors.id = actions.author
                GROUP BY CASE WHEN authors.application <> '' THEN authors.application
                    ELSE actions.author END
                ORDER BY count(*) DESC LIMIT 1
            """)
        guard try select.step() else { return nil }
        let (author, own) = (select.integer(at: 0), select.integer(at: 1))
        select.reset()
        let surplus = min(own, count - HistoryTrimming.mostActions / 8 * 7)
        let last = try number(
            """
            SELECT id FROM actions WHERE \(Self.by(author))
                ORDER BY id LIMIT 1 OFFSET \(surplus - 1)
            """)
        return (author, last)
    }

    /// Removes actions that are too many, too old, or of which nothing is left.
    private func removeActions() throws(SQLiteError) {
        let surplus = try surplusActions() ?? (0, 0)
        let day = try firstDay() ?? 0
        try connection.execute(
            """
            DELETE FROM actions WHERE (note = '' OR day < \(day)
                    OR \(Self.by(surplus.author)) AND id <= \(surplus.last))
                AND NOT EXISTS (SELECT 1 FROM rows WHERE action = actions.id);
            """)
        guard connection.changedRows > 0 else { return }
        try connection.execute(
            """
            DELETE FROM refs WHERE action NOT IN (SELECT id FROM actions);
            DELETE FROM authors WHERE id NOT IN (SELECT author FROM actions);
            """)
    }

    /// Removes domains that have no rows.
    ///
    /// What is missing of them is then missing of all. So they go only if that is the case anyway, or if there
    /// are too many: a program can think of as many names as it likes.
    private func removeDomains() throws(SQLiteError) {
        let isEmpty = "NOT EXISTS (SELECT 1 FROM rows WHERE rows.domain = domains.id)"
        let isKnown = "known_from <= (SELECT known_from FROM meta)"
        try connection.execute("DELETE FROM domains WHERE \(isKnown) AND \(isEmpty)")
        guard
            try number("SELECT count(*) FROM domains WHERE \(isEmpty)")
                > HistoryTrimming.mostEmptyDomains
        else { return }
        var meta = try HistoryMeta(of: connection)
        meta.noteRemoval(
            upTo: try number("SELECT max(known_from) FROM domains WHERE \(isEmpty)"), at: time)
        try meta.write(on: connection)
        try connection.execute("DELETE FROM domains WHERE \(isKnown) AND \(isEmpty)")
    }

    // MARK: Removing

    /// The oldest rows that a condition is true for.
    private func rows(
        _ condition: String, _ number: Int64, _ text: String? = nil
    ) throws(SQLiteError) -> [Surplus] {
        let select = try connection.prepare(
            """
            SELECT id, domain, last, size FROM rows WHERE \(condition)
                ORDER BY first LIMIT \(HistoryTrimming.rowsOfStep)
            """)
        try select.bind(number, at: 1)
        if let text { try select.bind(text, at: 2) }
        var found: [Surplus] = []
        while try select.step() {
            found.append(
                Surplus(
                    id: select.integer(at: 0), domain: select.integer(at: 1),
                    last: select.integer(at: 2), size: bounded(select.integer(at: 3))))
        }
        return found
    }

    /// Removes rows, and notes that they are missing.
    ///
    /// - Returns: Whether there were any.
    private func remove(_ rows: [Surplus]) throws(SQLiteError) -> Bool {
        guard !rows.isEmpty else { return false }
        let delete = try connection.prepare("DELETE FROM rows WHERE id = ?1")
        let update = try connection.prepare(
            """
            UPDATE domains SET bytes = max(0, bytes - ?2), known_from = max(known_from, ?3)
                WHERE id = ?1
            """)
        for row in rows {
            try delete.bind(row.id, at: 1)
            try delete.run()
            try update.bind(row.domain, at: 1)
            try update.bind(row.size, at: 2)
            try update.bind(row.last, at: 3)
            try update.run()
        }
        return true
    }

    private func number(_ sql: String) throws(SQLiteError) -> Int64 {
        let select = try connection.prepare(sql)
        return try select.step() ? bounded(select.integer(at: 0)) : 0
    }

    /// A number of a file, which may be forged, within bounds that can be added up.
    private func bounded(_ number: Int64) -> Int64 { min(max(number, 0), 1 << 50) }
}
