import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// Pages that clients have mapped in one place, while processes run in another.
///
/// The numbers in the names are those of the invariants of `CounterPages`.
@Suite(.startsPrograms) struct PagePlaceTests {
    private let scratch: Scratch
    private let files = FileManager.default
    private let voided: [UInt64: Int] = [.max: 4080]

    init() throws {
        scratch = try Scratch()
    }

    /// A place with a runtime directory of its own.
    private func place(_ name: String) -> DatabaseLocation {
        DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: "\(scratch.root)/\(name)")
    }

    private func open(
        at place: String, report: @escaping (Notice) -> Void = { _ in }
    ) throws -> Database {
        try Database(at: self.place(place), boot: Scratch.boot, report: report)
    }

    /// The path of the page in a place.
    private func page(in place: String) throws -> String {
        let base = "\(scratch.root)/\(place)/defaultsd"
        let databases = try files.contentsOfDirectory(atPath: base)
        return "\(base)/\(try #require(databases.first))/counters"
    }

    private var note: String { "\(scratch.location.directory)/journal-place" }

    /// Runs a process that makes a change in a place and dies.
    ///
    /// - Returns: A client that has its page mapped.
    private func leavePage(in place: String) throws -> CounterPageClient {
        let database = try open(at: place)
        try database.set(["key": [1]])
        return try CounterPageClient(mapping: page(in: place))
    }

    /// Does something while the page in a place cannot be opened, because a link is there instead.
    private func withPageOutOfReach<Result>(
        in place: String, _ body: () throws -> Result
    ) throws -> Result {
        let path = try page(in: place)
        try files.moveItem(atPath: path, toPath: "\(path).moved")
        try files.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        let result = try body()
        try files.removeItem(atPath: path)
        try files.moveItem(atPath: "\(path).moved", toPath: path)
        return result
    }

    @Test("1: a page is void before the note of a process that dies leads away from it")
    func voidBeforeNote() throws {
        let client = try leavePage(in: "run")
        var seen: CounterPageClient.Page?
        _ = try open(at: "other") { notice in
            // The replay comes before the note, in whose place is no file then: that tells the instant.
            if notice.description.contains("were taken from the journal") {
                try? files.removeItem(atPath: note)
                try? files.createDirectory(atPath: note, withIntermediateDirectories: false)
            } else if notice.description.contains("journal-place is a link") {
                seen = try? client.look()
            }
        }
        #expect(try #require(seen).slots == voided)
    }

    @Test(
        "1: a page that cannot be voided stays on record until it is, wherever the journal is",
        arguments: [false, true])
    func staysOnRecord(journalMoves: Bool) throws {
        let client = try leavePage(in: "run")
        var notices: [Notice] = []
        for _ in 1...2 {
            try withPageOutOfReach(in: "run") {
                let database = try open(at: "other") { notices.append($0) }
                try database.set(["key": [2]])
                guard journalMoves else { return }
                try files.removeItem(atPath: "\(scratch.root)/other")
                try Data().write(to: URL(fileURLWithPath: "\(scratch.root)/other"))
                try database.set(["key": [3]])
            }
            if journalMoves { try files.removeItem(atPath: "\(scratch.root)/other") }
        }
        #expect(notices.count { $0.description.contains("could not be made invalid") } == 2)
        #expect(try client.look().slots != voided)
        _ = try open(at: "other")
        #expect(try client.look().slots == voided)
        let text = try String(contentsOfFile: note, encoding: .utf8)
        #expect(text.contains("\(scratch.root)/other/"))
        #expect(!text.contains("\(scratch.root)/run/"))
    }

    @Test("1: a page of another place that could not be voided is void before the next change")
    func retriedAtChange() throws {
        let client = try leavePage(in: "run")
        let database = try withPageOutOfReach(in: "run") { try open(at: "other") }
        #expect(try client.look().slots != voided)
        try database.set(["key": [2]])
        #expect(try client.look().slots == voided)
        #expect(try !String(contentsOfFile: note, encoding: .utf8).contains("/run/"))
        let new = try CounterPageClient.look(at: page(in: "other"), "org.example.App")
        #expect(new.domains == ["org.example.App": database.generation.rawValue])
    }

    @Test("1: so is the page of this place, and the log says why it could not be voided")
    func retriedInPlace() throws {
        let client = try leavePage(in: "run")
        var notices: [Notice] = []
        let database = try withPageOutOfReach(in: "run") {
            try open(at: "run") { notices.append($0) }
        }
        let words = try notices.filter { $0.description.contains(try page(in: "run")) }
        #expect(words.count == 1)
        #expect(words.first?.description.contains("could not be made invalid") == true)
        #expect(try client.look().slots != voided)
        try database.set(["key": [2]])
        #expect(try client.look().slots == voided)
        close(try database.openCounterPage())
        let new = try CounterPageClient.look(at: page(in: "run"), "org.example.App")
        #expect(new.domains == ["org.example.App": database.generation.rawValue])
    }
}
