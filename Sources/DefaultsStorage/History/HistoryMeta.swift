internal import DefaultsModel
internal import SQLite

/// What the history knows about itself.
struct HistoryMeta: Equatable {
    /// All changes up to this generation were looked at.
    var noted: Int64
    /// The number of the next action.
    var number: Int64
    /// No change after this generation is missing.
    private(set) var knownFrom: Int64
    /// When that was, in seconds since 1970.
    private(set) var knownSince: Int64
    /// The day of the last action, in days since 1970.
    private(set) var day: Int64
    /// How many days the history has seen: a clock that jumps makes it older by a day, not by years.
    private(set) var days: Int64

    init(of connection: Connection) throws(SQLiteError) {
        let select = try connection.prepare(
            "SELECT noted, number, known_from, known_since, day, days FROM meta")
        guard try select.step() else {
            throw SQLiteError(
                extendedCode: .corrupt, message: "the table meta has no row", sql: "SELECT")
        }
        noted = select.integer(at: 0)
        number = select.integer(at: 1)
        knownFrom = select.integer(at: 2)
        knownSince = select.integer(at: 3)
        day = select.integer(at: 4)
        days = select.integer(at: 5)
        // Counting on from there does not overflow.
        let limit = Generation.largestInFile.column
        guard [noted, number, knownFrom, days].allSatisfy({ 0...limit ~= $0 }) else {
            throw SQLiteError(
                extendedCode: .corrupt, message: "the table meta makes no sense", sql: "SELECT")
        }
    }

    /// Notes that changes up to a generation may be missing.
    mutating func noteGap(upTo generation: Int64, at time: Int64) {
        noted = generation
        (knownFrom, knownSince) = (generation, time)
    }

    /// Notes that changes up to a generation were removed.
    mutating func noteRemoval(upTo generation: Int64, at time: Int64) {
        guard generation > knownFrom else { return }
        (knownFrom, knownSince) = (generation, time)
    }

    /// Notes that something has changed on a day.
    mutating func noteDay(of time: Int64) {
        let today = time / HistoryFlush.secondsPerDay
        guard today != day else { return }
        (day, days) = (today, days + 1)
    }

    func write(on connection: Connection) throws(SQLiteError) {
        let update = try connection.prepare(
            """
            UPDATE meta SET noted = ?1, number = ?2, known_from = ?3, known_since = ?4, day = ?5,
                days = ?6
            """)
        for (parameter, number) in zip(
            Int32(1)..., [noted, number, knownFrom, knownSince, day, days])
        {
            try update.bind(number, at: parameter)
        }
        try update.run()
    }
}
