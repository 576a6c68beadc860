import ArchiveTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Objects that are shown once and then repeated, as JSON on one line does it (5).
@Suite struct RepeatedObjectTests {
    /// A graph of objects, arrays and dates that refer to each other at random, in circles, too.
    private func graph(_ numbers: inout SeededGenerator) -> [UInt8] {
        let count = Int.random(in: 1...12, using: &numbers)
        let records = [Tree.record("Node"), Tree.record("NSArray"), Tree.record("NSDate")]
        var reference: Tree { .uid(UInt64.random(in: 0...UInt64(count), using: &numbers)) }
        func record(_ number: Int) -> Tree { .uid(UInt64(count + 1 + number)) }
        let objects: [Tree] = (0..<count).map { number in
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0: ["$class": record(2), "NS.time": .real(Double(number))]
            case 1: .text(Text("text \(number)"))
            case 2:
                [
                    "$class": record(1),
                    "NS.objects": .array((0..<3).map { _ in reference }),
                ]
            default:
                [
                    "$class": record(0), "a": reference, "b": reference,
                    "c": .integer(Int128(number)),
                ]
            }
        }
        return Tree(archive: objects + records, top: ["root": .uid(1)], archiver: "A").bytes()
    }

    @Test func `A repeated object is the same as one that is walked over again`() throws {
        var numbers = SeededGenerator()
        for _ in 0..<2000 {
            let archive = try KeyedArchive(validating: graph(&numbers))
            for hasISODates in [false, true] {
                // What opens archives walks over everything, and here are none.
                let walked = try archive.json(opensArchives: true, hasISODates: hasISODates)
                let repeated = try archive.json(hasISODates: hasISODates)
                #expect(repeated == walked)
                guard repeated == walked else { return }
            }
        }
    }

    @Test func `The limit of the depth holds for what is repeated`() throws {
        // A chain of four, which comes at the first level and again at the third.
        let record = Tree.record("Node")
        let bytes = Tree.archive(
            ["$class": .uid(9), "a": .uid(2), "b": .uid(6)],
            ["$class": .uid(9), "a": .uid(3)], ["$class": .uid(9), "a": .uid(4)],
            ["$class": .uid(9), "a": .uid(5)], ["$class": .uid(9), "c": 1],
            ["$class": .uid(9), "a": .uid(7)], ["$class": .uid(9), "a": .uid(2)], "unused", record)
        let archive = try KeyedArchive(validating: bytes)
        for (depth, isDeepEnough) in [(7, true), (6, false), (5, false)] {
            let limits = ValueFormLimits(size: 1 << 20, depth: depth)
            let isShown = (try? archive.json(limits: limits)) != nil
            #expect(isShown == isDeepEnough, "\(depth)")
        }
    }
}
