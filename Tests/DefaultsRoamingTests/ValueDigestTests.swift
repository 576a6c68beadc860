import ArchiveTestSupport
import DefaultsRoaming
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("The digest of a value")
struct ValueDigestTests {
    /// All fixtures; some are no archives, which have digests, too.
    static let digests = Fixtures.all.map { ($0, ValueDigest(of: $0.bytes)) }

    @Test("is that of another fixture only if both are the same value")
    func fixtures() {
        var fixtures: [ValueDigest: Fixtures.Fixture] = [:]
        for (fixture, digest) in Self.digests {
            #expect(digest.bytes.count == 32)
            guard let other = fixtures.updateValue(fixture, forKey: digest) else { continue }
            let archives = [fixture, other].map { try? KeyedArchive(validating: $0.bytes) }
            let areSame =
                if let left = archives[0], let right = archives[1] {
                    left.isSame(as: right)
                } else {
                    fixture.bytes == other.bytes
                }
            #expect(areSame, "\(fixture.name) and \(other.name)")
        }
    }

    @Test("is the same for other bytes of the same graph")
    func otherBytes() throws {
        let wide = Tree.archive(["$class": .uid(2), "a": 5, "b": 6], Tree.record("A"))
        let turned = Tree.archive(["b": 6, "$class": .uid(2), "a": 5], Tree.record("A"))
        #expect(wide != turned)
        #expect(ValueDigest(of: wide) == ValueDigest(of: turned))
        let other = Tree.archive(["b": 5, "$class": .uid(2), "a": 6], Tree.record("A"))
        #expect(ValueDigest(of: wide) != ValueDigest(of: other))
    }

    @Test("of a removal is that of no archive")
    func removal() {
        #expect(ValueDigest(of: nil) == ValueDigest(of: nil))
        #expect(ValueDigest(of: nil) != ValueDigest(of: []))
        #expect(ValueDigest(of: []) != ValueDigest(of: [0]))
    }

    @Test("of a large archive is that of its bytes")
    func large() {
        let data = [UInt8](repeating: 7, count: ValueDigest.largestGraph)
        let archive = Tree.archive(.data(data))
        let more = Tree.archive(.data(data), 1)
        #expect(ValueDigest(of: archive) == ValueDigest(of: archive))
        #expect(ValueDigest(of: archive) != ValueDigest(of: more))
    }

    @Test("of an archive with unknown entries is that of its bytes")
    func unknownEntries() throws {
        let entries: [(Tree, Tree)] = [(1, 2), (2, 1)]
        let digests = entries.map { first, second in
            ValueDigest(
                of: Tree.dictionary([
                    ("$version", 100_000), ("$archiver", "NSKeyedArchiver"),
                    ("$top", ["root": .uid(1)]), ("$objects", ["$null", 1]),
                    ("$more", first), ("$most", second),
                ]).bytes())
        }
        #expect(digests[0] != digests[1])
    }
}
