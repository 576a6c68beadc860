import TestSupport
import ArchiveTestSupport
import KeyedArchive
import ValuePaths
import PropertyList
import TestTiers
import Testing

@Suite("What a change below the root leaves as it is", .startsPrograms)
struct KeyPathKeepingTests {
    private static func set(_ bytes: [UInt8], _ path: String, _ json: String) throws -> KeyedArchive
    {
        try KeyedArchive(validating: bytes).setting(ValuePath(path), to: KeyedArchive(json: json))
    }

    /// What Python's plistlib reads of an archive: its root, in its order.
    private static func plist(_ archive: KeyedArchive) throws -> String {
        let program = """
            import plistlib, sys
            for item in plistlib.loads(sys.stdin.buffer.read()).items(): print(*item)
            """
        return try Python.run(program, input: archive.bytes).text
    }

    @Test("are the archiver, unknown keys, hints, extra entries, wide numbers and loose objects")
    func allElse() throws {
        let archive: Tree = [
            "$archiver": "MyArchiver", "extra": [.uid(3), "note"],
            "$objects": [
                "$null",
                ["later": .uid(2), "n": 1, "$class": .uid(4), "t": .single(0.5)],
                "old", "of extra",
                [
                    "$classes": ["Game", "NSObject"], "$classname": "Game",
                    "$classhints": ["OldGame"], "more": 5,
                ],
                ["loose": .uid(6), "$class": .uid(4)], "loose", "loose too",
            ],
            "$version": 100_000, "$top": ["root": .uid(1)],
        ]
        let changed = try Self.set(archive.bytes(), "later", #"["old","new"]"#)
        #expect(
            try Self.plist(changed) == """
                $archiver MyArchiver
                extra [UID(3), 'note']
                $objects ['$null', {'later': UID(8), 'n': 1, '$class': UID(4), 't': 0.5}, 'old', \
                'of extra', {'$classes': ['Game', 'NSObject'], '$classname': 'Game', \
                '$classhints': ['OldGame'], 'more': 5}, {'loose': UID(6), '$class': UID(4)}, \
                'loose', 'loose too', {'$class': UID(10), 'NS.objects': [UID(2), UID(9)]}, 'new', \
                {'$classname': 'NSArray', '$classes': ['NSArray', 'NSObject']}]
                $version 100000
                $top {'root': UID(1)}

                """)
        // Four bytes of a real are 0x22 and its bits.
        #expect(changed.bytes.firstRange(of: [0x22, 0x3F, 0, 0, 0]) != nil)
    }

    @Test("is what is still used of the replaced value, and nothing more")
    func dropping() throws {
        let json = #"{"a":[{"$class":"Game","s":"x"},"y"],"b":["y"]}"#
        let archive = try KeyedArchive(json: json)
        let one = try archive.removing(ValuePath("a[0]"))
        #expect(one.bytes.count < archive.bytes.count)
        let expected = try KeyedArchive(json: #"{"a":["y"],"b":["y"]}"#)
        #expect(one.isSame(as: expected))
        #expect(one.bytes.count == expected.bytes.count)
        let two = try archive.setting(ValuePath("a"), to: KeyedArchive(json: #"["y"]"#))
        #expect(two.isSame(as: expected) && two.bytes.count == expected.bytes.count)
    }

    @Test("shares scalars and class records with the new value, except distinct ones")
    func sharing() throws {
        let json = #"{"a":{"$class":"Game","s":"x"},"b":1}"#
        let archive = try KeyedArchive(json: json)
        let value = try KeyedArchive(json: #"{"$class":"Game","s":"x","t":"a"}"#)
        let changed = try archive.setting(ValuePath("b"), to: value)
        let whole = try KeyedArchive(
            json: #"{"a":{"$class":"Game","s":"x"},"b":{"$class":"Game","s":"x","t":"a"}}"#)
        #expect(changed.isSame(as: whole))

        let apart = try KeyedArchive(
            validating: Tree.archive(
                ["$class": .uid(4), "NS.objects": [.uid(2), .uid(3)]], "x", "x",
                Tree.record("NSArray")))
        let both = try archive.setting(ValuePath("b"), to: apart)
        #expect(try both.value(at: ValuePath("b")).isSame(as: apart))
    }

    @Test("is a class record whose hints or chain differ")
    func otherRecords() throws {
        let hinted: Tree = [
            "$classname": "Game", "$classes": ["Game", "NSObject"], "$classhints": ["Old"],
        ]
        let bytes = Tree.archive(["$class": .uid(2), "a": .uid(0)], hinted)
        let changed = try Self.set(bytes, "a", #"{"$class":"Game"}"#)
        let inner = try changed.value(at: ValuePath("a"))
        #expect(inner.isSame(as: try KeyedArchive(json: #"{"$class":"Game"}"#)))
        // The record with the hints is shared by a value that has the same ones.
        let again = try changed.setting(ValuePath("b"), to: KeyedArchive(validating: bytes))
        let records = try Self.plist(again).split(separator: "classhints").count - 1
        #expect(records == 1)
    }

    @Test("is a list of the property list that another object has too")
    func sharedLists() throws {
        // Both arrays have one list in the file, and the dictionary of extra entries too.
        var writer = PropertyListWriter()
        func string(_ text: Text) -> ObjectIndex { writer.add(string: text) }
        func uid(_ uid: UInt64) -> ObjectIndex { writer.add(uid: uid) }
        let list = writer.add(array: [uid(4), uid(4)])
        let inner = writer.add(keys: [string("n")], values: [writer.add(integer: 1)])
        let object = writer.add(
            keys: [string("$class"), string("NS.objects")], values: [uid(3), list])
        let both = writer.add(
            keys: [string("$class"), string("a"), string("b"), string("c"), string("d")],
            values: [uid(6), uid(2), uid(5), inner, inner])
        let array = writer.add(
            keys: [string("$classname"), string("$classes")],
            values: [
                string("NSArray"), writer.add(array: [string("NSArray"), string("NSObject")]),
            ])
        let record = writer.add(
            keys: [string("$classname"), string("$classes")],
            values: [string("Both"), writer.add(array: [string("Both"), string("NSObject")])])
        let objects = writer.add(
            array: [string("$null"), both, object, array, string("x"), object, record])
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map { string($0) },
            values: [
                writer.add(integer: 100_000), string("NSKeyedArchiver"),
                writer.add(keys: [string("root")], values: [uid(1)]), objects,
            ])
        let bytes = writer.finish(root: root)
        #expect(
            try Self.set(bytes, "a[0]", "7").json().text
                == #"{"$class":"Both","a":[7,"x"],"b":["x","x"],"c":{"n":1},"d":{"n":1}}"#)
        #expect(
            try Self.set(bytes, "d.n", "7").json().text
                == #"{"$class":"Both","a":["x","x"],"b":["x","x"],"c":{"n":1},"d":{"n":7}}"#)
    }

    @Test("is the object that several places share: it changes in all of them")
    func sharedObjects() throws {
        let bytes = Tree.archive(
            ["$class": .uid(5), "NS.objects": [.uid(2), .uid(2)]],
            ["$class": .uid(4), "n": 1, "me": .uid(2)], "loose", Tree.record("Node"),
            Tree.record("NSArray"))
        let changed = try Self.set(bytes, "[1].me.me.n", "2")
        #expect(try changed.value(at: ValuePath("[0].n")).json().text == "2")
        let node = try changed.value(at: ValuePath("[0]"))
        #expect(
            node.isSame(
                as: try KeyedArchive(
                    validating: Tree.archive(
                        ["$class": .uid(2), "n": 2, "me": .uid(1)], Tree.record("Node")))))
        let other = try changed.removing(ValuePath("[0].me"))
        #expect(
            try other.json().text == #"[{"$class":"Node","n":2},{"$class":"Node","n":2}]"#)
    }

    @Test(
        "is the spelling of a collection",
        arguments: [
            (
                ["$class": .uid(2), "NS.object.0": .uid(3), "NS.object.1": .uid(4)], "NSArray",
                "[2]", #""z""#, #"["x","y","z"]"#, "NS.object.2"
            ),
            (
                ["NS.object.1": .uid(4), "$class": .uid(2), "NS.object.0": .uid(3)], "NSMutableSet",
                "[0]", nil, #"{"$class":"NSMutableSet","NS.objects":["y"]}"#, "NS.object.0"
            ),
            (
                ["$class": .uid(2), "NS.key.0": .uid(3), "NS.object.0": .uid(4)], "NSDictionary",
                "y", "1", #"{"x":"y","y":1}"#, "NS.key.1"
            ),
            (
                [
                    "$class": .uid(2), "NS.key.0": .uid(3), "NS.object.0": .uid(4),
                    "NS.key.1": .uid(4), "NS.object.1": .uid(3),
                ], "NSMutableDictionary", "x", nil, #"{"y":"x"}"#, "NS.key.0"
            ),
            (["$class": .uid(2)], "NSDictionary", "a", "1", #"{"a":1}"#, "NS.keys"),
            (["$class": .uid(2)], "NSMutableArray", "[0]", "1", "[1]", "NS.objects"),
            (
                ["$class": .uid(2), "list": ["a", 1]], "Own", "list[2]", #""b""#,
                #"{"$class":"Own","list":["a",1,"b"]}"#, "'b'"
            ),
            (
                ["$class": .uid(2), "plain": ["a": 1]], "Own", "plain.b", #"[2]"#,
                #"{"$class":"Own","plain":{"a":1,"b":[2]}}"#, "'a': 1, 'b': UID(5)"
            ),
            (
                ["$class": .uid(2), "s": "inline", "d": .data([1])], "Own", "s", #""b""#,
                #"{"$class":"Own","d":{"$bytes":"AQ=="},"s":"b"}"#, "'s': 'b'"
            ),
        ] as [(Tree, Text, String, String?, String, String)])
    func spelling(
        object: Tree, name: Text, path: String, value: String?, json: String, part: String
    ) throws {
        let bytes = Tree.archive(object, Tree.record(name), "x", "y")
        let path = try ValuePath(path)
        let archive = try KeyedArchive(validating: bytes)
        let changed =
            try value.map { try archive.setting(path, to: KeyedArchive(json: $0)) }
            ?? archive.removing(path)
        #expect(try changed.json().text == json)
        #expect(try Self.plist(changed).contains(part))
    }

    @Test("are sets of the property list, dates, and keys that are objects")
    func unusual() throws {
        let bytes = Tree.archive(
            [
                "$class": .uid(2), "set": .set([1, 2]), "ordered": .orderedSet(["a", .uid(3)]),
                "date": .date(5), "pairs": .uid(5),
            ],
            Tree.record("Own"), "x", Tree.record("NSDictionary"),
            ["$class": .uid(4), "NS.keys": [.uid(6), .uid(8)], "NS.objects": [.uid(3), .uid(3)]],
            ["$class": .uid(7), "NS.string": "key"], Tree.record("NSMutableString", "NSString"),
            ["$class": .uid(7), "NS.bytes": .data(Array("kex".utf8))])
        #expect(
            try Self.set(bytes, "pairs.key", "1").removing(ValuePath("ordered[0]")).json().text
                == """
                {"$class":"Own","date":{"$date":5.0},"ordered":{"$class":"NSOrderedSet",\
                "NS.objects":["x"]},"pairs":{"kex":"x","key":1},"set":{"$class":"NSSet",\
                "NS.objects":[1,2]}}
                """)
        let archive = try KeyedArchive(validating: bytes)
        #expect(try archive.value(at: ValuePath("pairs.kex")).json().text == #""x""#)
        #expect(try archive.value(at: ValuePath("date")).json().text == #"{"$date":5.0}"#)
        let ordered = try archive.value(at: ValuePath("ordered"))
        #expect(
            ordered.isSame(
                as: try KeyedArchive(json: #"{"$class":"NSOrderedSet","NS.objects":["a","x"]}"#)))
        #expect(
            try archive.value(at: ValuePath(#"set."NS.objects""#)).isSame(
                as: KeyedArchive(json: "[1,2]")))
    }

    @Test("is nil, whatever string represents it")
    func nils() throws {
        let bytes = Tree.archive(
            ["$class": .uid(3), "a": .uid(2), "b": 1, "c": "$null"], "$null", Tree.record("Own"))
        let changed = try Self.set(bytes, "b", "null")
        #expect(
            try changed.json().text == #"{"$class":"Own","a":null,"b":null,"c":"$null"}"#)
        #expect(try changed.value(at: ValuePath("a")).json().text == "null")
        #expect(try changed.value(at: ValuePath("c")).json().text == #""$null""#)
        #expect(
            try changed.setting(ValuePath("a"), to: KeyedArchive(json: "null")).bytes
                == changed.bytes)
    }

    @Test("are the parts that archives without objects lack: nil, when the first is added")
    func noObjects() throws {
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["n": 5], "$objects": [],
        ]
        let changed = try Self.set(archive.bytes(), "s", #""x""#)
        #expect(try changed.json().text == #"{"$top":{"n":5,"s":"x"}}"#)
        #expect(try changed.value(at: ValuePath("n")).json().text == "5")
    }

    @Test("is a class record in the place of nil")
    func classAtZero() throws {
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": [Tree.record("Own"), ["$class": .uid(0), "a": .uid(0), "b": 1]],
        ]
        let changed = try Self.set(archive.bytes(), "b", "2")
        #expect(try changed.json().text == #"{"$class":"Own","a":null,"b":2}"#)
        let root = try changed.value(at: ValuePath(""))
        #expect(throws: ValuePathError.self) {
            try KeyedArchive(json: "[1]").setting(ValuePath("[0]"), to: root)
        }
        #expect(try changed.value(at: ValuePath("b")).json().text == "2")
    }

    @Test("is a key that is a dictionary itself and looks like a string object")
    func inlineKeys() throws {
        let bytes = Tree.archive(
            ["$class": .uid(2), "NS.keys": [["$class": 5, "NS.string": "x"]], "NS.objects": [1]],
            Tree.record("NSDictionary"))
        let changed = try Self.set(bytes, "x", "1")
        #expect(try changed.value(at: ValuePath("x")).json().text == "1")
    }
}
