import KeyedArchive
import RoamingTerms
import SQLite

/// What roamed when the replica was last at work.
extension RoamState {
    /// The choice; one that chooses nothing if there is none.
    func choice(isEncrypted: Bool) throws(SQLiteError) -> RoamChoice {
        let select = try connection.prepare("SELECT key, archive FROM choice")
        var entries: [(String, KeyedArchive)] = []
        while try select.step() {
            guard let archive = try? KeyedArchive(validating: select.blob(at: 1) ?? []) else {
                continue
            }
            entries.append((select.text(at: 0) ?? "", archive))
        }
        return RoamChoice(entries, isEncrypted: isEncrypted)
    }

    /// Forgets keys that no longer roam, and marks the domains to scan in which other keys may roam now.
    ///
    /// - Parameter replica: One that reads the engine from the beginning.
    func change(
        from former: RoamChoice, to choice: RoamChoice, _ replica: ReplicaRecord
    ) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            for table in ["base", "edit", "arrival"] {
                for key in try keys(in: table) where !choice.covers(key) {
                    let delete = try connection.prepare(
                        "DELETE FROM \(table) WHERE domain = ? AND key = ?")
                    try delete.bind(key)
                    try delete.run()
                }
            }
            for domain in try domains() {
                let rule = choice.rule(for: domain)
                guard rule != former.rule(for: domain) else { continue }
                let change = try connection.prepare(
                    rule == nil
                        ? "DELETE FROM domain WHERE domain = ?"
                        : "UPDATE domain SET hasNewKeys = 1 WHERE domain = ?")
                try change.bind(domain, at: 1)
                try change.run()
            }
            try write(choice)
            try write(replica)
        }
    }

    private func keys(in table: String) throws(SQLiteError) -> [RoamingKey] {
        let select = try connection.prepare("SELECT domain, key FROM \(table)")
        var keys: [RoamingKey] = []
        while try select.step() { keys.append(select.key(from: 0)) }
        return keys
    }

    /// Notes what roams, inside of a transaction.
    func write(_ choice: RoamChoice) throws(SQLiteError) {
        try connection.execute("DELETE FROM choice")
        for (key, rule) in choice.rules {
            // A rule can always be encoded.
            guard let archive = try? rule.archive() else { continue }
            let insert = try connection.prepare("INSERT INTO choice VALUES (?, ?)")
            try insert.bind(key, at: 1)
            try insert.bind(archive.bytes, at: 2)
            try insert.run()
        }
    }
}
