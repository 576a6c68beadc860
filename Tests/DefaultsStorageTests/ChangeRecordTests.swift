import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// What `Database.changes(of:since:)` returns, and for which generations.
@Suite(.startsPrograms) struct ChangeRecordTests {
    private let domain: Domain
    private let scratch: Scratch

    init() throws {
        domain = try Domain(name: "org.example.App", layer: .domain)
        scratch = try Scratch()
    }

    private func changes(
        _ database: Database, since generation: Generation?
    ) throws -> (changed: [String], removed: [String], isComplete: Bool) {
        let changes = try database.changes(of: domain, since: generation)
        return (
            changes.changed.map(\.key.name), changes.removed.map(\.name), changes.isComplete
        )
    }

    @Test("From every generation the difference is known: pending, flushed, and after a restart")
    func difference() async throws {
        let database = try scratch.open()
        let first = try database.set(["a": [1], "b": [1]]).generation
        let second = try database.remove("a").generation
        let third = try database.set(["c": [1]]).generation
        func check(_ database: Database) throws {
            #expect(try changes(database, since: first) == (["c"], ["a"], true))
            #expect(try changes(database, since: second) == (["c"], [], true))
            #expect(try changes(database, since: third) == ([], [], true))
            #expect(try changes(database, since: .first) == (["b", "c"], ["a"], true))
        }
        try check(database)
        try await database.flush()
        try check(database)
        try database.set(["b": [2]], in: "org.example.Other")
        try check(database)
        database.close()
        try check(scratch.open())
    }

    @Test("A generation that is not from this database's past gets the whole domain")
    func foreignGenerations() async throws {
        let database = try scratch.open()
        try database.set(["a": [1]])
        let last = try database.remove("a", "b").generation
        for since in [last.advanced(by: 1), Generation(rawValue: .max)] {
            let told = try changes(database, since: since)
            #expect(told == ([], [], false))
        }
        #expect(try changes(database, since: nil) == ([], ["a", "b"], false))
        database.close()
    }

    @Test("After a power cut, the numbers of lost changes tell nothing")
    func powerCut() async throws {
        let database = try scratch.open()
        let durable = try database.set(["a": [1]]).generation
        try await database.flush()
        let lost = try database.set(["b": [1]]).generation
        let after = try scratch.copyWithoutRuntime().open(boot: .random())
        #expect(try changes(after, since: durable) == ([], [], true))
        #expect(try changes(after, since: lost) == (["a"], [], false))
        let landing = after.generation
        #expect(try changes(after, since: landing) == ([], [], true))
        #expect(landing > lost)
        database.close()
    }

    @Test(
        "After a power cut, all changes since a number that was on disk are known",
        arguments: [true, false])
    func removalBeforePowerCut(isPendingLater: Bool) async throws {
        let database = try scratch.open()
        let seen = try database.set(["a": [1], "b": [1], "c": [1]]).generation
        try database.remove("a")
        try await database.flush()
        let copy = try scratch.copyWithoutRuntime()
        let after = try copy.open(boot: .random())
        if isPendingLater {
            try after.set(["a": [2]])
            try after.remove("b")
            #expect(try changes(after, since: seen) == (["a"], ["b"], true))
            try await after.flush()
            #expect(try changes(after, since: seen) == (["a"], ["b"], true))
        } else {
            #expect(try changes(after, since: seen) == ([], ["a"], true))
        }
        database.close()
        after.close()
        withExtendedLifetime(copy) {}
    }

    @Test("The record starts at 1, and again at a jump, and not at a restart or a crash")
    func recordStart() async throws {
        var database = try scratch.open()
        let seen = try database.set(["a": [1]]).generation
        for isOrderly in [true, false] {
            try database.set(["a": [isOrderly ? 2 : 3]])
            if isOrderly { try await database.flush() }
            database.close()
            database = try scratch.open()
            #expect(database.view.recordStart == .first)
        }
        try await database.flush()
        let copy = try scratch.copyWithoutRuntime()
        let after = try copy.open(boot: .random())
        #expect(after.view.recordStart == after.generation && after.view.recordStart > seen)
        database.close()
        after.close()
        withExtendedLifetime(copy) {}
    }

    @Test("The beginning of the record is on disk with the jump that made it")
    func recordStartIsDurable() async throws {
        let database = try scratch.open()
        let durable = try database.set(["a": [1]]).generation
        try await database.flush()
        let copy = try scratch.copyWithoutRuntime()
        try copy.open(boot: .random()).close()
        let again = try copy.open()
        // The store has all changes after that. Those that were given a skipped number are unknown.
        #expect(try changes(again, since: durable) == ([], [], true))
        #expect(try !changes(again, since: durable.advanced(by: 1)).isComplete)
        #expect(try changes(again, since: again.generation) == ([], [], true))
        database.close()
    }

    @Test(
        "After several power cuts, all changes are known after what was on disk before each of them"
    )
    func severalJumps() async throws {
        var copies = [scratch]
        var durable: [Generation] = []
        var lost: [Generation] = []
        for number in 0..<3 {
            let database = try copies[number].open(boot: .random())
            durable.append(try database.set(["a \(number)": [1]]).generation)
            try await database.flush()
            let copy = try copies[number].copyWithoutRuntime()
            lost.append(try database.set(["b": [1]]).generation)
            database.close()
            copies.append(copy)
        }
        let database = try copies[3].open(boot: .random())
        for (number, generation) in durable.enumerated() {
            let later = (number + 1..<3).map { "a \($0)" }
            #expect(try changes(database, since: generation) == (later, [], true))
        }
        for generation in lost { #expect(try !changes(database, since: generation).isComplete) }
        database.close()
    }

    @Test("A text that is no list of ranges tells nothing")
    func textOfRanges() {
        let text = "1-17 x 30-20 40- -5 50-60-70 80-80"
        let record = ChangeRecord(start: .first.advanced(by: 99), text: text)
        #expect(record.text == "1-17 80-80")
        #expect(ChangeRecord(start: record.start, text: record.text) == record)
    }

    @Test("Removals are remembered up to a limit; before the horizon nothing is complete")
    func horizon() async throws {
        let database = try scratch.open()
        let kept = FlushTransaction.removalsKept
        let before = try database.set(["last": [1]]).generation
        var removals: [Generation] = []
        for number in 0...2 * kept {
            try database.set(["key \(number)": [1]])
            removals.append(try database.remove("key \(number)").generation)
        }
        #expect(try changes(database, since: before).removed.count == 2 * kept + 1)
        try await database.flush()
        let old = try changes(database, since: before)
        #expect(old.changed == ["last"] && old.removed.count == kept && !old.isComplete)
        // Only removals are missing, which the beginning of the whole record shows.
        #expect(database.view.recordStart <= before)
        let horizon = removals[kept]
        #expect(try changes(database, since: horizon).removed.count == kept)
        #expect(try changes(database, since: horizon).isComplete)
        #expect(try !changes(database, since: removals[kept - 1]).isComplete)
        database.close()
        #expect(
            try scratch.query("SELECT count(*) FROM entries WHERE archive IS NULL")
                == "[(\(kept),)]")
    }

    @Test(
        "A cleared domain is empty at once, and incomplete from before",
        arguments: [true, false])
    func clearing(isFlushed: Bool) async throws {
        let database = try scratch.open()
        let before = try database.set(["a": [1], "b": [1]]).generation
        if isFlushed { try await database.flush() }
        let cleared = try database.commit(ChangeProposal(clearing: domain, origin: ""))
        try database.set(["c": [2]])
        func check(_ database: Database) throws {
            #expect(try database.keys() == ["c"])
            #expect(try database.archive("a") == nil)
            #expect(try changes(database, since: before) == (["c"], [], false))
            #expect(try changes(database, since: cleared.generation) == (["c"], [], true))
            #expect(try database.totals(of: domain).keys == 1)
        }
        try check(database)
        try await database.flush()
        try check(database)
        database.close()
        #expect(try scratch.query("SELECT key FROM entries") == "[('c',)]")
        try check(scratch.open())
    }

    @Test("A cleared domain is still cleared in the next process, by its journal")
    func clearingIsReplayed() async throws {
        try await scratch.process {
            try $0.set(["a": [1]]); return $0
        }.flush()
        try scratch.process { database in
            _ = try database.commit(ChangeProposal(clearing: domain, origin: ""))
            try database.set(["b": [1]])
        }
        #expect(try scratch.open().keys() == ["b"])
    }

    @Test("A failed flush of a cleared domain loses neither the removal nor later changes")
    func failedFlushOfClearing() throws {
        let database = try scratch.open()
        try database.set(["a": [1]])
        _ = try database.commit(ChangeProposal(clearing: domain, origin: ""))
        let batch = try #require(database.beginFlush())
        try database.set(["b": [1]])
        let cause = StorageError(.cannotWrite, "The disk is full.")
        database.finishFlush(batch, .failure(cause))
        #expect(try database.keys() == ["b"])
        #expect(try database.archive("a") == nil)
        database.close()
        #expect(try scratch.open().keys() == ["b"])
    }

    @Test("A late journal's changes get new generations, so that later readers learn of them")
    func lateJournal() async throws {
        let first = try scratch.process { try $0.set(["late": [1], "both": [1]]).generation }
        // As for a process of another host, which the note does not lead to the first one's journal.
        try FileManager.default.removeItem(atPath: scratch.location.directory + "/journal-place")
        let elsewhere = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: nil)
        let other = try Database(at: elsewhere, boot: Scratch.boot) { _ in }
        let seen = try other.set(["both": [2]]).generation
        try await other.flush()
        other.close()
        let late = try scratch.process { (database) throws in
            #expect(try database.archive("both") == [2])
            #expect(try changes(database, since: seen) == (["late"], [], true))
            #expect(database.generation > seen && seen > first)
            return database.generation
        }
        #expect(scratch.noticed("were found late"))
        let database = try scratch.open()
        #expect(try changes(database, since: seen) == (["late"], [], true))
        #expect(try database.set(["next": [1]]).generation > late)
    }
}
