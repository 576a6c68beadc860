import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

@Suite struct LimitTests {
    @Test("64 MiB may be pending; a change beyond that is refused and leaves nothing")
    func pending() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let large = [UInt8](repeating: 7, count: 16 << 20)
        for key in ["a", "b", "c"] { try database.set([key: large]) }
        let generation = database.generation
        let journal = try scratch.journal().map { try scratch.size($0) }
        let error = #expect(throws: StorageError.self) { try database.set(["d": large]) }
        #expect(error?.code == .pendingFull)
        #expect(database.generation == generation)
        #expect(try database.archive("d") == nil)
        #expect(try scratch.journal().map { try scratch.size($0) } == journal)
        try database.set(["a": []])
        try database.set(["d": large])
        try await database.flush()
        try database.set(["e": large])
    }

    @Test("The names of a domain's keys may have 16 MiB together, pending or stored")
    func keyNames() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let domain = try Domain(name: "org.example.App", layer: .domain)
        func key(_ number: Int) throws -> Key {
            let digits = String(number)
            return try Key(digits + String(repeating: "k", count: 1024 - digits.utf8.count))
        }
        func set(_ numbers: Range<Int>) throws {
            let set = try numbers.map {
                ChangeProposal.Assignment(key: try key($0), archive: [])
            }
            _ = try database.commit(ChangeProposal(domain: domain, set: set, origin: ":1.1"))
        }
        try set(0..<8_000)
        try await database.flush()
        try set(8_000..<16_384)
        for _ in 1...2 {
            let error = #expect(throws: StorageError.self) { try database.set(["one more": []]) }
            #expect(error?.code == .keyNamesTooLarge)
            #expect(error?.domain == domain)
            try set(5..<6)
            try await database.flush()
        }
        try database.set(["one more": []], in: "org.example.Other")
        _ = try database.commit(
            ChangeProposal(domain: domain, removed: [try key(3)], origin: ":1.1"))
        try database.set(["one more": []])
    }

    /// Invariant 5 of `Journal`.
    @Test("A key that changes often does not make the journal grow without limit")
    func journalIsBounded() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let size = 1 << 18
        for number in 0..<200 {
            try database.set(["key": [UInt8](repeating: UInt8(number), count: size)])
            let total = try scratch.journal().map { try scratch.size($0) }.reduce(0, +)
            #expect(total < Journal.slack + 4 * size)
        }
        withExtendedLifetime(database) {}
    }

    /// Invariants 1 and 3 of `Journal`.
    @Test("A journal that was rewritten, even during a flush, has all pending changes")
    func rewrittenJournal() async throws {
        let scratch = try Scratch()
        let large = [UInt8](repeating: 1, count: 3 << 20)
        do {
            let database = try scratch.open()
            try database.set(["early": [1], "gone": [1]])
            _ = try #require(database.beginFlush())
            for _ in 0..<12 { try database.set(["key": large]) }
            try database.remove("gone")
            try database.set(["late": [2]])
            #expect(try scratch.journal().count == 1)
        }
        let database = try scratch.open()
        #expect(try database.archive("early") == [1])
        #expect(try database.archive("gone") == nil)
        #expect(try database.archive("key") == large)
        #expect(try database.archive("late") == [2])
        #expect(database.generation.rawValue == 16)
    }

    /// Invariant 3 of `Journal`: a process may die between a rewrite and the removal after it.
    @Test("A segment that a rewrite has taken over is removed unread")
    func supersededSegment() throws {
        let scratch = try Scratch()
        let large = [UInt8](repeating: 1, count: 3 << 20)
        let path = try scratch.process { database in
            try database.set(["key": [1], "other": [1]])
            let path = try #require(scratch.journal().first)
            try FileManager.default.copyItem(atPath: path, toPath: "\(path).copy")
            for _ in 0..<12 { try database.set(["key": large]) }
            return path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        try FileManager.default.moveItem(atPath: "\(path).copy", toPath: path)
        let database = try scratch.open()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try database.archive("key") == large)
        #expect(try database.archive("other") == [1])
        #expect(database.generation.rawValue == 14)
    }
}
