import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// What a process that is about to take over can see of a database that another process has open.
@Suite(.startsPrograms) struct CheckingTests {
    @Test("A new database, and one that is open, pass")
    func passes() throws {
        let scratch = try Scratch()
        try scratch.location.checkUsability()
        let path = "\(scratch.location.directory)/defaults.db"
        #expect(!FileManager.default.fileExists(atPath: path))
        let database = try scratch.open()
        // In another process: to close the file in this one would set SQLite's locks free.
        let header = try Scratch.output(
            of: "/usr/bin/python3", "-c",
            """
            import struct, sys
            with open(sys.argv[1], "rb") as file: header = file.read(100)
            print(*struct.unpack(">12xI4xI", header[48:72]))
            """, path)
        #expect(header == "\(Schema.version) \(Schema.applicationID)")
        database.close()
        try scratch.location.checkUsability()
    }

    @Test("Without a runtime directory, the journal's place beside the database is checked")
    func journal() throws {
        let scratch = try Scratch(hasRuntimeDirectory: false)
        try scratch.location.checkUsability()
        let journal = "\(scratch.location.directory)/journal"
        try FileManager.default.removeItem(atPath: journal)
        try Data().write(to: URL(fileURLWithPath: journal))
        let error = #expect(throws: StorageError.self) { try scratch.location.checkUsability() }
        #expect(error?.code == .directoryUnusable)
        #expect(error?.description.contains(journal) == true)
    }

    @Test(
        "An empty file is to be created, a cut one to be repaired, a foreign one refused",
        arguments: [
            (0, nil), (1, nil), (99, nil), (100, .notOurDatabase),
        ] as [(Int, StorageError.Code?)])
    func header(length: Int, code: StorageError.Code?) throws {
        let scratch = try Scratch()
        try scratch.location.checkUsability()
        // All that follows the magic is one, the application's number among it.
        let bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 1, count: 84)
        try Data(bytes.prefix(length)).write(
            to: URL(fileURLWithPath: "\(scratch.location.directory)/defaults.db"))
        do throws(StorageError) {
            try scratch.location.checkUsability()
            #expect(code == nil)
        } catch {
            #expect(error.code == code)
        }
    }
}
