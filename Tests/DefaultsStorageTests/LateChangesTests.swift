import DefaultsModel
import Foundation
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

/// Late changes for which there are no numbers, because the counter has jumped and the disk accepts no
/// higher ceiling.
///
/// The numbers in the names are those of the invariants of `Database`.
@Suite(.startsPrograms) struct LateChangesTests {
    private let scratch: Scratch
    private let files = FileManager.default

    init() throws {
        scratch = try Scratch()
    }

    /// Leaves a journal that the process after it does not find, and that process's own changes.
    private func leaveLateJournal() async throws {
        try scratch.process { database in
            try database.set(["late": [1], "replaced": [1]])
            try database.set(["late": [2]])
        }
        try files.moveItem(atPath: "\(scratch.root)/run", toPath: "\(scratch.root)/hidden")
        let without = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: nil)
        let database = try Database(at: without, boot: Scratch.boot) { _ in }
        try database.set(["replaced": [3], "flushed": [1]])
        try await database.flush()
        try database.set(["pending": [1]])
        database.close()
        try files.moveItem(atPath: "\(scratch.root)/hidden", toPath: "\(scratch.root)/run")
    }

    /// Opens the database, as in another boot, while the store cannot be written.
    private func openOnFullDisk() throws -> Database {
        let obstruction = try Connection(
            path: "\(scratch.location.directory)/defaults.db", flags: .readWrite, vfs: "unix-excl")
        try obstruction.execute("BEGIN IMMEDIATE")
        defer { try? obstruction.execute("ROLLBACK") }
        return try scratch.open(boot: .random())
    }

    @Test(
        "1: without numbers they wait for a later start, and everything else is there",
        arguments: [0, 1, 3])
    func waiting(crashes: Int) async throws {
        try await leaveLateJournal()
        for _ in 0..<crashes {
            #expect(try openOnFullDisk().keys() == ["flushed", "pending", "replaced"])
        }
        let database = try openOnFullDisk()
        #expect(scratch.noticed("wait for a start"))
        #expect(try database.keys() == ["flushed", "pending", "replaced"])
        let error = #expect(throws: StorageError.self) { try database.set(["key": [1]]) }
        #expect(error?.code == .generationsExhausted)
        try await database.flush()
        try database.set(["after": [1]])
        try await database.flush()
        #expect(try database.archive("late") == nil)
        database.close()
        try await expectTakenUp()
    }

    private func expectTakenUp() async throws {
        let keys = ["after", "flushed", "late", "pending", "replaced"]
        try scratch.process { (database) throws in
            #expect(try database.keys() == keys)
            #expect(try database.archive("late") == [2])
            #expect(try database.archive("replaced") == [3])
        }
        let again = try scratch.open()
        #expect(try again.keys() == keys)
        try await again.flush()
        again.close()
        let left = try #require(files.enumerator(atPath: "\(scratch.root)/run")).allObjects
        #expect(!left.contains { ($0 as? String)?.contains("late") == true })
        #expect(try scratch.open().archive("late") == [2])
    }

    @Test("1: keys that were set or removed meanwhile are newer")
    func replacedMeanwhile() async throws {
        try await leaveLateJournal()
        let database = try openOnFullDisk()
        try await database.flush()
        try database.remove("late")
        database.close()
        try scratch.process { (database) throws in
            #expect(try database.keys() == ["flushed", "pending", "replaced"])
        }
    }
}
