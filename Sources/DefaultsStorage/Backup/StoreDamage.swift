public import DefaultsModel
import DefaultsTerms

/// What a check of a whole database has found to be damaged; nothing, for one that is sound.
public struct StoreDamage: Sendable, CustomStringConvertible {
    /// A row by the key that it is for.
    public struct Row: Hashable, Sendable {
        /// The domain of the key.
        public let domain: Domain
        /// The key.
        public let key: Key
    }

    /// How many rows are named.
    public static let namedRows = 100

    /// The first damaged rows, of those that can be named.
    public private(set) var rows: [Row] = []
    /// How many rows are damaged in all.
    public private(set) var rowCount = 0
    /// What is damaged beside single rows, of which everything may depend; nil where nothing is.
    public private(set) var structure: StorageError?

    init(of structure: StorageError? = nil) {
        self.structure = structure
    }

    /// Whether nothing is damaged.
    public var isNone: Bool { rowCount == 0 && structure == nil }

    /// What is damaged, in a sentence or two, without values.
    public var description: String {
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

    /// Notes a damaged row, by its key where that can be read.
    mutating func note(row: Row?) {
        rowCount += 1
        if let row, rows.count < StoreDamage.namedRows { rows.append(row) }
    }

    /// Notes damage beside rows; the first is told.
    mutating func note(structure error: StorageError) {
        structure = structure ?? error
    }
}
