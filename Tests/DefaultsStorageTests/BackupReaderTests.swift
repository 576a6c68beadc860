import DefaultsModel
import Foundation
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

@Suite(.startsPrograms) struct BackupReaderTests {
    /// Reads a whole backup.
    private func read(_ backup: Backup, of database: Database) async throws -> [BackupPart] {
        let writer = try database.makeWriter()
        let reader = try await writer.open(backup)
        while try await reader.verify() {}
        #expect(await reader.damage.isNone)
        var parts: [BackupPart] = []
        while let part = try await reader.next() { parts.append(part) }
        #expect(try await reader.next() == nil)
        await writer.close()
        return parts
    }

    @Test("All values are read in parts, by domain, in order, and without removed keys")
    func parts() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        for number in 0..<1000 {
            try database.set(
                ["key\(number)": [UInt8(number % 256)]], in: "org.example.App\(number % 2)")
        }
        try database.set(["ü": [1], "a": [2]], in: "org.example.App0@host")
        try database.set(
            ["a": [UInt8](repeating: 1, count: 1 << 20), "b": [1]], in: "org.example.L")
        try database.set(["gone": [1]], in: "org.example.Gone")
        try database.remove("gone", in: "org.example.Gone")
        try database.remove("key0", in: "org.example.App0")
        try await database.flush()
        let backup = try #require(try await database.backUp(.manual, at: 1).backup)
        let parts = try await read(backup, of: database)
        for domain in try database.domains() {
            let own = parts.filter { $0.domain == domain }
            #expect(own.flatMap { $0.values.map(\.key) } == (try database.keys(of: domain)))
            for value in own.flatMap(\.values) {
                #expect(try database.value(domain, value.key)?.archive == value.archive)
            }
            #expect(own.map(\.isLast) == own.indices.map { $0 == own.count - 1 })
        }
        #expect(Set(parts.map(\.domain)) == Set(try database.domains()))
        #expect(parts.count > 6)
        #expect(parts.allSatisfy { !$0.values.isEmpty })
    }

    @Test("It lists the domains without values")
    func domains() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try database.set(["key": [1]], in: "org.example.Emptied")
        try database.remove("key", in: "org.example.Emptied")
        try await database.flush()
        let backup = try #require(try await database.backUp(.manual, at: 1).backup)
        let writer = try database.makeWriter()
        let reader = try await writer.open(backup)
        let names = ["org.example.App", "org.example.App@host", "org.example.Emptied", "a"]
        let domains = try names.map { try Domain($0, on: .localhost) }
        #expect(try await reader.domainsWithoutValues(among: domains) == Array(domains.dropFirst()))
        await writer.close()
    }

    @Test("Damaged rows of a backup are reported, and the others are read")
    func damagedRows() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["a": [1], "b": [2], "c": [3]])
        try await database.flush()
        let backup = try #require(try await database.backUp(.manual, at: 1).backup)
        do {
            let file = try Connection(path: backup.path, flags: .readWrite)
            try file.execute("UPDATE entries SET checksum = checksum + 1 WHERE key <> 'b'")
        }
        let writer = try database.makeWriter()
        let reader = try await writer.open(backup)
        while try await reader.verify() {}
        #expect(await reader.damage.rowCount == 2)
        let part = try #require(try await reader.next())
        #expect(part.values.map(\.key.name) == ["b"])
        await writer.close()
    }

    @Test("A backup that is removed during reading is read to its end")
    func removed() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        let backup = try #require(try await database.backUp(.manual, at: 1).backup)
        let writer = try database.makeWriter()
        let reader = try await writer.open(backup)
        try FileManager.default.removeItem(atPath: backup.path)
        while try await reader.verify() {}
        #expect(await reader.damage.isNone)
        #expect(try await reader.next()?.values.map(\.archive) == [[1]])
        let error = await #expect(throws: StorageError.self) { try await writer.open(backup) }
        #expect(error?.code == .cannotOpen)
        await writer.close()
    }
}
