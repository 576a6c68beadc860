import ArchiveTestSupport
import KeyedArchive
import ValuePaths
import PropertyList
import Testing

/// Archives put together by hand: what no program at hand writes.
@Suite("An archive that is changed below its root")
struct KeyPathEditingTests {
    static func archive(_ json: String) throws -> KeyedArchive { try KeyedArchive(json: json) }

    static func json(_ archive: KeyedArchive) throws -> String { try archive.json().text }

    private static func edited(
        _ bytes: [UInt8], _ path: String, _ json: String?
    ) throws -> KeyedArchive {
        let archive = try KeyedArchive(validating: bytes)
        let path = try ValuePath(path)
        let changed =
            try json.map { try archive.setting(path, to: KeyedArchive(json: $0)) }
            ?? archive.removing(path)
        // The limits on what is read hold for what is written here, too.
        return try KeyedArchive(validating: changed.bytes)
    }

    @Test(
        "has the value that is set or removed, by its value form",
        arguments: [
            (#"{"a":{"b":1}}"#, "a.b", "2.5", #"{"a":{"b":2.5}}"#),
            (#"{"a":{"b":1}}"#, "a.c", "null", #"{"a":{"b":1,"c":null}}"#),
            (#"{"a":{"b":1}}"#, "a.b", nil, #"{"a":{}}"#),
            (#"{"a":[1,2,3]}"#, "a[-1]", #"[1,2]"#, #"{"a":[1,2,[1,2]]}"#),
            (#"{"a":[1,2,3]}"#, "a[3]", "4", #"{"a":[1,2,3,4]}"#),
            ("[]", "[0]", "4", "[4]"),
            ("{}", "a", #"{"b":[]}"#, #"{"a":{"b":[]}}"#),
            (#"{"a":[1,2,3]}"#, "a[-3]", nil, #"{"a":[2,3]}"#),
            (
                #"{"$class":"Game","PlaySound":true}"#, "PlaySound", "false",
                #"{"$class":"Game","PlaySound":false}"#
            ),
            (
                #"{"$class":"Game","level":{"$class":"NSNumber","$value":3}}"#, "level", "4",
                #"{"$class":"Game","level":{"$class":"NSNumber","$value":4}}"#
            ),
            (
                #"{"$class":"Game","level":{"$class":"NSNumber","$value":3}}"#, "level", "true",
                #"{"$class":"Game","level":{"$class":"NSNumber","$value":true}}"#
            ),
            (#"{"$class":"Game"}"#, "level", "4", #"{"$class":"Game","level":4}"#),
            (#"{"$class":"Game","x":null}"#, "x", "4", #"{"$class":"Game","x":4}"#),
            (#"{"$class":"Game","$$x":1}"#, "$$x", "4", #"{"$$x":4,"$class":"Game"}"#),
            (#"{"$class":"Game"}"#, "$0", "4", #"{"$0":4,"$class":"Game"}"#),
            (
                #"{"$class":"Game","b":{"$bytes":"AQ=="}}"#, "b", #"{"$data":"Ag=="}"#,
                #"{"$class":"Game","b":{"$bytes":"Ag=="}}"#
            ),
            (
                #"{"$class":"Game","b":{"$bytes":"AQ=="}}"#, "b", #""x""#,
                #"{"$class":"Game","b":"x"}"#
            ),
            (
                #"{"$class":"NSOrderedSet","NS.objects":[1,2]}"#, "[1]", "3",
                #"{"$class":"NSOrderedSet","NS.objects":[1,3]}"#
            ),
            (
                #"{"$class":"NSOrderedSet","NS.objects":[1,2]}"#, "[2]", "3",
                #"{"$class":"NSOrderedSet","NS.objects":[1,2,3]}"#
            ),
            (
                #"{"$class":"NSSet","NS.objects":[1,2]}"#, "[0]", nil,
                #"{"$class":"NSSet","NS.objects":[2]}"#
            ),
            (
                #"{"$class":"NSSet","NS.objects":[1,2]}"#, #""NS.objects""#, "[5]",
                #"{"$class":"NSSet","NS.objects":[5]}"#
            ),
            (
                #"{"$class":"NSDictionary","NS.keys":[1,"a"],"NS.objects":[3,4]}"#,
                #""NS.keys""#, "[5,6]",
                #"{"$class":"NSDictionary","NS.keys":[5,6],"NS.objects":[3,4]}"#
            ),
            (
                #"{"$class":"NSDictionary","NS.keys":[1,"a"],"NS.objects":[3,4]}"#, "a", "5",
                #"{"$class":"NSDictionary","NS.keys":[1,"a"],"NS.objects":[3,5]}"#
            ),
            (
                #"{"$class":"Bag","NS.objects":[1]}"#, #""NS.objects"[1]"#, "2",
                #"{"$class":"Bag","NS.objects":[1,2]}"#
            ),
            (
                #"{"$class":"Bag","n":1}"#, #""NS.objects""#, "[7]",
                #"{"$class":"Bag","NS.objects":[7],"n":1}"#
            ),
            (#"{"$top":{"a":1,"b":"x"}}"#, "a", "2", #"{"$top":{"a":2,"b":"x"}}"#),
            (#"{"$top":{"a":1,"b":"x"}}"#, "c", "[]", #"{"$top":{"a":1,"b":"x","c":[]}}"#),
            (#"{"$top":{"a":1,"b":"x"}}"#, "a", nil, #"{"$top":{"b":"x"}}"#),
            ("[1]", "", #""x""#, #""x""#),
            ("null", "", "[1]", "[1]"),
            ("[1]", "", "null", "null"),
            (
                #"{"a":1}"#, #""$null""#, #""$null""#,
                #"{"$class":"NSDictionary","NS.keys":["a","$null"],"NS.objects":[1,"$null"]}"#
            ),
        ] as [(String, String, String?, String)])
    func valueForm(before: String, path: String, value: String?, after: String) throws {
        let changed = try Self.edited(try Self.archive(before).bytes, path, value)
        #expect(try Self.json(changed) == after)
    }

    @Test(
        "is refused with the step that does not exist, and what is there instead",
        arguments: [
            (#"{"audio":3}"#, "audio.volume", 1, "'audio' is a number, which has no parts."),
            (#"{"a":{"b":true}}"#, "a.b[0]", 2, "'a.b' is a boolean, which has no parts."),
            (#"{"a":null}"#, "a.b", 1, "'a' is nil, which has no parts."),
            (#"{"a":"x"}"#, "a.b", 1, "'a' is a string, which has no parts."),
            (#"{"a":{}}"#, "a.b.c", 2, "'a' is a dictionary that has no 'b'."),
            (#"{"a":{"$class":"X"}}"#, "a.b.c", 2, "'a' is an object that has no 'b'."),
            ("[1]", "a", 1, "The value is an array, whose parts have numbers"),
            (#"{"a":1}"#, "[0]", 1, "The value is a dictionary, whose parts have names"),
            ("[1,2]", "[3]", 1, "The value is an array of 2 elements; it has no element [3]."),
            ("[1]", "[-2]", 1, "The value is an array of 1 element; it has no element [-2]."),
            ("[]", "[-1]", 1, "has no element [-1]."),
            ("[[]]", "[1][0]", 1, "has no element [1]."),
            (#"{"$class":"A","b":1}"#, "$class", 1, "cannot lead to its $class"),
            (#"{"$class":"A","b":1}"#, "$x", 1, "'$x' cannot be added"),
            (
                #"{"$class":"NSSet","NS.objects":[1]}"#, "[0]", 1,
                "a set, whose elements have no order"
            ),
            (
                #"{"$class":"NSSet","NS.objects":[1]}"#, #""NS.objects""#, 1,
                "only be set to an array."
            ),
            (
                #"{"$class":"NSDictionary","NS.keys":[1],"NS.objects":[1]}"#, #""NS.keys""#, 1,
                "only be set to an array of 1 element, because it has as many keys as values."
            ),
            (#"{"$top":{"a":1}}"#, "", 0, "begin the path with one of them"),
            (#"{"$top":{"a":1}}"#, "b.c", 1, "The value is an archive that has no 'b'."),
            (#"{"a b.c":1}"#, #""a b.c".d"#, 1, #"'"a b.c"' is a number"#),
        ])
    func refusal(before: String, path: String, step: Int, sentence: String) throws {
        let archive = try Self.archive(before)
        let error = try #require(throws: ValuePathError.self) {
            _ = try archive.setting(ValuePath(path), to: Self.archive("7"))
        }
        #expect(error.step == step)
        #expect(error.description.contains(sentence), "\(error)")
        #expect(error.description.hasSuffix("."))
    }

    @Test(
        "has nothing to read or remove if nothing is there",
        arguments: [
            (#"{"a":1}"#, "b"), ("[1]", "[1]"), (#"{"$class":"A"}"#, "b"),
            (#"{"$top":{"a":1}}"#, "b"),
        ])
    func nothingThere(json: String, path: String) throws {
        let (archive, path) = (try Self.archive(json), try ValuePath(path))
        let reading = #expect(throws: ValuePathError.self) { try archive.value(at: path) }
        let removing = #expect(throws: ValuePathError.self) { try archive.removing(path) }
        #expect(reading?.code == .notFound && removing == reading)
    }

    @Test(
        "keeps its whole value, the last of $top and the lists of collections",
        arguments: [
            ("1", ""), (#"{"$top":{"a":1}}"#, "a"), (#"{"$class":"NSSet"}"#, #""NS.objects""#),
        ])
    func notRemovable(json: String, path: String) throws {
        let archive = try Self.archive(json)
        let error = #expect(throws: ValuePathError.self) { try archive.removing(ValuePath(path)) }
        #expect(error?.code == .notEditable)
    }

    @Test("accepts no archive with its own names as a value")
    func valueWithTop() throws {
        let error = try #require(throws: ValuePathError.self) {
            _ = try Self.archive("[1]").setting(
                ValuePath("[0]"), to: Self.archive(#"{"$top":{"a":1}}"#))
        }
        #expect(error.code == .badValue)
    }
}
