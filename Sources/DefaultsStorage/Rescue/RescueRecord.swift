internal import DefaultsModel
internal import Glibc
internal import SQLite

/// What a store keeps of the last rescue that it came from.
///
/// It is written with the store itself, so that there is none that was rescued without a word.
public struct RescueRecord: Sendable, Hashable {
    /// When it was, in seconds since 1970.
    public let time: Int64
    /// What was kept and what was lost, in sentences that name keys and no values.
    public let report: String

    /// - Parameter report: What was kept and what was lost, just now.
    init(_ report: String) {
        time = Int64(Glibc.time(nil))
        self.report = report
    }

    /// Reads the last one; nil where the store was never rescued.
    init?(of connection: Connection) throws(SQLiteError) {
        let select = try connection.prepare(
            "SELECT time, report FROM rescues ORDER BY id DESC LIMIT 1")
        guard try select.step(), let report = select.text(at: 1) else { return nil }
        time = select.integer(at: 0)
        self.report = report
    }

    func write(on connection: Connection) throws(SQLiteError) {
        let insert = try connection.prepare("INSERT INTO rescues (time, report) VALUES (?1, ?2)")
        try insert.bind(time, at: 1)
        try insert.bind(report, at: 2)
        try insert.run()
    }
}
