import DefaultsTerms
import Testing

@testable import DefaultsModel

/// Which changes are one action.
@Suite struct ActionJoiningTests {
    private var joining = ActionJoining()
    private var next = Generation.first

    /// Makes a change.
    ///
    /// - Returns: How many changes before it its action began; 0 if it begins one.
    private mutating func change(
        _ keys: String..., of domain: String = "org.example.App", by process: UInt32 = 1,
        at instant: Int64, kind: HistoryTerms.Kind = .change, program: String = "editor",
        takingBack references: [Generation] = []
    ) throws -> UInt64 {
        let keys = try keys.map { try Key($0) }
        let proposal = ChangeProposal(
            domain: try Domain(name: domain, layer: .domain), removed: keys, origin: "")
        return change([proposal], by: process, at: instant, kind, program, references)
    }

    private mutating func change(
        _ proposals: [ChangeProposal], by process: UInt32, at instant: Int64,
        _ kind: HistoryTerms.Kind = .change, _ program: String = "editor",
        _ references: [Generation] = []
    ) -> UInt64 {
        var note = ChangeNote(
            author: ChangeAuthor(program: program), kind: kind, references: references)
        note.action = joining.action(of: proposals, note, by: .process(process), at: instant)
        joining.note(proposals, note, at: next, by: .process(process), at: instant)
        defer { next = next.advanced(by: 1) }
        return next.rawValue - (note.action ?? next).rawValue
    }

    @Test mutating func `A click that changes several keys one after the other is one action`()
        throws
    {
        #expect(try change("theme", at: 0) == 0)
        #expect(try change("icons", at: 120) == 1)
        #expect(try change("font", of: "org.example.Other", at: 400) == 2)
        #expect(try change("theme", at: 900) == 3)
        #expect(try change("size", at: 1401) == 0)
    }

    @Test mutating func `The same keys join after a longer pause than others`() throws {
        #expect(try change("volume", "muted", at: 0) == 0)
        #expect(try change("volume", at: 2000) == 1)
        #expect(try change("muted", at: 4000) == 2)
        #expect(try change("muted", at: 6001) == 0)
        #expect(try change("volume", at: 6501) == 1)
        #expect(try change("balance", at: 7002) == 0)
    }

    @Test mutating func `An action ends after a minute`() throws {
        for instant in stride(from: Int64(0), through: 60_000, by: 1000) {
            #expect(try change("volume", at: instant) == UInt64(instant / 1000))
        }
        #expect(try change("volume", at: 61_000) == 0)
    }

    @Test mutating func `Processes, programs and kinds are kept apart`() throws {
        #expect(try change("a", at: 0) == 0)
        #expect(try change("b", by: 2, at: 10) == 0)
        #expect(try change("c", at: 20) == 2)
        #expect(try change("d", at: 30, program: "script") == 0)
        #expect(try change("e", at: 40, kind: .document, program: "script") == 0)
        #expect(try change("f", at: 50, kind: .document, program: "script") == 0)
        #expect(try change("g", at: 60, program: "script") == 0)
    }

    @Test mutating func `A key that something else has changed meanwhile begins a new action`()
        throws
    {
        #expect(try change("a", at: 0) == 0)
        #expect(try change("a", by: 2, at: 10) == 0)
        #expect(try change("b", at: 20) == 2)
        #expect(try change("a", "b", at: 30) == 0)
        #expect(try change("b", at: 40) == 1)
    }

    @Test mutating func `What was taken back does not go on`() throws {
        #expect(try change("a", at: 0) == 0)
        let first = Generation.first
        #expect(try change("a", by: 2, at: 10, kind: .undo, takingBack: [first]) == 0)
        #expect(try change("b", at: 20) == 0)
    }

    @Test mutating func `The removal of a domain is an action of its own`() throws {
        let domain = try Domain(name: "org.example.App", layer: .domain)
        #expect(try change("a", at: 0) == 0)
        let clearing = [ChangeProposal(clearing: domain, origin: "")]
        #expect(change(clearing, by: 1, at: 10) == 0)
        #expect(try change("a", at: 20) == 0)
    }

    @Test mutating func `A domain that something else removes has no key that goes on`() throws {
        let domain = try Domain(name: "org.example.App", layer: .domain)
        #expect(try change("a", at: 0) == 0)
        let clearing = [ChangeProposal(clearing: domain, origin: "")]
        #expect(change(clearing, by: 2, at: 10) == 0)
        #expect(try change("a", at: 20) == 0)
    }

    @Test mutating func `An action has a bounded number of keys`() throws {
        let domain = try Domain(name: "org.example.App", layer: .domain)
        func keys(_ range: Range<Int>) throws -> [ChangeProposal] {
            let keys = try range.map { try Key("\($0)") }
            return [ChangeProposal(domain: domain, removed: keys, origin: "")]
        }
        let most = ActionJoining.mostKeys
        #expect(change(try keys(0..<most), by: 1, at: 0) == 0)
        #expect(change(try keys(0..<1), by: 1, at: 1) == 1)
        #expect(change(try keys(most..<(most + 1)), by: 1, at: 2) == 0)
        #expect(change(try keys(0..<(most + 1)), by: 1, at: 3) == 0)
        #expect(change(try keys(0..<1), by: 1, at: 4) == 0)
    }
}
