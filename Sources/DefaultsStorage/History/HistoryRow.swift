internal import DefaultsModel
internal import SQLite

/// A row of the history: a key had a value from one generation until just before another.
///
/// A row is true by itself, whatever other rows are lost.
struct HistoryRow: Equatable {
    /// The number of the row, once it is in the file.
    var id: Int64 = 0
    /// The number of the domain in the file.
    var domain: Int64
    var key: String
    /// The generation from which on the key had ``was``.
    var base: Int64
    /// The first change of the action.
    var first: Int64
    /// The last change of the action.
    var last: Int64
    /// The generation whose value the action has brought back; nil if it has brought a new one.
    var origin: Int64?
    /// The action.
    var action: Int64
    /// Whether the action has ended with the value that it began with.
    var isVoid: Bool
    /// What the key had; nil for no value.
    var was: [UInt8]?

    /// The generation whose value the key has after the action.
    var left: Int64 { origin ?? last }

    /// The columns, in the order of ``init(_:)``.
    static let columns =
        "rows.id, rows.domain, rows.key, rows.base, rows.first, rows.last, rows.origin, rows.action, rows.void, rows.checksum, rows.was"

    /// What the row takes up in the file, as an estimate in bytes.
    var size: Int64 { Int64(160 + key.utf8.count + (was?.count ?? 0)) }

    /// Over all columns.
    ///
    /// The tag keeps it apart from the checksums of the database: a value that looks like
    /// a row is not one.
    var checksum: Int64 {
        var bytes = Array("defaultsd history row".utf8)
        for number in [domain, base, first, last, origin ?? -1, action, isVoid ? 1 : 0] {
            bytes.append(littleEndian: number)
        }
        bytes.append(was == nil ? 0 : 1)
        bytes.append(text: key, lengthAs: UInt32.self)
        return Int64(
            bitPattern: XXH64.hash(was ?? [], seed: XXH64.hash(bytes, seed: 0)))
    }

    init(
        domain: Int64, key: String, base: Int64, first: Int64, last: Int64, origin: Int64?,
        action: Int64, isVoid: Bool, was: [UInt8]?
    ) {
        self.domain = domain
        self.key = key
        self.base = base
        self.first = first
        self.last = last
        self.origin = origin
        self.action = action
        self.isVoid = isVoid
        self.was = was
    }

    /// Reads a row; nil if it is damaged.
    init?(_ row: borrowing Statement) {
        self.init(
            domain: row.integer(at: 1), key: row.text(at: 2) ?? "", base: row.integer(at: 3),
            first: row.integer(at: 4), last: row.integer(at: 5),
            origin: row.isNull(at: 6) ? nil : row.integer(at: 6), action: row.integer(at: 7),
            isVoid: row.integer(at: 8) != 0, was: row.blob(at: 10))
        id = row.integer(at: 0)
        guard row.integer(at: 9) == checksum else { return nil }
    }
}
