import ArchiveTestSupport
import KeyedArchive
import ValuePaths
import PropertyList
import Testing

@Suite("A path into bytes of any kind")
struct KeyPathRobustnessTests {
    /// Reads, sets and removes at each path.
    ///
    /// The result is an archive or an error.
    private static func tryEverything(_ bytes: [UInt8], at paths: [ValuePath]) {
        guard let archive = try? KeyedArchive(validating: bytes),
            let marker = try? KeyedArchive(json: #"{"$class":"NSSet","NS.objects":["x"]}"#)
        else { return }
        for path in paths {
            if let part = try? archive.value(at: path) {
                _ = try? archive.setting(path, to: part)
                _ = try? marker.setting(ValuePath([]), to: part)
            }
            let changed = try? archive.setting(path, to: marker)
            _ = try? changed?.removing(path)
        }
    }

    @Test("gives an archive or an error, with any byte of an archive changed")
    func changedBytes() throws {
        for bytes in RobustnessTests.own {
            let original = try KeyedArchive(validating: bytes)
            let names = ["x", "NS.objects", "NS.keys", "$top"].map { [ValuePath.Step.name($0)] }
            let paths =
                try KeyPathModel(of: original).paths().prefix(4).map { ValuePath($0.path) }
                + (names + [[.index(0)]]).map { ValuePath($0) }
            Self.tryEverything(bytes, at: paths)
            // Every byte's turn comes in one of the archives, which are much alike.
            for position in stride(from: bytes.count % 7, to: bytes.count, by: 7) {
                var changed = bytes
                changed[position] ^= position.isMultiple(of: 2) ? 0x01 : 0x10
                Self.tryEverything(changed, at: paths)
            }
        }
    }

    @Test("ends for arrays that share each other, whose value form is endless")
    func bomb() throws {
        let levels = 200
        var objects: [Tree] = (0..<levels).map { level in
            let next = Tree.uid(UInt64(level + 2))
            return ["$class": .uid(UInt64(levels + 2)), "NS.objects": [next, next]]
        }
        objects += ["end", Tree.record("NSArray")]
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null"] + objects),
        ]
        let bomb = try KeyedArchive(validating: archive.bytes(uidWidth: 2))
        let path = ValuePath((0..<levels).map { .index($0 % 2) })
        let changed = try bomb.setting(path, to: KeyedArchive(json: "1"))
        #expect(try changed.value(at: path).json().text == "1")
        let twice = try changed.value(at: ValuePath("[0]")).setting(ValuePath("[0]"), to: bomb)
        #expect(twice.bytes.count < 2 * bomb.bytes.count)
    }

    @Test("ends for lists of the property list that share each other")
    func inlineBomb() throws {
        var writer = PropertyListWriter()
        var list = writer.add(array: [writer.add(string: "end")])
        for _ in 0..<400 { list = writer.add(array: [list, list]) }
        let object = writer.add(
            keys: ["$class", "list"].map { writer.add(string: $0) },
            values: [writer.add(uid: 2), list])
        let record = writer.add(
            keys: ["$classname", "$classes"].map { writer.add(string: $0) },
            values: [writer.add(string: "Own"), writer.add(array: [writer.add(string: "Own")])])
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map { writer.add(string: $0) },
            values: [
                writer.add(integer: 100_000), writer.add(string: "NSKeyedArchiver"),
                writer.add(keys: [writer.add(string: "root")], values: [writer.add(uid: 1)]),
                writer.add(array: [writer.add(string: "$null"), object, record]),
            ])
        let bomb = try KeyedArchive(validating: writer.finish(root: root))
        let path = ValuePath([.name("list")] + (0...400).map { .index($0 < 400 ? 1 : 0) })
        let lists = try bomb.value(at: ValuePath("list"))
        let inside = ValuePath(Array(path.steps.dropFirst()))
        #expect(try lists.value(at: inside).json().text == #""end""#)
        let changed = try bomb.setting(path, to: KeyedArchive(json: "1"))
        #expect(try changed.value(at: path).json().text == "1")
        let first = ValuePath([.name("list")] + (0...400).map { _ in .index(0) })
        #expect(try changed.value(at: first).json().text == #""end""#)
        #expect(changed.bytes.count < 3 * bomb.bytes.count)
    }

    @Test("ends for many references to one large string, and for many numbered fields")
    func sharedContent() throws {
        var writer = PropertyListWriter()
        let count = 20_000
        let large = writer.add(string: Text(String(repeating: "x", count: 200_000)))
        let key = writer.add(uid: 4)
        let keys = Array(repeating: key, count: count)
        let dictionary = writer.add(
            keys: ["$class", "NS.keys", "NS.objects"].map { writer.add(string: $0) },
            values: [writer.add(uid: 2), writer.add(array: keys), writer.add(array: keys)])
        let fields = (0..<count).map { writer.add(string: Text("NS.object.\($0)")) }
        let array = writer.add(
            keys: [writer.add(string: "$class")] + fields, values: [writer.add(uid: 3)] + keys)
        func record(_ name: Text) -> ObjectIndex {
            writer.add(
                keys: ["$classname", "$classes"].map { writer.add(string: $0) },
                values: [writer.add(string: name), writer.add(array: [writer.add(string: name)])])
        }
        let objects = [
            writer.add(string: "$null"), dictionary, record("NSDictionary"), record("NSArray"),
            large, array,
        ]
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map { writer.add(string: $0) },
            values: [
                writer.add(integer: 100_000), writer.add(string: "NSKeyedArchiver"),
                writer.add(
                    keys: ["d", "a"].map { writer.add(string: $0) },
                    values: [writer.add(uid: 1), writer.add(uid: 5)]),
                writer.add(array: objects + Array(repeating: large, count: count)),
            ])
        let archive = try KeyedArchive(validating: writer.finish(root: root))
        let one = try KeyedArchive(json: "1")
        let other = Text(String(repeating: "x", count: 199_999) + "y")
        let added = try archive.setting(ValuePath([.name("d"), .name(other)]), to: one)
        #expect(try added.value(at: ValuePath([.name("d"), .name(other)])).json().text == "1")
        _ = try archive.setting(ValuePath("d.\"NS.keys\"[0]"), to: one)
        let path = ValuePath([.name("a"), .index(count)])
        let moved = try archive.setting(path, to: one).removing(ValuePath("a[0]"))
        #expect(try moved.value(at: ValuePath("a[-1]")).json().text == "1")
    }

    @Test("follows a cycle as often as it says")
    func circle() throws {
        let archive = try KeyedArchive(
            validating: Tree.archive(
                ["$class": .uid(2), "me": .uid(1), "n": 1], Tree.record("Node")))
        let path = ValuePath(Array(repeating: .name("me"), count: 5_000) + [.name("n")])
        let changed = try archive.setting(path, to: KeyedArchive(json: "2"))
        #expect(try changed.value(at: ValuePath("n")).json().text == "2")
        // An object set inside itself is a copy there.
        let inside = try archive.setting(ValuePath("n"), to: archive)
        #expect(try inside.value(at: ValuePath("n.me.me.n")).json().text == "1")
    }

    @Test("sets nothing that would be nested too deep to be read")
    func tooDeep() throws {
        var nested: Tree = []
        for _ in 0..<509 { nested = [nested] }
        // Three levels are the root, $objects and the object; its list is the next.
        let deep = try KeyedArchive(validating: Tree.archive(nested))
        let own = try KeyedArchive(json: #"{"$class":"Own","a":1}"#)
        let error = try #require(throws: ValuePathError.self) {
            _ = try own.setting(ValuePath(#""NS.objects""#), to: deep)
        }
        #expect(error.code == .badValue && error.description.contains("nested"))
        _ = try own.setting(ValuePath("a"), to: deep)
        #expect(try deep.value(at: ValuePath((0..<400).map { _ in .index(0) })).bytes.count > 0)
    }

    @Test(
        "accepts parts that are nested deeper than the standard limits, if the archive may be so")
    func deeperThanStandard() throws {
        var nested: Tree = []
        for _ in 0..<600 { nested = [nested] }
        let bytes = Tree.archive(
            ["$class": .uid(3), "o": .uid(2), "n": 1], ["$class": .uid(3), "a": nested],
            Tree.record("Own"))
        let limits = KeyedArchive.Limits(byteCount: .max, objectCount: .max, depth: 1_000)
        let archive = try KeyedArchive(validating: bytes, limits: limits)
        let part = try archive.value(at: ValuePath("o"))
        #expect(try part.value(at: ValuePath("a[0]")).bytes.count > 0)
        #expect(throws: ArchiveError.self) { _ = try KeyedArchive(validating: part.bytes) }
        // Nothing changes, and then what is deep goes.
        #expect(try archive.setting(ValuePath("o"), to: part).bytes == bytes)
        let flat = try archive.setting(ValuePath("o"), to: KeyedArchive(json: "2"))
        #expect(try flat.json().text == #"{"$class":"Own","n":1,"o":2}"#)
        // What is written is not deeper than the standard allows.
        let error = try #require(throws: ValuePathError.self) {
            _ = try archive.setting(ValuePath("n"), to: KeyedArchive(json: "2"))
        }
        #expect(error.code == .badValue && error.description.contains("nested"))
    }

    /// A list and a dictionary that are large, and that many objects hold or are.
    @Test("ends for a large list and a large object that many slots share")
    func sharedCollections() throws {
        let (size, count) = (100_000, 4_000)
        var writer = PropertyListWriter()
        let yes = writer.add(boolean: true)
        let shared = writer.add(array: Array(repeating: yes, count: size))
        let classKey = writer.add(string: "$class")
        let record = writer.add(
            keys: ["$classname", "$classes"].map { writer.add(string: $0) },
            values: [writer.add(string: "Own"), writer.add(array: [writer.add(string: "Own")])])
        let own = writer.add(uid: 2)
        let keys = (0..<size).map { writer.add(string: Text("\($0)")) }
        let large = writer.add(
            keys: [classKey] + keys, values: [own] + Array(repeating: yes, count: size))
        let root = writer.add(
            keys: [classKey, writer.add(string: "n")], values: [own, writer.add(integer: 1)])
        // The list comes first, so that it is looked at before what is no entry of a class record.
        let holders = (0..<count).map { _ in
            writer.add(keys: [writer.add(string: "a"), classKey], values: [shared, own])
        }
        let slots = [shared, large].flatMap { Array(repeating: $0, count: count) }
        let objects = [writer.add(string: "$null"), root, record] + holders + slots
        let entries = [
            writer.add(integer: 100_000), writer.add(string: "NSKeyedArchiver"),
            writer.add(keys: [writer.add(string: "root")], values: [writer.add(uid: 1)]),
            writer.add(array: objects),
        ]
        let names = ["$version", "$archiver", "$top", "$objects"].map { writer.add(string: $0) }
        let list = writer.add(keys: names, values: entries)
        let archive = try KeyedArchive(validating: writer.finish(root: list))
        let path = try ValuePath("n")
        let changed = try archive.setting(path, to: KeyedArchive(json: "2"))
        #expect(try changed.value(at: path).json().text == "2")
    }
}
