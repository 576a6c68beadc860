internal import DefaultsModel
internal import SQLite

/// A store that is open and without damage, as far as is known without reading all of it.
struct OpenStore {
    let connection: Connection
    let reader: StoreReader
    let state: StoreState
    /// The machines whose names are noted.
    let hosts: [Host]
    let isNew: Bool
    /// The last repair; nil if it was never repaired.
    private(set) var lastRepair: RepairRecord?

    /// Opens a store; an empty file becomes a new one.
    ///
    /// If it is damaged, its files are not changed. The log is among them, which SQLite would fold
    /// into the database.
    ///
    /// - Throws: `.damagedDatabase`, `.notOurDatabase`, `.newerSchema`, `.inUse` or `.cannotOpen`.
    init(_ file: StoreFile, report: (Notice) -> Void) throws(StorageError) {
        connection = try file.connect()
        connection.keepLogOnClose(true)
        isNew = try file.prepare(connection)
        do {
            try file.makeIndexes(connection)
        } catch {
            report(.indexNotMade(error))
        }
        state = try file.state(connection)
        reader = try StoreReader(connection, path: file.path)
        do {
            lastRepair = try RepairRecord(of: connection)
            hosts = try HostTable(connection: connection).read()
        } catch {
            throw .storeFailure(file.path, error, .cannotOpen)
        }
        connection.keepLogOnClose(false)
    }

    /// Notes a loss in the store that no repair can restore.
    ///
    /// - Parameter time: The present time, in seconds since 1970.
    func noting(
        _ loss: Notice, at time: UInt64, report: (Notice) -> Void
    ) -> OpenStore {
        report(loss)
        var store = self
        let record = RepairRecord(loss.description, at: time)
        // On a full disk, only the log and this process know of it.
        try? record.write(on: connection)
        store.lastRepair = record
        return store
    }
}

/// What a store notes about its last repair.
///
/// It is written together with the repaired store, so every repair is on record.
package struct RepairRecord: Sendable, Hashable {
    /// When it was, in seconds since 1970.
    package let time: Int64
    /// What was kept and what was lost, in sentences that name keys and no values.
    package let report: String

    /// - Parameters:
    ///   - report: What was kept and what was lost.
    ///   - time: When, in seconds since 1970.
    init(_ report: String, at time: UInt64) {
        self.time = Int64(clamping: time)
        self.report = report
    }

    /// Reads the last one; nil if the store was never repaired.
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
