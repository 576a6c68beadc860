import SQLite

extension RoamState {
    /// How many keys are the same on both sides, how many edits wait, and which keys stay for now, each with
    /// the reason.
    func counts() throws(SQLiteError) -> (bases: UInt64, edits: UInt64, obstacles: [String: String])
    {
        func count(_ sql: String) throws(SQLiteError) -> UInt64 {
            let select = try connection.prepare(sql)
            return try select.step() ? UInt64(select.integer(at: 0)) : 0
        }
        var obstacles: [String: String] = [:]
        for table in ["edit", "arrival"] {
            let select = try connection.prepare(
                "SELECT domain, key, obstacle FROM \(table) WHERE obstacle IS NOT NULL")
            while try select.step() {
                let key = select.key(from: 0)
                obstacles["\(key.domain) \(key.name)"] = select.text(at: 2) ?? ""
            }
        }
        return try (
            count(
                """
                SELECT count(*) FROM base WHERE revision IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM edit WHERE edit.domain = base.domain AND edit.key = base.key)
                """),
            count("SELECT count(*) FROM edit WHERE obstacle IS NULL"), obstacles
        )
    }
}
