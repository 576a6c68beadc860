internal import DefaultsModel
internal import SQLite

/// The names that machines had when they last wrote to the store.
///
/// People read and type them. Which machine a layer belongs to never depends on them.
struct HostTable {
    /// How many names are read at most, so that the time of a start is limited.
    static let mostNames = 1000

    let connection: Connection

    /// The machines whose names are noted.
    ///
    /// Rows that this program cannot have written are skipped.
    func read() throws(SQLiteError) -> [Host] {
        let select = try connection.prepare(
            """
            SELECT id, name FROM hosts
                WHERE length(id) <= \(HostID.maximumLength) AND length(name) <= \(Host.longestName)
                LIMIT \(HostTable.mostNames)
            """)
        var hosts: [Host] = []
        while try select.step() {
            if let id = select.text(at: 0).flatMap({ HostID($0) }), let name = select.text(at: 1) {
                hosts.append(Host(id: id, name: name))
            }
        }
        return hosts
    }

    /// Notes the name of a machine, and replaces an earlier one.
    func write(_ host: Host) throws(SQLiteError) {
        try run("INSERT OR REPLACE INTO hosts (id, name) VALUES (?1, ?2)", host)
    }

    /// Notes the name of a machine, unless it has one here.
    func fillIn(_ host: Host) throws(SQLiteError) {
        try run("INSERT OR IGNORE INTO hosts (id, name) VALUES (?1, ?2)", host)
    }

    private func run(_ insertion: String, _ host: Host) throws(SQLiteError) {
        let insert = try connection.prepare(insertion)
        try insert.bind(host.id.name, at: 1)
        try insert.bind(host.name, at: 2)
        try insert.run()
    }
}

extension Host {
    /// More than Linux lets a host name have, in characters.
    ///
    /// See [gethostname(2)](https://man7.org/linux/man-pages/man2/gethostname.2.html).
    static let longestName = 255
}
