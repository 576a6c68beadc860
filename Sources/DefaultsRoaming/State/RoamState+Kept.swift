import SQLite

/// On how many days this machine has seen values that lost.
///
/// The days are counted, and not computed from two times: a clock that jumps by a year makes a day of it.
extension RoamState {
    /// Counts a day for the keys that are there, once.
    ///
    /// - Parameters:
    ///   - keys: The keys, all others are forgotten.
    ///   - day: The number of the day.
    ///   - limit: How many days a key may be there.
    /// - Returns: The keys that were there on more days.
    func count(
        _ day: Int64, of keys: [String], limit: Int64
    ) throws(SQLiteError) -> [String] {
        try connection.transaction { () throws(SQLiteError) in
            let counted = try connection.prepare("SELECT 1 FROM kept WHERE day = ?")
            try counted.bind(day, at: 1)
            guard try !counted.step() else { return [] }
            for key in keys {
                let insert = try connection.prepare(
                    """
                    INSERT INTO kept VALUES (?, 1, ?)
                    ON CONFLICT (key) DO UPDATE SET days = days + 1, day = excluded.day
                    """)
                try insert.bind(key, at: 1)
                try insert.bind(day, at: 2)
                try insert.run()
            }
            let delete = try connection.prepare("DELETE FROM kept WHERE day != ?")
            try delete.bind(day, at: 1)
            try delete.run()
            let select = try connection.prepare("SELECT key FROM kept WHERE days > ?")
            try select.bind(limit, at: 1)
            var old: [String] = []
            while try select.step() { old.append(select.text(at: 0) ?? "") }
            return old
        }
    }
}
