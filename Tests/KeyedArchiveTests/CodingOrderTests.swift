import ArchiveTestSupport
import Foundation
import KeyedArchive
import TestSupport
import Testing

@Suite("Sets and dictionaries of instances")
struct CodingOrderTests {
    @Test("end if all refer to the same one, however many they are")
    func parents() throws {
        let parent = Joint(0)
        let joints = Set((0..<2000).map { Joint($0 % 500, next: [parent]) })
        #expect(try KeyedArchive.encoding(joints).bytes.count > 2000)
    }

    @Test("end if each refers to all later ones")
    func dense() throws {
        let joints = (0..<100).map { Joint($0) }
        for (number, joint) in joints.enumerated() { joint.next = Array(joints[(number + 1)...]) }
        #expect(try KeyedArchive.encoding(Set(joints)).bytes.count > 100)
        for joint in joints { joint.next = [] }
    }

    @Test("in a long line give the same bytes in each order")
    func line() throws {
        let joints = (0..<5000).map { _ in Joint(0) }
        for (left, right) in zip(joints, joints.dropFirst()) { right.before = left }
        let bytes = try KeyedArchive.encoding(Line(joints: joints, ends: Set(joints))).bytes
        let others = Line(joints: joints, ends: Set(joints.reversed()))
        #expect(try KeyedArchive.encoding(others).bytes == bytes)
    }

    /// Graphs of instances that are hard to tell apart, by name.
    static let shapes: [String: @Sendable () -> [Joint]] = [
        "a tree of the way back": {
            let joints = (0..<40).map { Joint($0 == 37 ? 1 : 0) }
            for number in 1..<40 { joints[number].before = joints[(number - 1) / 2] }
            return joints
        },
        "a line that differs at its end": {
            let joints = (0..<40).map { Joint($0 == 0 ? 1 : 0) }
            for number in 1..<40 { joints[number].before = joints[number - 1] }
            return joints
        },
        "a chain of all the same": {
            let joints = (0..<12).map { _ in Joint(0) }
            for number in 0..<11 { joints[number].next = [joints[number + 1]] }
            return joints
        },
        "one instance twice or two once": {
            let ends = (0..<3).map { _ in Joint(0) }
            return [Joint(1, next: [ends[0], ends[0]]), Joint(1, next: [ends[1], ends[2]])]
        },
        "all the same, in several sets": {
            let joints = (0..<8).map { _ in Joint(0) }
            let sets = [Set(joints), Set(joints.reversed()), Set(joints[2...])]
            return sets.map { Joint(2, set: $0) }
        },
    ]

    @Test("give the same bytes, however they were made", arguments: shapes.keys.sorted())
    func insertion(shape: String) throws {
        let make = try #require(Self.shapes[shape])
        var random = SeededGenerator(case: shape)
        func archive() throws -> [UInt8] {
            let joints = make()
            defer { for joint in joints { joint.cut() } }
            var set: Set<Joint> = []
            if Bool.random(using: &random) {
                set.reserveCapacity(1 << Int.random(in: 4...12, using: &random))
            }
            for joint in joints.shuffled(using: &random) { set.insert(joint) }
            let keyed = Dictionary(
                uniqueKeysWithValues: joints.shuffled(using: &random).map { ($0, true) })
            return try KeyedArchive.encoding(Both(set: set, keyed: keyed)).bytes
        }
        let bytes = try archive()
        for _ in 0..<12 { #expect(try archive() == bytes) }
    }

    @Test("as keys are different ones, even if they look the same")
    func keys() throws {
        let joints = (0..<12).map { _ in Joint(0) }
        for (left, right) in zip(joints, joints.dropFirst()) { right.before = left }
        let keyed = Dictionary(uniqueKeysWithValues: joints.map { ($0, 1) })
        let text = try KeyedArchive.encoding(keyed).text()
        #expect(text.hasPrefix(#"{"$class":"NSDictionary","NS.keys":["#))
        let alike = [Joint(0): 1, Joint(0): 2]
        #expect(throws: Never.self) { try KeyedArchive.encoding(alike) }
    }

    @Test("and values as keys that differ only deep inside are different keys")
    func deepKeys() throws {
        func nested(_ number: Int, _ depth: Int) -> Nested {
            depth == 0
                ? Nested(number: number, inner: [])
                : Nested(number: 0, inner: [nested(number, depth - 1)])
        }
        let keyed = Dictionary(uniqueKeysWithValues: (0..<20).map { (nested($0, 20), $0) })
        let archive = try KeyedArchive.encoding(keyed)
        #expect(try KeyedArchiveDecoder().decode([Nested: Int].self, from: archive) == keyed)
    }
}

/// An instance that can refer to others in each way; each is equal to itself alone.
final class Joint: Encodable, Hashable {
    let kind: Int
    var next: [Joint]
    var set: Set<Joint>
    /// Referred to weakly, so that long lines are not freed one in the other.
    weak var before: Joint?

    init(_ kind: Int, next: [Joint] = [], set: Set<Joint> = []) {
        self.kind = kind
        self.next = next
        self.set = set
    }

    private enum CodingKeys: CodingKey {
        case kind, next, set, before
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(next, forKey: .next)
        try container.encode(set, forKey: .set)
        try container.encodeIfPresent(before, forKey: .before)
    }

    /// Lets go of the others, which may hold this one.
    func cut() {
        next = []
        set = []
    }

    static func == (left: Joint, right: Joint) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private struct Both: Encodable {
    let set: Set<Joint>
    let keyed: [Joint: Bool]
}

private struct Line: Encodable {
    let joints: [Joint]
    let ends: Set<Joint>
}

private struct Nested: Codable, Hashable {
    let number: Int
    let inner: Set<Nested>
}
