import Foundation
import SQLite

/// Damage to the files of a service that has ended.
extension TestPlace {
    /// The file of the store.
    var store: String { "\(database)/defaults.db" }

    /// Flips a bit in the stored value of a key.
    func damage(_ key: String) throws {
        let archive = Data(try self.archive(of: key))
        var bytes = try Data(contentsOf: URL(filePath: store))
        guard let place = bytes.range(of: archive) else { throw NotOnDisk(key: key) }
        bytes[place.lowerBound + archive.count / 2] ^= 1
        // In place: the file keeps its identity.
        let file = try FileHandle(forUpdating: URL(filePath: store))
        try file.write(contentsOf: bytes)
        try file.close()
    }

    private func archive(of key: String) throws -> [UInt8] {
        let statement = try connection(to: store).prepare(
            "SELECT archive FROM entries WHERE key = ?")
        try statement.bind(key, at: 1)
        guard try statement.step(), let archive = statement.blob(at: 0) else {
            throw NotOnDisk(key: key)
        }
        return archive
    }

    /// Removes all values, and leaves the counts of the domains as they were.
    func removeRows() throws {
        try connection(to: store).execute("DELETE FROM entries")
    }

    /// Changes a value in a backup, so that it is not an archive.
    func damage(_ key: String, ofBackup name: String) throws {
        let statement = try connection(to: "\(backups)/\(name).db").prepare(
            "UPDATE entries SET archive = x'ff' WHERE key = ?")
        try statement.bind(key, at: 1)
        try statement.run()
    }

    /// Where the backups are.
    var backups: String { "\(database)/backups" }

    func removeBackups() throws {
        try FileManager.default.removeItem(atPath: backups)
    }

    private func connection(to path: String) throws -> Connection {
        try Connection(path: path, flags: .readWrite)
    }

    /// The store has no value of the key.
    struct NotOnDisk: Error {
        let key: String
    }
}
