import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// Processes that are started with and without a runtime directory: by `su`, or by cron.
///
/// The numbers in the names are those of the invariants of `Database`.
@Suite(.startsPrograms) struct JournalPlaceTests {
    private let scratch: Scratch
    private let files = FileManager.default
    private let with: DatabaseLocation
    private let without: DatabaseLocation

    init() throws {
        scratch = try Scratch()
        with = scratch.location
        without = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: nil)
    }

    /// Runs a process that dies with all its pending changes.
    @discardableResult
    private func process<Result>(
        at location: DatabaseLocation, _ body: (Database) throws -> Result
    ) throws -> Result {
        try body(try open(at: location))
    }

    private func open(at location: DatabaseLocation) throws -> Database {
        try Database(at: location, boot: Scratch.boot) { _ in }
    }

    /// Does something while the runtime directory cannot be seen, as on another host.
    private func withRuntimeHidden(_ body: () async throws -> Void) async throws {
        try files.moveItem(atPath: "\(scratch.root)/run", toPath: "\(scratch.root)/hidden")
        try await body()
        try files.moveItem(atPath: "\(scratch.root)/hidden", toPath: "\(scratch.root)/run")
    }

    @Test("1: a process without a runtime directory has the changes of one that had one")
    func runtimeDirectoryDisappears() async throws {
        try process(at: with) { try $0.set(["a": [1]]) }
        try process(at: without) { (database) throws in
            #expect(try database.archive("a") == [1])
            #expect(try database.set(["b": [2]]).generation.rawValue == 3)
        }
        let database = try open(at: with)
        #expect(try database.keys() == ["a", "b"])
        #expect(database.generation.rawValue == 3)
        try await database.flush()
        #expect(try scratch.journal().map { try scratch.size($0) } == [JournalHeader.size])
    }

    @Test("1: pending changes of one place are found from a third")
    func threePlaces() throws {
        let third = DatabaseLocation(
            directory: with.directory, runtimeDirectory: "\(scratch.root)/third")
        try process(at: with) { try $0.set(["a": [1]]) }
        try process(at: third) { try $0.set(["b": [2]]) }
        #expect(try process(at: without) { try $0.keys() } == ["a", "b"])
    }

    @Test("1, 3: a journal that is found late is replayed below the durable generation")
    func lateJournal() async throws {
        let last = try process(at: with) { (database) throws in
            try database.set(["kept": [1], "changed": [1], "removed": [1]])
            return try database.remove("gone").generation
        }
        try await withRuntimeHidden {
            let database = try open(at: without)
            #expect(try database.keys() == [])
            #expect(try database.set(["changed": [2]]).generation > last)
            try database.remove("removed")
            try await database.flush()
            database.close()
        }
        let database = try open(at: with)
        #expect(try database.keys() == ["changed", "kept"])
        #expect(try database.archive("changed") == [2])
        #expect(try database.archive("kept") == [1])
        #expect(database.pendingChanges == 2)
        try await database.flush()
        #expect(try database.keys() == ["changed", "kept"])
        database.close()
        #expect(try scratch.query("SELECT key_count, key_bytes FROM domains") == "[(2, 11)]")
    }

    @Test("1: a late journal is replayed although the other process has flushed nothing")
    func lateJournalAndPending() async throws {
        try process(at: with) { try $0.set(["a": [1], "b": [1]]) }
        try await withRuntimeHidden {
            _ = try process(at: without) { try $0.set(["b": [2]]) }
        }
        try process(at: with) { (database) throws in
            #expect(try database.archive("a") == [1])
            #expect(try database.archive("b") == [2])
        }
    }

    /// What happens to the keys of a journal that is found late.
    struct LateHistory: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let left: [String: [UInt8]]
        let changes: @Sendable (Database) throws -> Void

        init(
            _ description: String, leaves left: [String: [UInt8]],
            _ changes: @escaping @Sendable (Database) throws -> Void
        ) {
            testDescription = description
            self.left = left
            self.changes = changes
        }
    }

    static let lateHistories = [
        LateHistory("set twice", leaves: ["old": [0], "k": [2]]) {
            try $0.set(["k": [1]])
            try $0.set(["k": [2]])
        },
        LateHistory("set and removed", leaves: ["old": [0]]) {
            try $0.set(["k": [1]])
            try $0.remove("k")
        },
        LateHistory("removed and set", leaves: ["old": [2]]) {
            try $0.remove("old")
            try $0.set(["old": [2]])
        },
        LateHistory("set together, and one of them again", leaves: ["old": [2], "k": [1]]) {
            try $0.set(["k": [1], "old": [1]])
            try $0.set(["old": [2]])
        },
        LateHistory("set and cleared", leaves: [:]) {
            try $0.set(["k": [1]])
            try $0.clear()
        },
        LateHistory("cleared and set", leaves: ["old": [2]]) {
            try $0.set(["k": [1]])
            try $0.clear()
            try $0.set(["old": [2]])
        },
    ]

    @Test(
        "1: of several changes of a key in a late journal the last one counts",
        arguments: lateHistories, [true, false])
    func lateChangesOfOneKey(history: LateHistory, isFlushed: Bool) async throws {
        let first = try open(at: with)
        try first.set(["old": [0]])
        try await first.flush()
        first.close()
        try process(at: with, history.changes)
        try await withRuntimeHidden {
            let database = try open(at: without)
            try database.set(["theirs": [9]])
            if isFlushed { try await database.flush() }
            database.close()
        }
        let database = try open(at: with)
        func check(_ database: Database) throws {
            let left = history.left.merging(["theirs": [9]]) { late, _ in late }
            #expect(try database.keys() == left.keys.sorted())
            for (key, archive) in left { #expect(try database.archive(key) == archive) }
        }
        try check(database)
        try await database.flush()
        try check(database)
        database.close()
        #expect(
            try scratch.query("SELECT key_count FROM domains") == "[(\(history.left.count + 1),)]")
    }

    @Test("The token of a late change is known, whatever has become of its keys")
    func lateTokens() async throws {
        let domain = try Domain(name: "org.example.App", layer: .domain)
        let generations = try process(at: with) { (database) throws in
            try ["replaced", "kept"].map { key in
                try database.commit(
                    ChangeProposal(
                        domain: domain, set: [.init(key: Key(key), archive: [1])],
                        token: Token(key), origin: "")
                ).generation
            }
        }
        try await withRuntimeHidden {
            let database = try open(at: without)
            try database.set(["replaced": [2]])
            try await database.flush()
            database.close()
        }
        try process(at: with) { (database) throws in
            #expect(try database.archive("replaced") == [2])
            #expect(try database.archive("kept") == [1])
            for (token, generation) in zip(["replaced", "kept"], generations) {
                #expect(try database.outcome(of: Token(token), in: domain) == generation)
            }
        }
    }

    @Test("3: an empty journal of an earlier process does not replace one that is out of sight")
    func staleJournal() async throws {
        try process(at: without) { _ in }
        let last = try process(at: with) { (database) throws in
            try database.set(["a": [1]])
            return try database.set(["b": [1]]).generation
        }
        try await withRuntimeHidden {
            let next = try process(at: without) { try $0.set(["c": [1]]).generation }
            #expect(next > last)
        }
    }

    @Test("A copy of a database does not touch the journal of the original")
    func copy() throws {
        let original = try open(at: with)
        let change = try original.set(["a": [1]])
        let journal = try scratch.journal()
        try files.copyItem(atPath: with.directory, toPath: "\(scratch.root)/copy")
        let copy = DatabaseLocation(
            directory: "\(scratch.root)/copy", runtimeDirectory: with.runtimeDirectory)
        try process(at: copy) { (database) throws in
            #expect(try database.keys() == [])
            #expect(try database.set(["b": [1]]).generation > change.generation)
        }
        #expect(journal.allSatisfy(files.fileExists(atPath:)))
        original.close()
        #expect(try process(at: with) { try $0.keys() } == ["a"])
    }

    @Test(
        "An invalid note is ignored: numbers continue from the ceiling, changes are there",
        arguments: ["", "\n", " ", "x /run\n", "\(UniqueID.random()) relative\n", "cut off /ru"])
    func damagedNote(text: String) throws {
        try process(at: with) { try $0.set(["a": [1]]) }
        let note = "\(with.directory)/journal-place"
        try Data(text.utf8).write(to: URL(fileURLWithPath: note))
        try process(at: with) { (database) throws in
            #expect(try database.keys() == ["a"])
            #expect(database.generation > Generation.first.advanced(by: 1 << 19))
        }
    }
}
