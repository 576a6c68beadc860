import ArchiveTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Shared values, which are counted before they are shown.
@Suite struct RenderingCostTests {
    /// Counts the values that it takes, in the way in which the number of values is limited.
    private struct Counter: ValueFormSink {
        private(set) var values = 0

        mutating func null() { values += 1 }
        mutating func boolean(_ value: Bool) { values += 1 }
        mutating func integer(_ value: Int128) { values += 1 }
        mutating func real(_ value: Double) { values += 1 }
        mutating func string(_ value: Text) { values += 1 }
        mutating func data(_ value: ArraySlice<UInt8>) { values += 1 }
        mutating func bytes(_ value: ArraySlice<UInt8>) { values += 1 }
        mutating func date(_ secondsSince2001: Double) { values += 1 }
        mutating func reference(to uid: UInt64) {}
        mutating func beginArray() { values += 1 }
        mutating func endArray() {}
        mutating func beginDictionary() { values += 1 }
        mutating func key(_ key: Text) {}
        mutating func endDictionary() {}
    }

    /// Arrays, each of which holds the next one twice.
    private func bomb(levels: UInt64) throws -> KeyedArchive {
        var objects: [Tree] = (2...levels + 1).map {
            ["$class": .uid(levels + 2), "NS.objects": [.uid($0), .uid($0)]]
        }
        objects += ["x", Tree.record("NSArray")]
        return try KeyedArchive(validating: Tree(archive: objects).bytes())
    }

    @Test func `A bomb of shared objects is refused before it is built`() throws {
        let bomb = try bomb(levels: 40)
        var sink = Counter()
        let error = #expect(throws: ArchiveError.self) { try bomb.render(into: &sink) }
        #expect(error?.code == .outputTooLarge)
        #expect(sink.values < bomb.bytes.count)
        sink = Counter()
        #expect(throws: TooManyValues.self) {
            try self.bomb(levels: 17).render(into: &sink, mostValues: 1000)
        }
    }

    @Test func `A shared value that is not too large is shown completely`() throws {
        var sink = Counter()
        try bomb(levels: 17).render(into: &sink)
        #expect(sink.values == (1 << 18) - 1)
    }

    /// Objects and arrays that refer to any others, also around.
    private func graph(_ random: inout SeededGenerator) throws -> KeyedArchive {
        let isCyclic = Bool.random(using: &random)
        let count = UInt64.random(in: isCyclic ? 2...7 : 2...20, using: &random)
        let objects: [Tree] = (1...count).map { number in
            let next = min(number + 1, count)...min(number + 3, count)
            let targets = isCyclic ? 1...count : next
            guard isCyclic || number < count else { return "leaf" }
            let references = (0..<Int.random(in: 2...4, using: &random)).map { _ in
                Tree.uid(.random(in: targets, using: &random))
            }
            guard Bool.random(using: &random) else {
                return ["$class": .uid(count + 1), "NS.objects": .array(references)]
            }
            let fields = references.enumerated().map { (Text("f\($0)"), $1) }
            return .dictionary([("$class", .uid(count + 2))] + fields + [("n", 1)])
        }
        return try KeyedArchive(
            validating: Tree(
                archive: objects + [Tree.record("NSArray"), Tree.record("Account")]
            ).bytes())
    }

    @Test func `The count equals the number of values shown, for any graph`() throws {
        var random = SeededGenerator()
        var counted = 0
        for _ in 0..<500 {
            let archive = try graph(&random)
            var sink = Counter()
            let limits = ValueFormLimits(size: 1 << 19, depth: 100)
            guard (try? archive.render(into: &sink, limits: limits)) != nil else { continue }
            let values = sink.values
            sink = Counter()
            try archive.render(into: &sink, limits: limits, mostValues: values)
            #expect(sink.values == values)
            #expect(throws: TooManyValues.self) {
                try archive.render(into: &sink, limits: limits, mostValues: values - 1)
            }
            if 8 * values > 4 * archive.bytes.count + 4096 { counted += 1 }
        }
        #expect(counted > 20)
    }
}
