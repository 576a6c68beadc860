import ArchiveTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import TestTiers
import Testing

@Suite("Two archives", .startsPrograms)
struct SamenessTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let left: [UInt8]
        let right: [UInt8]

        var testDescription: String { name }

        init(_ name: String, _ left: [UInt8], _ right: [UInt8]) {
            self.name = name
            self.left = left
            self.right = right
        }
    }

    static let array = Tree.record("NSArray")
    static let dictionary = Tree.record("NSDictionary")

    static let same: [Case] = [
        Case(
            "with their objects in another order",
            Tree.archive(["$class": .uid(2), "a": .uid(3)], Tree.record("A"), "x"),
            Tree.archive(["$class": .uid(3), "a": .uid(2)], "x", Tree.record("A"))),
        Case(
            "with their fields in another order",
            Tree.archive(["$class": .uid(2), "a": 1, "b": 2], Tree.record("A")),
            Tree.archive(["b": 2, "$class": .uid(2), "a": 1], Tree.record("A"))),
        Case(
            "with their keys in another order",
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(3), .uid(4)],
                    "NS.objects": [.uid(5), .uid(6)],
                ],
                dictionary, "a", "b", 1, 2),
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(4), .uid(3)],
                    "NS.objects": [.uid(6), .uid(5)],
                ],
                dictionary, "a", "b", 1, 2)),
        Case(
            "with their keys in the same order, their objects not",
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(3), .uid(4)],
                    "NS.objects": [.uid(5), .uid(6)],
                ],
                dictionary, "a", "b", 1, 2),
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(6), .uid(5)],
                    "NS.objects": [.uid(4), .uid(3)],
                ],
                dictionary, 2, 1, "b", "a")),
        Case(
            "with an object that nothing refers to", Tree.archive("a"), Tree.archive("a", "b")),
        Case(
            "with nil by number and by name",
            Tree.archive(["$class": .uid(2), "a": .uid(0)], Tree.record("A")),
            Tree.archive(["$class": .uid(2), "a": .uid(3)], Tree.record("A"), "$null")),
        Case(
            "that contain themselves",
            Tree.archive(["$class": .uid(2), "a": .uid(1)], Tree.record("A")),
            Tree.archive(["$class": .uid(3), "a": .uid(1)], "x", Tree.record("A"))),
    ]

    static let different: [Case] = [
        Case("with an integer and a real", Tree.archive(1), Tree.archive(1.0)),
        Case("with an integer and a boolean", Tree.archive(1), Tree.archive(true)),
        Case("with zero and minus zero", Tree.archive(0.0), Tree.archive(.real(-0.0))),
        Case("with reals of other widths", Tree.archive(0.5), Tree.archive(.single(0.5))),
        Case("with other strings", Tree.archive("\u{E9}"), Tree.archive("e\u{301}")),
        Case("with other data", Tree.archive(.data([1])), Tree.archive(.data([2]))),
        Case("with other archivers", Tree.archive(1), Tree.archive(1, archiver: "Other")),
        Case(
            "with other keys in $top", Tree.archive(1), Tree.archive(1, top: ["other": .uid(1)])),
        Case(
            "with other class names",
            Tree.archive(["$class": .uid(2)], Tree.record("A")),
            Tree.archive(["$class": .uid(2)], Tree.record("B"))),
        Case(
            "with other chains",
            Tree.archive(["$class": .uid(2)], Tree.record("A")),
            Tree.archive(["$class": .uid(2)], Tree.record("A", "B"))),
        Case(
            "with other hints",
            Tree.archive(["$class": .uid(2)], Tree.record("A")),
            Tree.archive(
                ["$class": .uid(2)],
                ["$classname": "A", "$classes": ["A", "NSObject"], "$classhints": ["B"]])),
        Case(
            "with a field inline and behind a reference",
            Tree.archive(["$class": .uid(2), "a": 1], Tree.record("A")),
            Tree.archive(["$class": .uid(2), "a": .uid(3)], Tree.record("A"), 1)),
        Case(
            "with a field more",
            Tree.archive(["$class": .uid(2)], Tree.record("A")),
            Tree.archive(["$class": .uid(2), "a": 1], Tree.record("A"))),
        Case(
            "with elements in another order",
            Tree.archive(["$class": .uid(2), "NS.objects": [.uid(3), .uid(4)]], array, 1, 2),
            Tree.archive(["$class": .uid(2), "NS.objects": [.uid(4), .uid(3)]], array, 1, 2)),
        Case(
            "with other values for their keys",
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(3), .uid(4)],
                    "NS.objects": [.uid(5), .uid(6)],
                ],
                dictionary, "a", "b", 1, 2),
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(4), .uid(3)],
                    "NS.objects": [.uid(5), .uid(6)],
                ],
                dictionary, "a", "b", 1, 2)),
        Case(
            "with other values for keys in the same order",
            Tree.archive(
                ["$class": .uid(2), "NS.keys": [.uid(3)], "NS.objects": [.uid(4)]],
                dictionary, "a", 1),
            Tree.archive(
                ["$class": .uid(2), "NS.keys": [.uid(3)], "NS.objects": [.uid(4)]],
                dictionary, "a", 2)),
        Case(
            "with names that differ in the middle alone",
            Tree.archive(["$class": .uid(2), "field": 1], Tree.record("A")),
            Tree.archive(["$class": .uid(2), "fiend": 1], Tree.record("A"))),
        Case(
            "that share an object and do not",
            Tree.archive(
                ["$class": .uid(2), "NS.objects": [.uid(3), .uid(3)]], array, ["$class": .uid(2)]),
            Tree.archive(
                ["$class": .uid(2), "NS.objects": [.uid(3), .uid(4)]], array, ["$class": .uid(2)],
                ["$class": .uid(2)])),
        Case(
            "with number keys in another order",
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(3), .uid(4)],
                    "NS.objects": [.uid(3), .uid(4)],
                ],
                dictionary, 1, 2),
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(4), .uid(3)],
                    "NS.objects": [.uid(4), .uid(3)],
                ],
                dictionary, 1, 2)),
        Case(
            "with an unknown entry in the root", Tree.archive(1),
            Tree.dictionary([
                ("$version", 100_000), ("$archiver", "NSKeyedArchiver"),
                ("$top", ["root": .uid(1)]),
                ("$objects", ["$null", 1]), ("$more", 1),
            ]).bytes()),
    ]

    @Test("are the same", arguments: same)
    func areSame(_ value: Case) throws {
        let left = try KeyedArchive(validating: value.left)
        let right = try KeyedArchive(validating: value.right)
        #expect(left.isSame(as: right))
        #expect(right.isSame(as: left))
        #expect(left.canonicalForm != nil)
        #expect(left.canonicalForm == right.canonicalForm)
    }

    @Test("are the same with integers of other widths")
    func integerWidths() throws {
        let wide = try KeyedArchive(validating: Tree.archive(5))
        let narrow = try KeyedArchive(json: "5")
        #expect(wide.bytes != narrow.bytes)
        #expect(wide.isSame(as: narrow))
        #expect(wide.canonicalForm == narrow.canonicalForm)
    }

    @Test("of very many keys in another order are compared in a limited time")
    func manyKeys() throws {
        let count = Thoroughness.isWhole ? 100_000 : 30_000
        let keys = (0..<count).map { "k\($0)" }
        let inOrder = try Self.flags(keys)
        #expect(inOrder.isSame(as: try Self.flags(keys.reversed())))
        #expect(inOrder.canonicalForm != nil)
        #expect(try inOrder.canonicalForm == Self.flags(keys.reversed()).canonicalForm)
        #expect(!inOrder.isSame(as: try Self.flags(keys.dropFirst() + ["other"])))
    }

    /// A dictionary that has `true` for each key, in this order.
    private static func flags(_ keys: some Collection<String>) throws -> KeyedArchive {
        var writer = PropertyListWriter()
        let record = writer.add(
            keys: ["$classname", "$classes"].map { writer.add(string: Text($0)) },
            values: [
                writer.add(string: "NSDictionary"),
                writer.add(array: [writer.add(string: "NSDictionary")]),
            ])
        let flag = writer.add(uid: 2)
        let flags = writer.add(array: Array(repeating: flag, count: keys.count))
        let uids = (0..<keys.count).map { writer.add(uid: UInt64($0 + 3)) }
        let dictionary = writer.add(
            keys: ["$class", "NS.keys", "NS.objects"].map { writer.add(string: Text($0)) },
            values: [writer.add(uid: UInt64(keys.count + 3)), writer.add(array: uids), flags])
        let objects =
            [writer.add(string: "$null"), dictionary, writer.add(boolean: true)]
            + keys.map { writer.add(string: Text($0)) } + [record]
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map {
                writer.add(string: Text($0))
            },
            values: [
                writer.add(integer: 100_000), writer.add(string: "NSKeyedArchiver"),
                writer.add(keys: [writer.add(string: "root")], values: [writer.add(uid: 1)]),
                writer.add(array: objects),
            ])
        return try KeyedArchive(validating: writer.finish(root: root))
    }

    @Test("are compared in a limited time if their lists share each other")
    func bomb() throws {
        // Forty arrays, each with the next one twice, stand inline in an object.
        var writer = PropertyListWriter()
        var inner = writer.add(array: [])
        for _ in 0..<40 { inner = writer.add(array: [inner, inner]) }
        let name = writer.add(string: "A")
        let record = writer.add(
            keys: [writer.add(string: "$classname"), writer.add(string: "$classes")],
            values: [name, writer.add(array: [name])])
        let object = writer.add(
            keys: [writer.add(string: "$class"), writer.add(string: "x")],
            values: [writer.add(uid: 2), inner])
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map { writer.add(string: $0) },
            values: [
                writer.add(integer: 100_000), name,
                writer.add(keys: [writer.add(string: "root")], values: [writer.add(uid: 1)]),
                writer.add(array: [writer.add(string: "$null"), object, record]),
            ])
        let bytes = writer.finish(root: root)
        var padded = bytes
        padded[padded.count - 32] = 1
        let bomb = try KeyedArchive(validating: bytes)
        #expect(try bomb.isSame(as: KeyedArchive(validating: bytes)))
        #expect(try !bomb.isSame(as: KeyedArchive(validating: padded)))
        #expect(bomb.canonicalForm == nil)
        let limits = ValueFormLimits(size: 1 << 16, depth: 100)
        #expect(throws: ArchiveError.self) { try bomb.json(limits: limits) }
    }

    @Test("are different", arguments: different)
    func areDifferent(_ value: Case) throws {
        let left = try KeyedArchive(validating: value.left)
        let right = try KeyedArchive(validating: value.right)
        #expect(!left.isSame(as: right))
        #expect(!right.isSame(as: left))
        #expect(left.canonicalForm != right.canonicalForm)
    }

    @Test("of the fixtures have the same canonical form if they are the same, and only then")
    func forms() throws {
        let archives = try Fixtures.keyed.filter(\.isBinary).map {
            let archive = try KeyedArchive(validating: $0.bytes)
            return (archive: archive, form: try #require(archive.canonicalForm))
        }
        for (position, left) in archives.enumerated() {
            for right in archives[position...] {
                #expect(left.archive.isSame(as: right.archive) == (left.form == right.form))
            }
        }
    }

    @Test(
        "of a real program are the same with their objects renumbered",
        arguments: Fixtures.keyed.filter(\.isBinary))
    func renumbered(_ fixture: Fixtures.Fixture) throws {
        let program = """
            import plistlib, sys
            from plistlib import UID
            archive = plistlib.loads(sys.stdin.buffer.read())
            count = len(archive["$objects"])
            def move(v):
                if isinstance(v, UID): return UID(v.data and count - v.data)
                if isinstance(v, list): return [move(x) for x in v]
                if isinstance(v, dict): return {k: move(v[k]) for k in reversed(v)}
                return v
            objects = [move(o) for o in archive["$objects"]]
            archive["$objects"] = objects[:1] + objects[:0:-1]
            archive["$top"] = move(archive["$top"])
            sys.stdout.buffer.write(plistlib.dumps(archive, fmt=plistlib.FMT_BINARY, sort_keys=False))
            """
        let moved = try Python.run(program, input: fixture.bytes)
        let archive = try KeyedArchive(validating: fixture.bytes)
        #expect(moved != fixture.bytes)
        let list = try PropertyList(fixture.bytes)
        let hasSingleReals = list.indices.contains { index in
            if case .singleReal = list.value(at: index) { true } else { false }
        }
        // Python writes all reals in 64 bits, which is another width.
        let copy = try KeyedArchive(validating: moved)
        #expect(archive.isSame(as: copy) == !hasSingleReals)
        #expect((archive.canonicalForm == copy.canonicalForm) == !hasSingleReals)
    }
}

extension KeyedArchive {
    /// The whole canonical form; nil if it is not complete.
    fileprivate var canonicalForm: [UInt8]? {
        var form: [UInt8] = []
        return writeCanonicalForm { form += $0 } ? form : nil
    }
}
