internal import DefaultsModel
internal import SQLite

/// A store that is open and sound, as far as can be seen without reading all of it.
struct OpenStore {
    let connection: Connection
    let reader: StoreReader
    let state: StoreState
    /// The machines that have told their names.
    let hosts: [Host]
    let isNew: Bool
    /// The last rescue that it came from; nil where it came from none.
    private(set) var lastRescue: RescueRecord?

    /// Opens a store; an empty file becomes a new one.
    ///
    /// Where it is damaged its files are left as they are, the log among them, which SQLite would
    /// fold into the database.
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
            lastRescue = try RescueRecord(of: connection)
            hosts = try HostTable(connection: connection).read()
        } catch {
            throw .storeFailure(file.path, error, .cannotOpen)
        }
        connection.keepLogOnClose(false)
    }

    /// Notes in the store that something is lost that no rescue can bring back.
    func noting(
        _ loss: Notice, report: (Notice) -> Void
    ) -> OpenStore {
        report(loss)
        var store = self
        let record = RescueRecord(loss.description)
        // On a full disk only the log tells of it, and this process.
        try? record.write(on: connection)
        store.lastRescue = record
        return store
    }
}
