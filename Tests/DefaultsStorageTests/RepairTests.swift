import DefaultsModel
import Foundation
import TestSupport
import TestTiers
import Testing

@testable import DefaultsStorage

/// Damage of every kind, each done to a copy of one store.
@Suite(.startsPrograms) struct RepairTests {
    private static let pageSize = 4096

    /// Checks that everything missing is reported, and nothing else is missing.
    private func expectTold(
        _ outcome: RepairOutcome, _ scratch: Scratch, _ what: String
    ) throws {
        guard !outcome.missing.isEmpty else { return }
        let repair = try #require(scratch.repair, "\(what): lost in silence")
        let told = repair.matches(
            of: /(\d+) keys? (?:(?:with [a-z ]+names? )?(?:is|are) lost|ha(?:s|ve) an earlier)/
        )
        .reduce(0) { $0 + (Int($1.1) ?? 0) }
        #expect(told >= outcome.missing.count, "\(what): \(outcome.missing) of: \(repair)")
    }

    @Test("Each page that is zeroed, or full of noise, costs only its own contents")
    func pages() async throws {
        let store = try await DamagedStore()
        let bytes = try store.copy.bytes(store.copy.store)
        let count = bytes.count / Self.pageSize
        var losses = 0
        var random = SeededGenerator()
        for page in 0..<count {
            for isZeroed in [true, false] {
                var damaged = bytes
                for index in page * Self.pageSize..<(page + 1) * Self.pageSize {
                    damaged[index] = isZeroed ? 0 : .random(in: 0...255, using: &random)
                }
                let scratch = try store.copy.copyAll()
                try Data(damaged).write(to: URL(fileURLWithPath: scratch.store))
                let outcome = try await RepairOutcome(of: scratch, expecting: store)
                try expectTold(outcome, scratch, "page \(page + 1)")
                #expect(outcome.missing.count < 70, "page \(page + 1)")
                losses += outcome.missing.isEmpty ? 0 : 1
            }
        }
        #expect(losses > 10, "the test does damage")
    }

    @Test("A flipped bit anywhere costs at most one row")
    func bits() async throws {
        let store = try await DamagedStore()
        let bytes = try store.copy.bytes(store.copy.store)
        var random = SeededGenerator()
        for _ in 0..<60 {
            let index = Int.random(in: bytes.indices, using: &random)
            let scratch = try store.copy.copyAll()
            var damaged = bytes
            damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try Data(damaged).write(to: URL(fileURLWithPath: scratch.store))
            guard let outcome = try await openingOrRefused(scratch, store) else { continue }
            try expectTold(outcome, scratch, "byte \(index)")
            #expect(outcome.missing.count <= 1, "byte \(index): \(outcome.missing)")
        }
    }

    @Test(
        "If a flipped bit in an index is not found by a check, no read meets it",
        arguments: ["present", "entries_by_generation", "removals", "sqlite_autoindex_entries_1"])
    func bitsOfIndex(name: String) async throws {
        let store = try await DamagedStore()
        let bytes = try store.copy.bytes(store.copy.store)
        let root = try store.copy.query(
            "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
        let page = try #require(Int(root.filter(\.isNumber)))
        var random = SeededGenerator(case: name)
        for _ in 0..<40 {
            let offset = Int.random(in: 0..<Self.pageSize, using: &random)
            let index = (page - 1) * Self.pageSize + offset
            let scratch = try store.copy.copyAll()
            var damaged = bytes
            damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try Data(damaged).write(to: URL(fileURLWithPath: scratch.store))
            let outcome = try await RepairOutcome(of: scratch, expecting: store)
            #expect(outcome.missing.isEmpty, "byte \(index)")
        }
    }

    /// Nil if the header is that of another version or program, which is refused.
    private func openingOrRefused(
        _ scratch: Scratch, _ store: DamagedStore
    ) async throws -> RepairOutcome? {
        do {
            return try await RepairOutcome(of: scratch, expecting: store)
        } catch let error as StorageError {
            guard error.code == .newerSchema else { throw error }
            return nil
        }
    }

    @Test("A file that is cut anywhere costs only what followed the cut")
    func cuts() async throws {
        let store = try await DamagedStore()
        let bytes = try store.copy.bytes(store.copy.store)
        for length in stride(from: 0, to: bytes.count, by: 7_001) {
            let scratch = try store.copy.copyAll()
            try Data(bytes.prefix(length)).write(to: URL(fileURLWithPath: scratch.store))
            let outcome = try await RepairOutcome(of: scratch, expecting: store)
            let repair = try #require(scratch.repair)
            if length == 0 {
                #expect(repair.contains("missing or empty"))
                #expect(outcome.missing.count == store.contents.values.reduce(0) { $0 + $1.count })
            } else {
                #expect(try !scratch.damagedFiles().isEmpty)
            }
        }
    }

    @Test("A write-ahead log without its database is read, with everything in it")
    func logAlone() async throws {
        let store = try await DamagedStore(isClosed: false)
        let scratch = store.copy
        try FileManager.default.removeItem(atPath: scratch.store)
        let outcome = try await RepairOutcome(of: scratch, expecting: store)
        #expect(outcome.missing.isEmpty)
        #expect(try scratch.damagedFiles().contains { $0.hasSuffix("-wal") })
    }

    @Test("A flipped bit in the log costs at most one row, although SQLite would drop the rest")
    func logBits() async throws {
        let store = try await DamagedStore(isClosed: false)
        let bytes = try store.copy.bytes(store.copy.store + "-wal")
        var random = SeededGenerator()
        for _ in 0..<60 {
            let index = Int.random(in: bytes.indices, using: &random)
            let scratch = try store.copy.copyAll()
            var damaged = bytes
            damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try Data(damaged).write(to: URL(fileURLWithPath: scratch.store + "-wal"))
            let outcome = try await RepairOutcome(of: scratch, expecting: store)
            try expectTold(outcome, scratch, "byte \(index)")
            #expect(outcome.missing.count <= 1, "byte \(index): \(outcome.missing)")
        }
    }

    /// The last version of the page with the rows of domains, in the log of a store.
    private func frameOfDomains(
        in bytes: [UInt8], of store: DamagedStore
    ) throws -> Range<Int> {
        let (header, frame) = (32, 24 + Self.pageSize)
        let root = try store.copy.query(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'domains'")
        let page = try #require(UInt8(root.filter(\.isNumber)))
        let last = stride(from: header, through: bytes.count - frame, by: frame)
            .reversed().first { bytes[$0..<($0 + 4)].elementsEqual([0, 0, 0, page]) }
        let start = try #require(last)
        return start..<(start + frame)
    }

    @Test("A flipped bit in the row of a cleared domain, in a log, does not bring its keys back")
    func logBitOfClearedDomain() async throws {
        let store = try await DamagedStore(isClosed: false)
        let bytes = try store.copy.bytes(store.copy.store + "-wal")
        let frame = try frameOfDomains(in: bytes, of: store)
        let name = try #require(bytes[frame].firstRange(of: Array("org.example.Cleared4".utf8)))
        // The row begins a few bytes before its first column, and ends a few after the name.
        for index in (name.lowerBound - 16)..<(name.upperBound + 16) {
            for bit in 0..<8 where index == name.upperBound - 2 || bit == index % 8 {
                let scratch = try store.copy.copyAll()
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                try Data(damaged).write(to: URL(fileURLWithPath: scratch.store + "-wal"))
                let outcome = try await RepairOutcome(of: scratch, expecting: store)
                #expect(outcome.missing.isEmpty, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test("Another name in the row of a cleared domain, in a log, does not bring its keys back")
    func nameOfClearedDomain() async throws {
        let store = try await DamagedStore(isClosed: false)
        var bytes = try store.copy.bytes(store.copy.store + "-wal")
        let frame = try frameOfDomains(in: bytes, of: store)
        let name = try #require(bytes[frame].firstRange(of: Array("org.example.Cleared4".utf8)))
        // More than one bit, so that it cannot be flipped back.
        bytes[name.upperBound - 2] = UInt8(ascii: "k")
        let scratch = try store.copy.copyAll()
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.store + "-wal"))
        let outcome = try await RepairOutcome(of: scratch, expecting: store)
        #expect(outcome.missing.isEmpty)
    }

    @Test("A flipped bit in the salt of the last frame of a log does not cost the last transaction")
    func saltOfLastFrame() async throws {
        let store = try await DamagedStore(isClosed: false)
        let bytes = try store.copy.bytes(store.copy.store + "-wal")
        let (header, frame) = (32, 24 + 4096)
        let salt = bytes[16..<24]
        let last = stride(from: header, through: bytes.count - frame, by: frame)
            .reversed().first { bytes[($0 + 8)..<($0 + 16)].elementsEqual(salt) }
        let offset = try #require(last) + 8
        for bit in 0..<64 where bit % 9 == 0 {
            let scratch = try store.copy.copyAll()
            var damaged = bytes
            damaged[offset + bit / 8] ^= 1 << UInt8(bit % 8)
            try Data(damaged).write(to: URL(fileURLWithPath: scratch.store + "-wal"))
            let outcome = try await RepairOutcome(of: scratch, expecting: store)
            #expect(outcome.missing.isEmpty, "bit \(bit): \(outcome.missing)")
        }
    }

    @Test("After a power cut an incomplete last transaction in a log is not damage")
    func tornLog() async throws {
        let store = try await DamagedStore(isClosed: false)
        let bytes = try store.copy.bytes(store.copy.store + "-wal")
        let scratch = try store.copy.copyWithoutRuntime()
        var damaged = bytes
        damaged[bytes.count - 100] ^= 1
        try Data(damaged).write(to: URL(fileURLWithPath: scratch.store + "-wal"))
        try scratch.forgetNote()
        let database = try scratch.open(boot: .random())
        #expect(scratch.repair == nil)
        #expect(try database.archive("gone5", in: "org.example.App1") == nil)
        #expect(try database.archive("gone4", in: "org.example.App1") == [1])
        database.close()
    }

    @Test(
        "Whatever is missing in the schema or the header, the values are read",
        arguments: [
            "DROP TABLE state", "DELETE FROM state", "UPDATE state SET uuid = x'00'",
            "ALTER TABLE entries RENAME TO others", "ALTER TABLE domains DROP COLUMN horizon",
            "DROP TABLE tokens", "PRAGMA user_version = 1", "PRAGMA user_version = 2000000",
            "PRAGMA application_id = 7", "PRAGMA user_version = 0",
        ])
    func schema(sql: String) async throws {
        let store = try await DamagedStore()
        let scratch = store.copy
        _ = try Scratch.output(
            of: "/usr/bin/python3", "-c",
            """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.executescript(sys.argv[2])
            """, scratch.store, sql)
        let outcome = try await RepairOutcome(of: scratch, expecting: store)
        #expect(outcome.missing.isEmpty)
        #expect(scratch.repair != nil)
        #expect(try scratch.damagedFiles().count == 1)
    }
}
