internal import DefaultsModel
internal import SQLite

/// What the store tells of changes: sizes and generations rather than values.
extension StoreReader {
    /// The keys of a domain that have values, with their sizes, in no order.
    func summaries(of domain: Domain) throws(StorageError) -> [StoredEntry] {
        try reading { () throws(SQLiteError) in
            defer { selectSummaries.reset() }
            try bind(selectSummaries, domain)
            var entries: [StoredEntry] = []
            while try selectSummaries.step() {
                if let entry = selectSummaries.entry { entries.append(entry) }
            }
            return entries
        }
    }

    /// The rows of a domain, removals among them, that came after a generation, in no order; nil
    /// where removals that came after it are forgotten.
    ///
    /// Rows and horizon come from one statement. The writer may commit between any two, and a flush
    /// that forgets removals raises the horizon: the old one would vouch for the rows that are left.
    func changes(
        of domain: Domain, since generation: Generation
    ) throws(StorageError) -> [StoredEntry]? {
        try reading { () throws(SQLiteError) in
            defer { selectChanges.reset() }
            try bind(selectChanges, domain)
            try selectChanges.bind(generation.column, at: 3)
            var entries: [StoredEntry] = []
            while try selectChanges.step() {
                let horizon = Generation(column: selectChanges.integer(at: 3))
                if let horizon, horizon > generation { return nil }
                if let entry = selectChanges.entry { entries.append(entry) }
            }
            return entries
        }
    }

    /// How many rows of a domain, removals among them, came after a generation; no more than a limit
    /// are counted.
    func count(
        of domain: Domain, since generation: Generation, upTo limit: Int
    ) throws(StorageError) -> Int {
        try reading { () throws(SQLiteError) in
            defer { selectChangeCount.reset() }
            try bind(selectChangeCount, domain)
            try selectChangeCount.bind(generation.column, at: 3)
            try selectChangeCount.bind(Int64(limit), at: 4)
            return try selectChangeCount.step() ? Int(selectChangeCount.integer(at: 0)) : 0
        }
    }

    /// What is known of a domain's changes.
    func record(of domain: Domain) throws(StorageError) -> StoredRecord {
        try reading { () throws(SQLiteError) in
            defer { selectRecord.reset() }
            try bind(selectRecord, domain)
            guard try selectRecord.step() else {
                return StoredRecord(lastChange: nil, horizon: nil)
            }
            return StoredRecord(
                lastChange: Generation(column: selectRecord.integer(at: 0)),
                horizon: Generation(column: selectRecord.integer(at: 1)))
        }
    }

    /// The generation that was replied to a transaction with this token.
    func generation(of token: Token, in domain: Domain) throws(StorageError) -> Generation? {
        try reading { () throws(SQLiteError) in
            defer { selectToken.reset() }
            try bind(selectToken, domain)
            try selectToken.bind(token.name, at: 3)
            return try selectToken.step() ? Generation(column: selectToken.integer(at: 0)) : nil
        }
    }
}

extension Statement {
    /// The row of key, generation and size that the statement stands at; nil where it is none.
    ///
    /// As with keys alone: what makes no sense was not written by this program.
    fileprivate var entry: StoredEntry? {
        guard let key = text(at: 0).flatMap({ try? Key(stored: $0) }),
            let generation = Generation(column: integer(at: 1))
        else { return nil }
        let size = isNull(at: 2) ? nil : Int(clamping: integer(at: 2))
        return StoredEntry(key: key, generation: generation, size: size)
    }
}

/// What the store tells of a key without its value.
struct StoredEntry {
    let key: Key
    let generation: Generation
    /// The size of the archive in bytes; nil for a removal.
    let size: Int?
}

/// What the store knows of the changes of a domain.
struct StoredRecord {
    /// The domain's last change; nil where it never had one.
    let lastChange: Generation?
    /// The generation up to which removals are forgotten; nil where none is.
    let horizon: Generation?
}
