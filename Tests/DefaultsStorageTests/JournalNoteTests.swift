import DefaultsModel
import DefaultsTerms
import TestSupport
import Testing

@testable import DefaultsStorage

/// What the journal keeps for the history.
@Suite struct JournalNoteTests {
    private static let domain = try? Domain(name: "org.example.App", layer: .domain)

    private func change(_ note: ChangeNote?) throws -> ChangeSet {
        let domain = try #require(Self.domain)
        var proposal = ChangeProposal(
            domain: domain, set: [.init(key: try Key("Key"), archive: [1, 2, 3])],
            token: try Token("once"), origin: "")
        proposal.note = note
        return ChangeSet(generation: .first.advanced(by: 7), proposal: proposal)
    }

    private func payload(_ changes: [ChangeSet], isNoted: Bool = true) -> [UInt8] {
        Array(
            JournalRecord.encode(changes, salt: 5, isNoted: isNoted)
                .dropFirst(JournalRecord.headSize))
    }

    private func note(_ numbers: inout SeededGenerator) -> ChangeNote {
        func text() -> String {
            String(repeating: "ä", count: Int.random(in: 0...200, using: &numbers))
        }
        var note = ChangeNote(
            author: ChangeAuthor(
                program: text(), application: text(), machine: text(), owner: text()),
            kind: HistoryTerms.Kind.allCases.randomElement(using: &numbers) ?? .change,
            action: Bool.random(using: &numbers)
                ? nil : Generation.first.advanced(by: UInt64.random(in: 0...9, using: &numbers)),
            time: Int64(truncatingIfNeeded: numbers.next()),
            references: (0..<Int.random(in: 0...5, using: &numbers)).map {
                Generation.first.advanced(by: UInt64($0))
            })
        note.isCoalesced = Bool.random(using: &numbers)
        return note
    }

    @Test func `A note is read as it was written, and a part of it is not one`() throws {
        var numbers = SeededGenerator()
        for _ in 0..<50 {
            let changes = [try change(note(&numbers)), try change(nil), try change(note(&numbers))]
            let bytes = payload(changes)
            #expect(JournalRecord.decodePayload(bytes) == changes)
            for length in [bytes.count - 1, Int.random(in: 0..<bytes.count, using: &numbers)] {
                #expect(JournalRecord.decodePayload(Array(bytes.prefix(length))) != changes)
            }
        }
    }

    @Test func `Bytes that are not a note are damage, and do not trap`() throws {
        var numbers = SeededGenerator()
        let whole = payload([try change(note(&numbers))])
        for _ in 0..<5000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8(
                    truncatingIfNeeded: numbers.next())
            }
            _ = JournalRecord.decodePayload(bytes)
        }
    }

    @Test func `A journal for earlier versions has no notes`() throws {
        var numbers = SeededGenerator()
        let noted = try change(note(&numbers))
        let bytes = payload([noted], isNoted: false)
        #expect(try bytes == payload([change(nil)]))
        #expect(JournalRecord.decodePayload(bytes) == [noted.noted(nil)])
    }
}
