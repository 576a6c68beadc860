internal import DefaultsModel
internal import SQLite

/// What the store tells of changes: sizes and generations rather than values.
extension StoreReader {
    /// The keys of a domain that have values, with their sizes, in the order of their bytes.
    func summaries(of domain: Domain) throws(StorageError) -> [StoredEntry] {
        try reading { () throws(SQLiteError) in
            defer { selectSummaries.reset() }
            try bind(selectSummaries, domain)
            return try selectSummaries.entries()
        }
    }

    /// The rows of a domain, removals among them, that came after a generation, in no order.
    func changes(
        of domain: Domain, since generation: Generation
    ) throws(StorageError) -> [StoredEntry] {
        try reading { () throws(SQLiteError) in
            defer { selectChanges.reset() }
            try bind(selectChanges, domain)
            try selectChanges.bind(generation.column, at: 3)
            return try selectChanges.entries()
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
    /// Steps through rows of key, generation and size.
    fileprivate func entries() throws(SQLiteError) -> [StoredEntry] {
        var entries: [StoredEntry] = []
        while try step() {
            // As with keys alone: what makes no sense was not written by this program.
            guard let key = text(at: 0).flatMap({ try? Key($0) }),
                let generation = Generation(column: integer(at: 1))
            else { continue }
            let size = isNull(at: 2) ? nil : Int(clamping: integer(at: 2))
            entries.append(StoredEntry(key: key, generation: generation, size: size))
        }
        return entries
    }
}
