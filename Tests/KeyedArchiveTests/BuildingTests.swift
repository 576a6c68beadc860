import TestSupport
import ArchiveTestSupport
import KeyedArchive
import PropertyList
import TestTiers
import Testing

@Suite("An archive made of a value", .startsPrograms)
struct BuildingTests {
    /// What Python's plistlib reads: the objects, as Python shows them.
    static func objects(_ json: String) throws -> String {
        let program = """
            import plistlib, sys
            archive = plistlib.loads(sys.stdin.buffer.read())
            assert list(archive) == ["$version", "$archiver", "$top", "$objects"]
            assert archive["$archiver"] == "NSKeyedArchiver" and archive["$version"] == 100000
            print(archive["$top"], *archive["$objects"], sep="\\n", end="")
            """
        return try Python.run(program, input: try KeyedArchive(json: json).bytes).text
    }

    @Test(
        "has its objects as NSKeyedArchiver writes them",
        arguments: [
            ("true", ["{'root': UID(1)}", "$null", "True"]),
            ("null", ["{'root': UID(0)}", "$null"]),
            ("\"x\"", ["{'root': UID(1)}", "$null", "x"]),
            ("1.0", ["{'root': UID(1)}", "$null", "1.0"]),
            ("18446744073709551615", ["{'root': UID(1)}", "$null", "18446744073709551615"]),
            (#"{"$data":"AQI="}"#, ["{'root': UID(1)}", "$null", #"b'\x01\x02'"#]),
            (
                #"{"username":"ada","$class":"Account"}"#,
                [
                    "{'root': UID(1)}", "$null", "{'$class': UID(3), 'username': UID(2)}", "ada",
                    "{'$classname': 'Account', '$classes': ['Account', 'NSObject']}",
                ]
            ),
            (
                #"["a",["a"]]"#,
                [
                    "{'root': UID(1)}", "$null",
                    "{'$class': UID(4), 'NS.objects': [UID(2), UID(3)]}",
                    "a", "{'$class': UID(4), 'NS.objects': [UID(2)]}",
                    "{'$classname': 'NSArray', '$classes': ['NSArray', 'NSObject']}",
                ]
            ),
            (
                #"{"b":null,"a":1}"#,
                [
                    "{'root': UID(1)}", "$null",
                    "{'$class': UID(5), 'NS.keys': [UID(2), UID(3)], 'NS.objects': [UID(4), UID(0)]}",
                    "a", "b", "1",
                    "{'$classname': 'NSDictionary', '$classes': ['NSDictionary', 'NSObject']}",
                ]
            ),
            (
                #"{"$class":"A","i":1,"n":{"$class":"NSNumber","$value":1},"b":{"$bytes":"AQ=="}}"#,
                [
                    "{'root': UID(1)}", "$null",
                    #"{'$class': UID(3), 'b': b'\x01', 'i': 1, 'n': UID(2)}"#, "1",
                    "{'$classname': 'A', '$classes': ['A', 'NSObject']}",
                ]
            ),
            (
                #"{"$class":"NSMutableArray","NS.objects":[1]}"#,
                [
                    "{'root': UID(1)}", "$null", "{'$class': UID(3), 'NS.objects': [UID(2)]}", "1",
                    "{'$classname': 'NSMutableArray', "
                        + "'$classes': ['NSMutableArray', 'NSArray', 'NSObject']}",
                ]
            ),
            (
                #"{"$top":{"n":5,"s":"x"}}"#,
                ["{'n': 5, 's': UID(1)}", "$null", "x"]
            ),
        ])
    func objects(json: String, expected: [String]) throws {
        #expect(try Self.objects(json) == expected.joined(separator: "\n"))
    }

    @Test(
        "is shown as the same value again",
        arguments: [
            "true", "1", "-1", "1.0", "1e+300", "5e-324", "\"\"", "[]", "{}", "null",
            "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728",
            #"{"$real":"nan"}"#, #"{"$real":"inf"}"#, #"{"$real":"-inf"}"#, #"{"$date":0.5}"#,
            #"{"$date":{"$real":"nan"}}"#, #"{"$data":""}"#, #"{"$data":"AAECAw=="}"#,
            #""\ud800""#, #""\udc00\ud800""#, #""\u0000""#, #""$null""#, #"[null,"$null"]"#,
            #"[1,1.0,true,"1",null,{"$data":"AQ=="}]"#,
            #"{"$class":"A","$$class":"x","$0":1,"$1":{"$class":"NSNumber","$value":2}}"#,
            #"{"$class":"A","b":{"$bytes":"AQ=="},"d":{"$data":"AQ=="},"x":null,"z":{"a":1}}"#,
            #"{"$class":"NSDate","NS.time":725760000.0}"#,
            #"{"$class":"NSSet","NS.objects":[1,"a"]}"#,
            #"{"$class":"NSMutableOrderedSet","NS.objects":[]}"#,
            #"{"$class":"NSDictionary","NS.keys":[1,"$a"],"NS.objects":["a",[]]}"#,
            #"{"$top":{"$0":1,"Data":{"a":[]}}}"#, #"{"$top":{"root":true}}"#,
            #"{"a\"b":{"c":[[[[]]]]}}"#, #"{"\ud800":1}"#, #"{"$class":"A","\ud800":1}"#,
        ])
    func roundTrip(json: String) throws {
        // Keys sort by code points, so the spelling above is not always the one that comes back.
        let archive = try KeyedArchive(json: json)
        let shown = try archive.json()
        #expect(try Python.isSameJSON(shown, Array(json.utf8)))
        #expect(try KeyedArchive(json: shown).bytes == archive.bytes)
    }

    @Test(
        "is the same bytes however the value is laid out",
        arguments: [
            (#"{"a":1,"b":[2]}"#, "{ \"b\" : [ 2 ] ,\n\t\"a\":1 }"),
            (#"{"$class":"A","x":1}"#, #"{"x":1,"$class":"A"}"#),
            (#""é/""#, #""\u00e9\/""#),
            ("null", #"{"$class":"$null"}"#),
            ("42", #"{"$class":"NSNumber","$value":42}"#),
        ])
    func layout(_ one: String, _ other: String) throws {
        #expect(try KeyedArchive(json: one).bytes == KeyedArchive(json: other).bytes)
    }

    @Test("equals the archive that is rendered into a builder")
    func builderAsSink() throws {
        let archive = try KeyedArchive(
            json: #"{"$class":"A","x":[1,{"$data":"AQ=="}],"y":{"$bytes":""}}"#)
        var builder = ValueFormBuilder()
        try archive.render(into: &builder)
        #expect(builder.finish().bytes == archive.bytes)
    }

    @Test("accepts the spellings of D-Bus, which has bytes for data")
    func dataEvents() throws {
        var builder = ValueFormBuilder()
        try builder.beginDictionary()
        try builder.key("raw")
        try builder.beginDictionary()
        try builder.key("$bytes")
        try builder.data([1, 2])
        try builder.endDictionary()
        try builder.key("none")
        try builder.beginDictionary()
        try builder.key("$class")
        try builder.string("$null")
        try builder.endDictionary()
        try builder.key("$class")
        try builder.string("A")
        try builder.endDictionary()
        let json = try builder.finish().json()
        #expect(json.text == #"{"$class":"A","none":null,"raw":{"$bytes":"AQI="}}"#)
    }
}
