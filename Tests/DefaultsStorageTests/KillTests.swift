import DefaultsModel
import Foundation
import TestSupport
import TestTiers
import Testing

@testable import DefaultsStorage

@Suite(.startsPrograms) struct KillTests {
    /// Checks what a run left behind, in a process of the same boot: all that was acknowledged,
    /// each change whole, and at most one change that was not acknowledged any more.
    private func check(_ output: CrashWriter.Output, in scratch: Scratch) throws {
        let last = try #require(output.acknowledged.last)
        let number = try #require(output.numbers["left"])
        let database = try Database(at: scratch.location) { _ in }
        #expect(database.generation.rawValue >= last)
        func value(_ key: String) throws -> Int? {
            try database.archive(key).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
        let found = try #require(try value("left"))
        #expect(try value("right") == found)
        #expect((number...number + 1).contains(found))
        for (key, number) in output.numbers where key.hasPrefix("key") {
            let expected = key == "key\(found % 100)" ? found : number
            #expect(try value(key) == expected, "\(key) after \(number)")
        }
    }

    /// Invariant 1 of `Journal`; invariants 1, 3 and 4 of `Database`.
    @Test(
        "A process killed at any moment leaves every acknowledged change, and counts on")
    func kill() throws {
        let scratch = try Scratch()
        var last: UInt64 = 0
        var random = SeededGenerator()
        for round in 0..<12 {
            let writer = try CrashWriter(in: scratch)
            let output = try writer.kill(after: .random(in: 1...300, using: &random))
            #expect(try #require(output.acknowledged.first) > last, "round \(round)")
            #expect(output.acknowledged == output.acknowledged.sorted())
            #expect(Set(output.acknowledged).count == output.acknowledged.count)
            try check(output, in: scratch)
            last = try #require(output.acknowledged.last)
        }
    }

    /// Invariant 2 of `Journal` and of `Database`.
    @Test("A change that the journal cannot store is refused, and nothing of it is left")
    func fullJournal() throws {
        // A record has fewer bytes than these sizes cover: it is cut off at each of its bytes.
        for size in stride(from: 3_000, to: 3_150, by: 1) {
            let scratch = try Scratch()
            let output = try CrashWriter(in: scratch, largestFile: size).wait()
            #expect(output.refused == "cannotJournal")
            let number = try #require(output.numbers["left"])
            #expect(output.numberAfterRefusal == number)
            let database = try Database(at: scratch.location) { _ in }
            #expect(try database.archive("left") == Array(String(number).utf8))
            #expect(try database.archive("right") == Array(String(number).utf8))
            #expect(database.generation.rawValue == output.acknowledged.last)
        }
    }
}
