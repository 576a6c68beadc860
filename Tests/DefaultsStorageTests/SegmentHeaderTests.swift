import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

/// A journal with two segments, one of which has a header that cannot be trusted.
@Suite struct SegmentHeaderTests {
    private let scratch: Scratch
    /// The two segments, the older first.
    private let segments: [String]
    /// The last number that was given.
    private let last: Generation

    init() throws {
        scratch = try Scratch()
        let scratch = scratch
        (segments, last) = try scratch.process { database in
            try database.set(["a": [1]])
            _ = try #require(database.beginFlush())
            let last = try database.set(["b": [2]]).generation
            return (try scratch.journal(), last)
        }
        try #require(segments.count == 2)
    }

    private func header(of segment: String) throws -> (JournalHeader, rest: Data) {
        let bytes = try #require(FileManager.default.contents(atPath: segment))
        let header = try #require(JournalHeader(decoding: Array(bytes.prefix(JournalHeader.size))))
        return (header, bytes.dropFirst(JournalHeader.size))
    }

    /// Invariant 3 of `Database`.
    @Test("A segment whose header is damaged may have held numbers: none is given twice")
    func damaged() throws {
        var bytes = try #require(FileManager.default.contents(atPath: segments[1]))
        bytes[40] ^= 1
        try bytes.write(to: URL(fileURLWithPath: segments[1]))
        let database = try scratch.open()
        #expect(try database.keys() == ["a"])
        #expect(try database.set(["c": [3]]).generation > last)
        #expect(scratch.noticed("is damaged at its beginning"))
        #expect(!scratch.noticed("belongs to another database"))
        #expect(FileManager.default.contents(atPath: "\(segments[1]).1.aside") == bytes)
    }

    @Test("A segment of another database beside ours does not count as damage")
    func foreign() throws {
        let other = try Scratch()
        try other.process { try $0.set(["other": [1]]) }
        let foreign = (segments[0] as NSString).deletingLastPathComponent + "/0.journal"
        try FileManager.default.copyItem(atPath: other.journalWithRecords(), toPath: foreign)
        let database = try scratch.open()
        #expect(try database.keys() == ["a", "b"])
        #expect(database.generation == last)
        #expect(scratch.noticed("belongs to another database"))
        #expect(!scratch.noticed("is damaged at its beginning"))
    }

    @Test(
        "A header with invalid numbers is damage, and does not trap",
        arguments: [(UInt64.max, 1), (1 << 61 + 1, 1), (5, 6)] as [(UInt64, UInt64)])
    func numbers(sequence: UInt64, firstNeeded: UInt64) throws {
        let (header, rest) = try header(of: segments[1])
        let forged = JournalHeader(
            database: header.database, boot: header.boot, sequence: sequence,
            firstNeeded: firstNeeded, base: header.base, generation: header.generation,
            ceiling: header.ceiling, salt: header.salt, isNoted: header.isNoted)
        try (Data(forged.encoded) + rest).write(to: URL(fileURLWithPath: segments[1]))
        let database = try scratch.open()
        #expect(try database.keys() == ["a"])
        #expect(database.generation > last)
        #expect(scratch.noticed("is damaged at its beginning"))
    }

    @Test(
        "A header with the largest generation does not make the next start find damage",
        arguments: [0, 1, 1000, 1 << 20] as [UInt64])
    func largestGeneration(below distance: UInt64) async throws {
        let (header, rest) = try header(of: segments[1])
        let largest = Generation.largestInFile.rawValue
        let claimed = try #require(Generation(rawValue: largest - distance))
        let forged = JournalHeader(
            database: header.database, boot: header.boot, sequence: header.sequence,
            firstNeeded: header.firstNeeded, base: header.base, generation: claimed,
            ceiling: claimed, salt: header.salt, isNoted: header.isNoted)
        try (Data(forged.encoded) + rest).write(to: URL(fileURLWithPath: segments[1]))
        for _ in 1...3 {
            let database = try scratch.open()
            // Near the largest number there is none left for a change.
            _ = try? database.set(["c": [3]])
            try await database.flush()
            #expect(try database.keys().starts(with: ["a", "b"]))
            #expect(database.generation <= .largestInFile)
            #expect(database.lastRepair == nil)
            database.close()
        }
        #expect(!scratch.noticed("damaged"))
    }
}
