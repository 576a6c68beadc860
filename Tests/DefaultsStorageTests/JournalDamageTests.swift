import DefaultsModel
import Foundation
import TestSupport
import Testing

@testable import DefaultsStorage

/// A journal of three changes, damaged in every place: invariants 1 and 4 of `Journal`.
///
/// The first change sets two keys, the second one, and the third removes one and sets another.
@Suite struct JournalDamageTests {
    private let scratch: Scratch
    private let journal: String
    private let whole: Data
    private let store: String
    private let pristine: String
    /// Where each record begins, and where the last one ends.
    private let bounds: [Int]

    init() throws {
        scratch = try Scratch()
        let scratch = scratch
        bounds = try scratch.process { database in
            func end() throws -> Int { try scratch.size(try #require(scratch.journal().last)) }
            var bounds = [try end()]
            try database.set(["a": [1], "b": [1]])
            bounds.append(try end())
            try database.set(["c": Array("chng".utf8)])
            bounds.append(try end())
            let proposal = ChangeProposal(
                domain: try Domain("org.example.App", on: .localhost),
                set: [.init(key: try Key("d"), archive: [4])], removed: [try Key("a")],
                origin: ":1.1")
            _ = try database.commit(proposal)
            return bounds + [try end()]
        }
        journal = try scratch.journalWithRecords()
        whole = try #require(FileManager.default.contents(atPath: journal))
        store = scratch.location.directory
        pristine = "\(scratch.root)/pristine"
        try FileManager.default.copyItem(atPath: store, toPath: pristine)
    }

    /// What a process finds that starts with these bytes as the journal.
    private func keys(after bytes: Data) throws -> (keys: [String], generation: UInt64) {
        let run = "\(scratch.root)/run"
        try FileManager.default.removeItem(atPath: run)
        try FileManager.default.createDirectory(
            atPath: (journal as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true)
        try bytes.write(to: URL(fileURLWithPath: journal))
        // A start may flush what it finds. The next one is to find the store as it was.
        try FileManager.default.removeItem(atPath: store)
        try FileManager.default.copyItem(atPath: pristine, toPath: store)
        let database = try scratch.open()
        return (try database.keys(), database.generation.rawValue)
    }

    /// The keys when this many records at the beginning are whole.
    private static let keysAfter = [[], ["a", "b"], ["a", "b", "c"], ["b", "c", "d"]]

    @Test("Cut at any byte, the journal gives every whole record and no partial one")
    func cut() throws {
        for length in JournalHeader.size...whole.count {
            let records = bounds.lastIndex { $0 <= length } ?? 0
            let found = try keys(after: whole.prefix(length))
            #expect(found.keys == Self.keysAfter[records], "cut at \(length)")
            // The number of a record that was never whole was not given to anybody.
            #expect(found.generation == UInt64(records) + 1, "cut at \(length)")
        }
    }

    @Test("A flipped bit at any byte costs its own record and no other")
    func flip() throws {
        for offset in JournalHeader.size..<whole.count {
            var bytes = whole
            bytes[offset] ^= 0x10
            let damaged = bounds.lastIndex { $0 <= offset } ?? 0
            let found = try keys(after: bytes)
            let expected = [["c", "d"], ["b", "d"], ["a", "b", "c"]][damaged]
            #expect(found.keys == expected, "flipped at \(offset)")
            #expect(found.generation > Generation.ceilingDistance, "flipped at \(offset)")
        }
    }

    @Test("A header that is damaged at any byte sets the segment aside")
    func header() throws {
        for offset in 0..<JournalHeader.size {
            var bytes = whole
            bytes[offset] ^= 0x01
            let found = try keys(after: bytes)
            #expect(found.keys == [], "damaged at \(offset)")
            #expect(found.generation > Generation.ceilingDistance, "damaged at \(offset)")
        }
    }

    @Test("A page of zeros in the middle costs its records, and the following ones are read")
    func zeros() throws {
        var bytes = whole
        for offset in bounds[0]..<bounds[1] { bytes[offset] = 0 }
        #expect(try keys(after: bytes).keys == ["c", "d"])
    }

    @Test("Random bytes after the last record are damage, and no record before them is lost")
    func garbage() throws {
        var generator = SeededGenerator()
        for count in [1, 23, 24, 25, 500, 200_000] {
            let garbage = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(try keys(after: whole + garbage).keys == ["b", "c", "d"])
        }
    }

    @Test("A stored value that looks like a record is not taken for one")
    func forgedRecord() throws {
        let forged = try JournalRecord.encode(
            [
                ChangeSet(
                    generation: Generation.first.advanced(by: 99),
                    proposal: ChangeProposal(
                        domain: Domain("org.example.App", on: .localhost),
                        set: [.init(key: try Key("forged"), archive: [6])], origin: ""))
            ], salt: 0)
        let scratch = try Scratch()
        try scratch.process { try $0.set(["value": forged + forged]) }
        let journal = try scratch.journalWithRecords()
        var bytes = try #require(FileManager.default.contents(atPath: journal))
        bytes[JournalHeader.size + 20] ^= 1
        try bytes.write(to: URL(fileURLWithPath: journal))
        #expect(try scratch.open().keys() == [])
    }

    @Test("The log reports damage with its place and no value")
    func notices() throws {
        var bytes = whole
        bytes[bounds[0] + 3] ^= 1
        try bytes.prefix(bounds[3] - 1).write(to: URL(fileURLWithPath: journal))
        _ = try scratch.open()
        let length = bounds[1] - bounds[0]
        #expect(scratch.noticed("is damaged: \(length) bytes at offset \(bounds[0])"))
        #expect(scratch.noticed("bytes at offset \(bounds[2]) that are no whole record"))
    }
}
