import Foundation
import TestSupport

/// Backups as they are found on disk.
extension Desktop {
    var backupsPath: String { directory.path + "/config/defaultsd/backups" }

    /// The files of the backups, in order, without the suffix; one that is being made is none.
    func backupNames(_ kind: String = "") throws -> [String] {
        guard FileManager.default.fileExists(atPath: backupsPath) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: backupsPath).sorted()
            .filter { $0.hasSuffix("\(kind).db") }.map { String($0.dropLast(3)) }
    }

    /// Waits for the backup that follows the first flush.
    func waitForDailyBackup() throws -> String {
        try wait { try backupNames("daily").count == 1 }
        return try backupNames("daily")[0]
    }

    /// Begins a Python program with `everything()`, which reads all domains, `service`, and
    /// `maintenance`, whose calls wait as long as it takes.
    static let pythonEverything = """
        import sqlite3, sys
        \(pythonArchive)
        maintenance = Gio.DBusProxy.new_sync(
            bus, Gio.DBusProxyFlags.NONE, None, "org.defaultsd.Defaults1",
            "/org/defaultsd/Defaults1", "org.defaultsd.Maintenance1")
        maintenance.set_default_timeout(2**31 - 1)
        service.set_default_timeout(2**31 - 1)
        def everything():
            return {domain: {key: bytes(value) for key, value in
                             service.GetAll("(s)", domain)[0].items()}
                    for domain in service.ListDomains()}
        def number(value): return dumps({**contents, "$objects": ["$null", value]})
        """

    /// Runs SQL in a backup by Python's sqlite3 module, and gives the rows as it prints them.
    func query(_ sql: String, ofBackup name: String) throws -> String {
        try run(
            "/usr/bin/python3", "-c",
            "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())",
            "\(backupsPath)/\(name).db", sql
        ).requireOutput().trimmingCharacters(in: .newlines)
    }
}
