package import DefaultsModel
internal import DefaultsTerms
internal import SQLite

/// The damage that a check of a whole database has found.
package struct StoreDamage: Sendable, CustomStringConvertible {
    /// A row, identified by its key.
    package struct Row: Hashable, Sendable {
        /// The domain of the key.
        package let domain: Domain
        /// The key.
        package let key: Key
    }

    /// The most damaged rows that are listed.
    package static let namedRows = 100

    /// The first damaged rows whose keys can be read.
    package private(set) var rows: [Row] = []
    /// The number of damaged rows.
    package private(set) var rowCount = 0
    /// Damage that does not belong to one row, and may affect everything; nil if there is none.
    package private(set) var structure: StorageError?

    init(of structure: StorageError? = nil) {
        self.structure = structure
    }

    /// Whether nothing is damaged.
    package var isNone: Bool { rowCount == 0 && structure == nil }

    /// The damage, in one or two sentences without values.
    package var description: String {
        var sentences: [String] = []
        if rowCount > 0 {
            let names = rows.prefix(3).map { "\($0.key.quotedForMessage) in \($0.domain)" }
            let list = names.joined(separator: ", ") + (rowCount > names.count ? " and others" : "")
            sentences.append(
                "\(rowCount) stored values are damaged\(names.isEmpty ? "" : ": \(list)").")
        }
        if let structure { sentences.append(structure.description) }
        return sentences.isEmpty ? "Nothing is damaged." : sentences.joined(separator: " ")
    }

    /// Notes a damaged row, with its key if that can be read.
    mutating func note(row: Row?) {
        rowCount += 1
        if let row, rows.count < StoreDamage.namedRows { rows.append(row) }
    }

    /// Notes damage that does not belong to one row.
    ///
    /// Only the first is reported.
    mutating func note(structure error: StorageError) {
        structure = structure ?? error
    }
}

/// Checks a whole database, a little at a time.
///
/// Every row must match its checksum and be found by its key. The indexes must have as many rows as
/// the tables, in each domain and in total. The state of the database must be valid.
///
/// Memory does not grow with the database. Each `advance()` takes some milliseconds, unless a
/// domain or a value is very large.
final class StoreCheck {
    private static let rowsAtOnce: Int64 = 256
    private static let bytesAtOnce = 1 << 20
    private static let countedAtOnce: Int64 = 1 << 16

    private enum Stage { case state, entries, tokens, domains, end }

    /// Totals that are computed in two ways and must be equal.
    private struct Totals: Equatable {
        var rows: Int64 = 0
        var values: Int64 = 0
        var nameBytes: Int64 = 0
        var valueBytes: Int64 = 0
        /// The sums of ``StoreCheck/digest`` over all rows, and over the rows with values.
        var rowDigest: Int64 = 0
        var valueDigest: Int64 = 0
    }

    private let file: StoreFile
    private let connection: Connection
    private var stage = Stage.state
    /// The number of the last row that was read.
    private var position = Int64.min
    /// Whether the domains have the sizes of their values: backups of older versions do not.
    private var hasValueBytes = true
    private var found = Totals()
    private var claimed = Totals()
    private(set) var damage = StoreDamage()
    /// The state in the database; nil before it is read, and if it is not valid.
    private(set) var state: StoreState?

    /// - Parameter path: The file of the connection.
    init(of connection: Connection, path: String) {
        self.connection = connection
        file = StoreFile(path: path)
    }

    /// Checks the next part.
    ///
    /// - Returns: Whether there is more to check. If not, `damage` is complete.
    /// - Throws: `.cannotRead` if the disk fails. Damage is not thrown.
    func advance() throws(StorageError) -> Bool {
        do throws(StorageError) {
            if try !checkSome() { begin(next) }
        } catch {
            guard error.code == .damagedDatabase else { throw error }
            damage.note(structure: error)
            stage = .end
        }
        return stage != .end
    }

    private var next: Stage {
        switch stage {
        case .state: .entries
        case .entries: .tokens
        case .tokens: .domains
        case .domains, .end: .end
        }
    }

    private func begin(_ stage: Stage) {
        self.stage = stage
        position = .min
        guard stage == .end else { return }
        // A damaged value may have any size. It is reported already.
        if damage.rowCount > 0 { found.valueBytes = claimed.valueBytes }
        if found != claimed { noteMismatch("the domains together") }
    }

    /// - Returns: Whether there is more to check in this stage.
    private func checkSome() throws(StorageError) -> Bool {
        if stage == .state {
            state = try file.state(connection)
            hasValueBytes = try file.header(of: connection).version >= Schema.withValueBytes
            return false
        }
        do throws(SQLiteError) {
            switch stage {
            case .entries: return try checkEntries()
            case .tokens: return try checkTokens()
            case .domains: return try checkDomains()
            case .state, .end: return false
            }
        } catch {
            throw .storeFailure(file.path, error, .cannotRead)
        }
    }

    private func noteMismatch(_ what: String) {
        damage.note(structure: .miscounted(file.path, what))
    }
}

// MARK: The tables

extension StoreCheck {
    private func checkEntries() throws(SQLiteError) -> Bool {
        let select = try connection.prepare(StoreCheck.entries)
        try select.bind(position, at: 1)
        try select.bind(StoreCheck.rowsAtOnce, at: 2)
        var (rows, bytes) = (Int64(0), 0)
        while bytes < StoreCheck.bytesAtOnce, try select.step() {
            position = select.integer(at: 0)
            rows += 1
            bytes += Int(clamping: select.integer(at: 9))
            check(entry: select)
        }
        return rows == StoreCheck.rowsAtOnce || bytes >= StoreCheck.bytesAtOnce
    }

    /// An archive that is longer than a change can be is not loaded: this program did not write it.
    private static let entries = """
        SELECT entries.id, name, host, key, generation, checksum,
            iif(length(archive) <= \(PendingOverlay.maximumBytes), archive, NULL),
            length(CAST(key AS BLOB)),
            (SELECT twin.id FROM entries twin
                WHERE twin.domain = entries.domain AND twin.key = entries.key),
            length(archive), \(digest("entries.id"))
        FROM entries LEFT JOIN domains ON domains.id = entries.domain
        WHERE entries.id > ?1 ORDER BY entries.id LIMIT ?2
        """

    private func check(entry: borrowing Statement) {
        // Rows that are about to be removed are not checked.
        if entry.text(at: 2).map(DroppedDomains.isMark) == true { return }
        found.rows += 1
        found.rowDigest &+= entry.integer(at: 10)
        if !entry.isNull(at: 9) {
            found.valueDigest &+= entry.integer(at: 10)
            found.nameBytes += entry.integer(at: 7)
            if hasValueBytes { found.valueBytes &+= entry.integer(at: 9) }
            found.values += 1
        }
        guard let name = entry.text(at: 1), let host = entry.text(at: 2),
            let domain = Domain(name: name, hostColumn: host),
            let key = entry.text(at: 3).flatMap({ try? Key(stored: $0) }),
            key != .fileRecord || !domain.layer.isWritable
        else { return damage.note(row: nil) }
        let checksum = UInt64(bitPattern: entry.integer(at: 5))
        guard entry.integer(at: 8) == position,
            let generation = Generation(column: entry.integer(at: 4)),
            checksum == RowChecksum.of(domain, key, generation, entry.blob(at: 6))
        else { return damage.note(row: .init(domain: domain, key: key)) }
    }

    private func checkTokens() throws(SQLiteError) -> Bool {
        let select = try connection.prepare(StoreCheck.tokens)
        try select.bind(position, at: 1)
        try select.bind(StoreCheck.rowsAtOnce, at: 2)
        var rows: Int64 = 0
        while try select.step() {
            position = select.integer(at: 0)
            rows += 1
            if select.integer(at: 1) != position { noteMismatch("the tokens") }
        }
        return rows == StoreCheck.rowsAtOnce
    }

    private static let tokens = """
        SELECT id, (SELECT twin.id FROM tokens twin
            WHERE twin.domain = tokens.domain AND twin.token = tokens.token)
        FROM tokens WHERE id > ?1 ORDER BY id LIMIT ?2
        """

    private func checkDomains() throws(SQLiteError) -> Bool {
        let select = try connection.prepare(
            StoreCheck.domains(valueBytes: hasValueBytes ? "value_bytes" : "0"))
        try select.bind(position, at: 1)
        try select.bind(StoreCheck.rowsAtOnce, at: 2)
        var (rows, counted) = (Int64(0), Int64(0))
        while counted < StoreCheck.countedAtOnce, try select.step() {
            position = select.integer(at: 0)
            rows += 1
            counted += select.integer(at: 4)
            check(domain: select)
        }
        return rows == StoreCheck.rowsAtOnce || counted >= StoreCheck.countedAtOnce
    }

    /// A 31-bit digest of a row's number.
    ///
    /// If an index leads to another row, the sum of the digests differs. The sum cannot overflow.
    private static func digest(_ id: String) -> String {
        "((\(id) & 1073741823) + ((\(id) >> 30) & 1073741823))"
    }

    /// - Parameter valueBytes: The column, or what stands for it.
    private static func domains(valueBytes: String) -> String {
        """
        SELECT id, key_count, key_bytes,
            (SELECT count(*) FROM entries WHERE domain = domains.id AND archive IS NOT NULL),
            (SELECT count(*) FROM entries INDEXED BY entries_by_generation
                WHERE domain = domains.id),
            (SELECT count(*) FROM entries INDEXED BY removals
                WHERE domain = domains.id AND archive IS NULL),
            (SELECT twin.id FROM domains twin
                WHERE twin.name = domains.name AND twin.host = domains.host),
            name, host,
            (SELECT coalesce(sum(\(digest("id"))), 0) FROM entries
                WHERE domain = domains.id AND archive IS NOT NULL),
            (SELECT coalesce(sum(\(digest("id"))), 0) FROM entries INDEXED BY entries_by_generation
                WHERE domain = domains.id),
            (SELECT coalesce(sum(\(digest("id"))), 0) FROM entries INDEXED BY removals
                WHERE domain = domains.id AND archive IS NULL),
            \(valueBytes)
        FROM domains WHERE id > ?1 ORDER BY id LIMIT ?2
        """
    }

    private func check(domain: borrowing Statement) {
        if domain.text(at: 8).map(DroppedDomains.isMark) == true { return }
        let (values, rows) = (domain.integer(at: 1), domain.integer(at: 4))
        claimed.values &+= values
        claimed.nameBytes &+= domain.integer(at: 2)
        claimed.valueBytes &+= domain.integer(at: 12)
        claimed.rows += rows
        claimed.valueDigest &+= domain.integer(at: 9)
        claimed.rowDigest &+= domain.integer(at: 10)
        let isSound =
            values == domain.integer(at: 3) && rows &- values == domain.integer(at: 5)
            && domain.integer(at: 10) &- domain.integer(at: 9) == domain.integer(at: 11)
            && domain.integer(at: 6) == position
        if !isSound { noteMismatch(domain.text(at: 7) ?? "a domain") }
    }
}
