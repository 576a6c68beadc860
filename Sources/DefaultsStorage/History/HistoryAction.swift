internal import DefaultsModel
internal import DefaultsTerms
internal import SQLite

/// An action of the history, as the file has it.
struct HistoryAction: Equatable {
    /// The generation of its first change.
    let id: Int64
    let number: Int64
    /// The generation of its last change.
    let last: Int64
    /// When it began and ended, in seconds since 1970.
    let began: Int64
    let ended: Int64
    /// The number of the author.
    let author: Int64
    let kind: HistoryTerms.Kind
    /// How many keys it changed.
    let keys: Int64
    /// Whether its changes were lost in a power cut.
    let isLost: Bool
    let note: String

    /// The columns, in the order of ``init(_:)``.
    static let columns =
        "actions.id, actions.number, actions.last, actions.began, actions.ended, actions.author, actions.kind, actions.keys, actions.lost, actions.note"

    /// Reads an action from a row.
    init(_ row: borrowing Statement) {
        id = row.integer(at: 0)
        number = row.integer(at: 1)
        last = row.integer(at: 2)
        began = row.integer(at: 3)
        ended = row.integer(at: 4)
        author = row.integer(at: 5)
        kind =
            UInt8(exactly: row.integer(at: 6)).flatMap(HistoryTerms.Kind.init(number:)) ?? .late
        keys = row.integer(at: 7)
        isLost = row.integer(at: 8) != 0
        note = row.text(at: 9) ?? ""
    }

    /// Finds an action by its number; nil if there is none.
    init?(number: Int64, on connection: Connection) throws(SQLiteError) {
        let select = try connection.prepare(
            "SELECT \(HistoryAction.columns) FROM actions WHERE number = ?1")
        try select.bind(number, at: 1)
        guard try select.step() else { return nil }
        self.init(select)
    }
}
