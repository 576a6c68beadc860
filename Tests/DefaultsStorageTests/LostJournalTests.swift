import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

/// A runtime directory that disappears during use, as at a logout.
///
/// The numbers in the names are those of the invariants of `Database`.
@Suite struct LostJournalTests {
    private let scratch: Scratch
    private let run: String

    init() throws {
        scratch = try Scratch()
        run = "\(scratch.root)/run"
    }

    /// Loses the runtime directory between two changes of a process that then dies.
    private func lose(_ change: () throws -> Void) throws {
        try scratch.process { database in
            try database.set(["before": [1]])
            try change()
            try database.set(["after": [2]])
            try database.set(["later": [3]])
        }
    }

    private var lossNotices: Int {
        scratch.notices.count { $0.description.contains("was removed while it was in use") }
    }

    @Test("1: a journal whose directory is removed begins again in the same place, with one notice")
    func removed() throws {
        try lose { try FileManager.default.removeItem(atPath: "\(run)/defaultsd") }
        #expect(lossNotices == 1)
        let database = try scratch.open()
        #expect(try database.keys() == ["after", "before", "later"])
        #expect(database.generation.rawValue == 4)
        #expect(try scratch.journal().allSatisfy { $0.hasPrefix(run) })
    }

    @Test("1: if the runtime directory cannot be made again, the journal is beside the database")
    func cannotBeMade() throws {
        try lose {
            try FileManager.default.removeItem(atPath: run)
            try Data().write(to: URL(fileURLWithPath: run))
        }
        #expect(lossNotices == 1)
        let without = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: nil)
        let database = try Database(at: without, boot: Scratch.boot) { _ in }
        #expect(try database.keys() == ["after", "before", "later"])
        #expect(database.generation.rawValue == 4)
    }

    @Test("1: a new directory in place of the lost one is not taken for it")
    func replaced() throws {
        try lose {
            try FileManager.default.moveItem(atPath: run, toPath: "\(scratch.root)/moved")
            try FileManager.default.copyItem(atPath: "\(scratch.root)/moved", toPath: run)
        }
        #expect(lossNotices == 1)
        #expect(try scratch.open().keys() == ["after", "before", "later"])
    }

    @Test("1: a flush that fails finds the loss too, and every pending change is safe again")
    func foundByFlush() throws {
        try scratch.process { database in
            try database.set(["key": [1]])
            let earlier = try #require(database.beginFlush())
            try database.set(["other": [1]])
            try FileManager.default.removeItem(atPath: "\(run)/defaultsd")
            database.finishFlush(earlier, .failure(.noHome()))
            let batch = try #require(database.beginFlush())
            database.finishFlush(batch, .failure(.noHome()))
        }
        #expect(lossNotices == 1)
        #expect(try scratch.open().keys() == ["key", "other"])
    }

    @Test("1: the end of a flush that began before the loss removes no later changes")
    func lossDuringFlush() async throws {
        try await {
            let database = try scratch.open()
            try database.set(["key": [1]])
            let batch = try #require(database.beginFlush())
            try FileManager.default.removeItem(atPath: "\(run)/defaultsd")
            try database.set(["after": [2]])
            let writer = try database.makeWriter()
            try await writer.write(batch)
            database.finishFlush(batch, .success(()))
            await writer.close()
        }()
        #expect(try scratch.open().keys() == ["after", "key"])
    }

    @Test("2: a change is refused if no journal can be made at all")
    func nowhere() throws {
        let database = try scratch.open()
        try FileManager.default.removeItem(atPath: run)
        try Data().write(to: URL(fileURLWithPath: run))
        let beside = "\(scratch.location.directory)/journal"
        try Data().write(to: URL(fileURLWithPath: beside))
        let error = #expect(throws: StorageError.self) { try database.set(["key": [1]]) }
        #expect(error?.code == .cannotJournal)
        #expect(error?.description.contains(beside) == true)
        #expect(try database.archive("key") == nil)
        try FileManager.default.removeItem(atPath: beside)
        try database.set(["key": [1]])
    }
}
