import ArchiveTestSupport
import KeyedArchive
import PropertyList
import Testing

@Suite("The value form of an archive")
struct RenderingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let json: String

        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], _ json: String) {
            self.name = name
            self.bytes = bytes
            self.json = json
        }
    }

    static let scalars: [Case] = [
        Case("a boolean", Tree.archive(true), "true"),
        Case("an integer", Tree.archive(-42), "-42"),
        Case(
            "an integer of 128 bits", Tree.archive(.integer(.max)),
            "170141183460469231731687303715884105727"),
        Case("a real", Tree.archive(1.0), "1.0"),
        Case("a real that needs an exponent", Tree.archive(1e300), "1e+300"),
        Case("a real below zero", Tree.archive(.real(-0.0)), "-0.0"),
        Case("a real of 32 bits", Tree.archive(.single(0.1)), "0.10000000149011612"),
        Case("no number", Tree.archive(.real(.nan)), #"{"$real":"nan"}"#),
        Case("infinity", Tree.archive(.single(-.infinity)), #"{"$real":"-inf"}"#),
        Case("a string", Tree.archive(#"a "b" \ é"#), #""a \"b\" \\ é""#),
        Case("control characters", Tree.archive("\u{0}\n\u{1F}"), #""\u0000\n\u001f""#),
        Case(
            "surrogates alone",
            Tree.archive(.text(Text(utf16: [0xD83D, 0x61, 0xDC00, 0xD83D, 0xDE00]))),
            "\"\\ud83da\\udc00\u{1F600}\""),
        Case("data", Tree.archive(.data([1, 2, 3, 4])), #"{"$data":"AQIDBA=="}"#),
        Case("a date", Tree.archive(.date(725_760_000)), #"{"$date":725760000.0}"#),
        Case("nil", Tree.archive(top: ["root": .uid(0)]), "null"),
        Case("nil by name", Tree.archive("$null"), "null"),
    ]

    static let objects: [Case] = [
        Case(
            "fields inline and behind references",
            Tree.archive(
                [
                    "$class": .uid(2), "inline": 42, "object": .uid(3), "nil": .uid(0),
                    "flag": true,
                    "bytes": .data([1]), "data": .uid(4), "text": "t", "$0": 1.5, "$$x": .uid(5),
                ], Tree.record("Account"), 42, .data([2]), false),
            #"{"$$x":{"$class":"NSNumber","$value":false},"$0":1.5,"$class":"Account","#
                + #""bytes":{"$bytes":"AQ=="},"data":{"$data":"Ag=="},"flag":true,"inline":42,"#
                + #""nil":null,"object":{"$class":"NSNumber","$value":42},"text":"t"}"#),
        Case(
            "an object inside itself",
            Tree.archive(["$class": .uid(2), "me": .uid(1)], Tree.record("Node")),
            #"{"$class":"Node","me":{"$ref":1}}"#),
        Case(
            "an object in two places",
            Tree.archive(
                ["$class": .uid(2), "NS.objects": [.uid(3), .uid(3)]], Tree.record("NSArray"),
                ["$class": .uid(4)], Tree.record("NSNull")),
            #"[{"$class":"NSNull"},{"$class":"NSNull"}]"#),
        Case(
            "a class as a value",
            Tree.archive(["$class": .uid(2), "kind": .uid(2)], Tree.record("Kind")),
            #"{"$class":"Kind","kind":{"$classdef":"Kind"}}"#),
        Case(
            "collections inline",
            Tree.archive(
                [
                    "$class": .uid(2), "list": [1, .uid(3), .data([1])],
                    "map": ["b": 1, "a": .uid(3)],
                    "odd": ["$x": 1], "set": .set([1]), "order": .orderedSet([2]),
                    "when": .date(0),
                ], Tree.record("Holder"), "s"),
            #"{"$class":"Holder","list":[1,"s",{"$data":"AQ=="}],"map":{"a":"s","b":1},"#
                + #""odd":{"$class":"NSDictionary","NS.keys":["$x"],"NS.objects":[1]},"#
                + #""order":{"$class":"NSOrderedSet","NS.objects":[2]},"#
                + #""set":{"$class":"NSSet","NS.objects":[1]},"when":{"$date":0.0}}"#),
        Case(
            "several entries of $top",
            Tree.archive("s", top: ["root": .uid(1), "count": 5, "number": .uid(0)]),
            #"{"$top":{"count":5,"number":null,"root":"s"}}"#),
        Case(
            "a root that is inline", Tree.archive(top: ["root": 5]), #"{"$top":{"root":5}}"#),
    ]

    static let collections: [Case] = [
        Case(
            "a list of fields",
            Tree.archive(
                ["NS.object.1": .uid(4), "$class": .uid(2), "NS.object.0": .uid(3)],
                Tree.record("NSArray"), 1, 2), "[1,2]"),
        Case(
            "a list of fields with a gap",
            Tree.archive(
                ["NS.object.2": .uid(3), "$class": .uid(2), "NS.object.0": .uid(3)],
                Tree.record("NSArray"), 1),
            #"{"$class":"NSArray","NS.object.0":{"$class":"NSNumber","$value":1},"#
                + #""NS.object.2":{"$class":"NSNumber","$value":1}}"#),
        Case("no field", Tree.archive(["$class": .uid(2)], Tree.record("NSMutableArray")), "[]"),
        Case(
            "no field of a dictionary",
            Tree.archive(["$class": .uid(2)], Tree.record("NSDictionary")),
            "{}"),
        Case(
            "no field of a set", Tree.archive(["$class": .uid(2)], Tree.record("NSMutableSet")),
            #"{"$class":"NSMutableSet","NS.objects":[]}"#),
        Case(
            "a field more",
            Tree.archive(
                ["$class": .uid(2), "NS.objects": [.uid(3)], "more": 1], Tree.record("NSArray"), 1),
            #"{"$class":"NSArray","NS.objects":[1],"more":1}"#),
        Case(
            "a subclass",
            Tree.archive(
                ["$class": .uid(2), "NS.objects": [.uid(3)]], Tree.record("MyArray", "NSArray"), 1),
            #"{"$class":"MyArray","NS.objects":[1]}"#),
        Case(
            "elements that are inline",
            Tree.archive(["$class": .uid(2), "NS.objects": [1]], Tree.record("NSArray")),
            "[1]"),
        Case(
            "string keys, one of them an object",
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(3), .uid(4)],
                    "NS.objects": [.uid(0), .uid(3)],
                ], Tree.record("NSDictionary"), "b", ["$class": .uid(5), "NS.string": "a"],
                Tree.record("NSMutableString")),
            #"{"a":"b","b":null}"#),
        Case(
            "numbered pairs",
            Tree.archive(
                ["$class": .uid(2), "NS.key.0": .uid(3), "NS.object.0": .uid(4)],
                Tree.record("NSMutableDictionary"), "k", 1), #"{"k":1}"#),
        Case(
            "a key twice",
            Tree.archive(
                [
                    "$class": .uid(2), "NS.keys": [.uid(3), .uid(3)],
                    "NS.objects": [.uid(3), .uid(0)],
                ], Tree.record("NSDictionary"), "a"),
            #"{"$class":"NSDictionary","NS.keys":["a","a"],"NS.objects":["a",null]}"#),
        Case(
            "keys that begin with $",
            Tree.archive(
                ["$class": .uid(2), "NS.keys": [.uid(3)], "NS.objects": [.uid(3)]],
                Tree.record("NSMutableDictionary"), "$a"),
            #"{"$class":"NSMutableDictionary","NS.keys":["$a"],"NS.objects":["$a"]}"#),
        Case(
            "more keys than values",
            Tree.archive(
                ["$class": .uid(2), "NS.keys": [.uid(3)], "NS.objects": []],
                Tree.record("NSDictionary"), "a"),
            #"{"$class":"NSDictionary","NS.keys":["a"],"NS.objects":[]}"#),
        Case(
            "a string object",
            Tree.archive(["$class": .uid(2), "NS.string": "s"], Tree.record("NSString")),
            #""s""#),
        Case(
            "a string object by reference",
            Tree.archive(["$class": .uid(2), "NS.string": .uid(3)], Tree.record("NSString"), "s"),
            #""s""#),
        Case(
            "a string object in UTF-8",
            Tree.archive(
                ["$class": .uid(2), "NS.bytes": .data(Array("é".utf8))],
                Tree.record("NSMutableString")),
            #""é""#),
        Case(
            "a string object that is not UTF-8",
            Tree.archive(["$class": .uid(2), "NS.bytes": .data([0xFF])], Tree.record("NSString")),
            #"{"$class":"NSString","NS.bytes":{"$bytes":"/w=="}}"#),
        Case(
            "a string object that is nil",
            Tree.archive(["$class": .uid(2), "NS.string": .uid(0)], Tree.record("NSString")),
            #"{"$class":"NSString","NS.string":null}"#),
        Case(
            "a data object",
            Tree.archive(
                ["$class": .uid(2), "NS.bytes": .uid(3)], Tree.record("NSData"), .data([1])),
            #"{"$data":"AQ=="}"#),
        Case(
            "a date object",
            Tree.archive(["$class": .uid(2), "NS.time": 0.5], Tree.record("NSDate")),
            #"{"$class":"NSDate","NS.time":0.5}"#),
    ]

    @Test("spells each type", arguments: scalars + objects + collections)
    func spelling(_ value: Case) throws {
        let json = try KeyedArchive(validating: value.bytes).json()
        #expect(json.text == value.json)
    }

    @Test("is the same for UIDs of any width", arguments: 1...8)
    func uidWidths(width: Int) throws {
        let archive: Tree = [
            "$version": 100_000, "$archiver": "MyArchiver", "$top": ["root": .uid(1)],
            "$objects": ["$null", ["$class": .uid(2), "x": .uid(1)], Tree.record("A")],
        ]
        let json = try KeyedArchive(validating: archive.bytes(uidWidth: width)).json()
        #expect(json.text == #"{"$class":"A","x":{"$ref":1}}"#)
    }

    @Test("is laid out in lines on request")
    func pretty() throws {
        let archive = try KeyedArchive(json: #"{"a":[1,{}],"b":[],"c":{"$data":"AQ=="}}"#)
        let expected = """
            {
              "a": [
                1,
                {}
              ],
              "b": [],
              "c": {"$data": "AQ=="}
            }
            """
        #expect(try archive.json(isPretty: true).text == expected)
    }

    @Test("is limited: a bomb of shared objects is an error")
    func bomb() throws {
        // Each of forty arrays holds the next one twice.
        var objects: [Tree] = (2...41).map {
            ["$class": .uid(42), "NS.objects": [.uid($0), .uid($0)]]
        }
        objects += ["x", Tree.record("NSArray")]
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null"] + objects),
        ]
        let bomb = try KeyedArchive(validating: archive.bytes())
        let limits = ValueFormLimits(size: 1 << 16, depth: 100)
        let error = #expect(throws: ArchiveError.self) { try bomb.json(limits: limits) }
        #expect(error?.code == .outputTooLarge)
    }

    @Test("is limited, including the spaces before deep lines")
    func indentation() throws {
        let depth = 1000
        let json = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let archive = try KeyedArchive(json: json)
        let limits = ValueFormLimits(size: 100_000, depth: depth)
        #expect(try archive.json(limits: limits).count == 2 * depth)
        let error = #expect(throws: ArchiveError.self) {
            try archive.json(isPretty: true, limits: limits)
        }
        #expect(error?.code == .outputTooLarge)
        #expect(error.map { (1..<archive.bytes.count).contains($0.byteOffset) } == true)
    }

    @Test("is limited in depth")
    func depth() throws {
        let archive = try KeyedArchive(json: "[[[]]]")
        #expect(try archive.json(limits: ValueFormLimits(size: 1000, depth: 3)).text == "[[[]]]")
        let error = #expect(throws: ArchiveError.self) {
            try archive.json(limits: ValueFormLimits(size: 1000, depth: 2))
        }
        #expect(error?.code == .outputTooDeep)
    }
}
