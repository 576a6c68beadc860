import Foundation
import SQLite

@testable import ServiceHarness

/// Backups as they are found on disk.
extension TestSession {
    var backupsPath: String { service.files.database + "/backups" }

    /// The files of the backups of a kind, in order, without the suffix.
    func backupNames(_ kind: String = "") throws -> [String] {
        guard FileManager.default.fileExists(atPath: backupsPath) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: backupsPath).sorted()
            .filter { $0.hasSuffix("\(kind).db") }.map { String($0.dropLast(3)) }
    }

    /// Waits until all changes are on disk, and the daily backup that follows is made.
    ///
    /// - Returns: Its name; nil if there was one of this day already.
    @discardableResult
    func makeDailyBackup() async throws -> String? {
        let before = try backupNames("daily")
        await service.advance(by: .milliseconds(250))
        return try backupNames("daily").first { !before.contains($0) }
    }

    /// Runs SQL in a backup, and gives the first column of its rows.
    func query(_ sql: String, ofBackup name: String) throws -> [String] {
        let backup = try Connection(path: "\(backupsPath)/\(name).db", flags: .readWrite)
        let statement = try backup.prepare(sql)
        var rows: [String] = []
        while try statement.step() { rows.append(statement.text(at: 0) ?? "NULL") }
        return rows
    }
}
