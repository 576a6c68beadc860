internal import DefaultsModel
internal import SQLite

/// Domains that one change removed as a whole, and whose entries are still to be removed.
///
/// Removing entries writes each page that held some to the log. A full disk has no space for that
/// if there are very many, and a flush would take long. So a large domain is dropped: its row gets
/// a host that no domain has. That writes one page, and nothing finds the entries any more. They
/// are removed between flushes, in steps.
///
/// Invariants:
/// 1. Nothing that is read of a store, nor a repair of it, gives an entry of a dropped domain.
/// 2. The row of a dropped domain is removed after its entries, when these are no longer anywhere in
///    the file. Until then it tells a repair what to leave out: every entry of the domain up to its
///    last change.
struct DroppedDomains {
    /// How many entries a domain may have that is not dropped but removed at once.
    static let mostRemovedAtOnce: Int64 = 256
    /// How many entries a step removes.
    private static let entriesInStep: Int64 = 4096
    /// The same if the disk is nearly full: they write 1 MiB to the log at most, with as much again
    /// for the indexes.
    private static let entriesInTightStep: Int64 = 256
    /// The size of the values from which on a step ends, in bytes, and the same if the disk is nearly
    /// full: a store of an earlier version overwrites what is removed, which is written to the log.
    private static let bytesInStep: Int64 = 64 << 20
    private static let bytesInTightStep: Int64 = 1 << 20

    private let connection: Connection

    init(on connection: Connection) {
        self.connection = connection
    }

    /// Whether a host column marks a dropped domain.
    ///
    /// No host, and no layer that is made of files, begins with this character.
    static func isMark(_ hostColumn: String) -> Bool {
        hostColumn.utf8.first == UInt8(ascii: "!")
    }

    /// The condition for that on a column of a query.
    static let mark = "(host >= '!' AND host < '\"')"

    /// The domain that was dropped, by the columns of its row; nil if they make no sense.
    static func domain(name: String, mark: String) -> Domain? {
        let parts = mark.split(separator: "!", omittingEmptySubsequences: false)
        guard isMark(mark), parts.count == 3 else { return nil }
        return Domain(name: name, hostColumn: String(parts[2]))
    }

    /// Drops a domain if it has many entries, in the transaction of a flush.
    ///
    /// - Returns: The number of its row; nil if it was not dropped.
    func drop(_ domain: Domain) throws(SQLiteError) -> Int64? {
        let update = try connection.prepare(
            """
            UPDATE domains
                SET host = '!' || id || '!' || host, key_count = 0, key_bytes = 0, value_bytes = 0
                WHERE name = ?1 AND host = ?2 AND
                    (SELECT count(*) FROM (SELECT 1 FROM entries WHERE domain = domains.id LIMIT ?3))
                        = ?3
                RETURNING id
            """)
        try update.bind(domain.name, at: 1)
        try update.bind(domain.layer.hostColumn, at: 2)
        try update.bind(DroppedDomains.mostRemovedAtOnce + 1, at: 3)
        var row: Int64?
        while try update.step() { row = update.integer(at: 0) }
        return row
    }

    /// Whether there are any.
    func areThere() throws(SQLiteError) -> Bool {
        try !rows().isEmpty
    }

    /// Removes some entries of a dropped domain, or the row of one that has none left.
    ///
    /// - Parameters:
    ///   - isTight: Whether the disk has hardly any space for the log.
    ///   - isErased: Whether nothing of the entries that were removed is in the file.
    /// - Returns: Whether something was removed; there may be more.
    func removeSome(isTight: Bool, isErased: Bool) throws(SQLiteError) -> Bool {
        for row in try rows() {
            if try removeValues(of: row, isTight: isTight) { return true }
            if try removeRemovals(of: row, isTight: isTight) { return true }
            guard isErased else { continue }
            let delete = try connection.prepare("DELETE FROM domains WHERE id = ?1")
            try delete.bind(row, at: 1)
            try delete.run()
            return true
        }
        return false
    }

    private func rows() throws(SQLiteError) -> [Int64] {
        let select = try connection.prepare("SELECT id FROM domains WHERE \(DroppedDomains.mark)")
        var rows: [Int64] = []
        while try select.step() { rows.append(select.integer(at: 0)) }
        return rows
    }

    private static func entries(isTight: Bool) -> Int64 {
        isTight ? entriesInTightStep : entriesInStep
    }

    /// Removes values in the order of their rows, so that whole pages become free.
    private func removeValues(of domain: Int64, isTight: Bool) throws(SQLiteError) -> Bool {
        let most = isTight ? DroppedDomains.bytesInTightStep : DroppedDomains.bytesInStep
        let values = "FROM entries WHERE domain = ?1 AND archive IS NOT NULL"
        let select = try connection.prepare(
            "SELECT id, length(archive) \(values) ORDER BY id LIMIT ?2")
        try select.bind(domain, at: 1)
        try select.bind(DroppedDomains.entries(isTight: isTight), at: 2)
        var (last, bytes) = (Int64?.none, Int64(0))
        while bytes < most, try select.step() {
            last = select.integer(at: 0)
            bytes += select.integer(at: 1)
        }
        select.reset()
        guard let last else { return false }
        let delete = try connection.prepare("DELETE \(values) AND id <= ?2")
        try delete.bind(domain, at: 1)
        try delete.bind(last, at: 2)
        try delete.run()
        return true
    }

    private func removeRemovals(of domain: Int64, isTight: Bool) throws(SQLiteError) -> Bool {
        let delete = try connection.prepare(
            """
            DELETE FROM entries WHERE id IN (SELECT id FROM entries
                WHERE domain = ?1 AND archive IS NULL LIMIT ?2)
            """)
        try delete.bind(domain, at: 1)
        try delete.bind(DroppedDomains.entries(isTight: isTight), at: 2)
        try delete.run()
        return connection.changedRows > 0
    }
}
