internal import DefaultsModel
internal import SQLite

/// When changes were written to disk: one row for each flush, and fewer for older ones.
///
/// A flush writes all changes after the one before. So the time of a change is that of the first row
/// that has its generation or a later one.
///
/// Invariants:
/// 1. A time is never before the flush that wrote the change, unless the clock was changed. It is
///    later by no more than the width of ``steps``.
/// 2. The number of rows is limited, whatever the clock does.
struct TimeTable {
    /// How many rows there may be before old ones are thinned out.
    static let mostRows: Int64 = 8192
    /// What is left if that does not help, as after a clock that has jumped very often.
    private static let rowsLeft: Int64 = 4096

    /// Of rows up to an age, one is kept in each span of time, both in seconds.
    private static let steps: [(age: Int64, width: Int64)] = [
        (3600, 10), (86_400, 60), (31 * 86_400, 3600), (366 * 86_400, 86_400),
        (.max, 7 * 86_400),
    ]

    let connection: Connection

    /// Notes that everything up to a generation is on disk.
    ///
    /// If it is noted already, the earlier time stays.
    ///
    /// - Parameter time: In seconds since 1970.
    func note(_ generation: Generation, at time: UInt64) throws(SQLiteError) {
        try fillIn(TimeRow(generation: generation, time: time))
        guard try count() > TimeTable.mostRows else { return }
        try thin(at: Int64(clamping: time))
        let surplus = try count() - TimeTable.mostRows
        if surplus > 0 { try forgetOldest(surplus + TimeTable.mostRows - TimeTable.rowsLeft) }
    }

    /// Adds a row, unless there is one of that generation.
    func fillIn(_ row: TimeRow) throws(SQLiteError) {
        let insert = try connection.prepare(
            "INSERT OR IGNORE INTO times (generation, time) VALUES (?1, ?2)")
        try insert.bind(row.generation.column, at: 1)
        try insert.bind(Int64(clamping: row.time), at: 2)
        try insert.run()
    }

    private func count() throws(SQLiteError) -> Int64 {
        let select = try connection.prepare("SELECT count(*) FROM times")
        return try select.step() ? select.integer(at: 0) : 0
    }

    /// Keeps the last row of each span.
    ///
    /// The last one, so that no change seems to be older than it is.
    private func thin(at now: Int64) throws(SQLiteError) {
        let spans = TimeTable.steps.map { age, width in
            "WHEN ?1 - time <= \(age) THEN '\(width) ' || (time / \(width))"
        }
        let delete = try connection.prepare(
            """
            DELETE FROM times WHERE time > 0 AND generation NOT IN
                (SELECT max(generation) FROM times GROUP BY CASE \(spans.joined(separator: " ")) END)
            """)
        try delete.bind(now, at: 1)
        try delete.run()
    }

    /// Forgets the oldest rows, and notes that these times are unknown.
    private func forgetOldest(_ count: Int64) throws(SQLiteError) {
        let select = try connection.prepare(
            "SELECT generation FROM times ORDER BY generation LIMIT 1 OFFSET ?1")
        try select.bind(count - 1, at: 1)
        guard try select.step() else { return }
        let last = select.integer(at: 0)
        select.reset()
        let delete = try connection.prepare("DELETE FROM times WHERE generation < ?1")
        try delete.bind(last, at: 1)
        try delete.run()
        let update = try connection.prepare("UPDATE times SET time = 0 WHERE generation = ?1")
        try update.bind(last, at: 1)
        try update.run()
    }

    /// When changes were written.
    ///
    /// - Returns: For each generation nil if it is not on disk, and 0 if the time is unknown.
    func times(of generations: [Generation]) throws(SQLiteError) -> [UInt64?] {
        let select = try connection.prepare(
            "SELECT time FROM times WHERE generation >= ?1 ORDER BY generation LIMIT 1")
        var times: [UInt64?] = []
        for generation in generations {
            try select.bind(generation.column, at: 1)
            times.append(try select.step() ? UInt64(clamping: select.integer(at: 0)) : nil)
            select.reset()
        }
        return times
    }
}

extension TimeTable {
    /// The last generation whose time is not later than a time; nil if none is known.
    ///
    /// - Parameter time: In seconds since 1970.
    func generation(at time: Int64) throws(SQLiteError) -> Int64? {
        let select = try connection.prepare(
            "SELECT max(generation) FROM times WHERE time > 0 AND time <= ?1")
        try select.bind(time, at: 1)
        guard try select.step(), !select.isNull(at: 0) else { return nil }
        return select.integer(at: 0)
    }
}

/// When everything up to a generation was on disk.
struct TimeRow: Equatable {
    let generation: Generation
    /// In seconds since 1970; 0 if that is unknown.
    let time: UInt64
}
