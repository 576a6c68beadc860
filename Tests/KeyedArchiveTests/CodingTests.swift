import ArchiveTestSupport
import Foundation
import KeyedArchive
import PropertyList
import Testing

@Suite("A Codable value")
struct CodingTests {
    /// A value and the value form of its archive.
    struct Sample: Sendable, CustomStringConvertible {
        let description: String
        let encode: @Sendable () throws -> KeyedArchive
        /// Decodes the archive, and says whether the value is the same.
        let isSame: @Sendable (KeyedArchive) throws -> Bool

        init<Value: Codable & Equatable & Sendable>(_ json: String, _ value: Value) {
            description = json
            encode = { try KeyedArchiveEncoder().encode(value) }
            isSame = { try KeyedArchiveDecoder().decode(Value.self, from: $0) == value }
        }
    }

    static let scalars: [Sample] = [
        Sample("true", true), Sample("42", 42), Sample("-1", Int8(-1)), Sample("0.1", 0.1),
        Sample("18446744073709551615", UInt64.max),
        Sample("-170141183460469231731687303715884105728", Int128.min),
        Sample("170141183460469231731687303715884105727", UInt128(Int128.max)),
        Sample("1.5", Float(1.5)), Sample(#"{"$real":"inf"}"#, Double.infinity),
        Sample("-0.0", -0.0), Sample(#""text""#, "text"), Sample(#""""#, ""),
        Sample(#""é😀""#, "é😀"), Sample(#""$null""#, "$null"), Sample(#""\u0000""#, "\0"),
        Sample("null", Int?.none), Sample("null", Account?.none), Sample("7", Int?.some(7)),
        Sample("2.5", Meters(2.5)), Sample(#""red""#, Colour.red), Sample("2", Level.high),
    ]

    static let objects: [Sample] = [
        Sample(
            #"{"$class":"Account","age":null,"isAdmin":true,"username":"ada"}"#,
            Account(username: "ada", isAdmin: true)),
        Sample(
            #"{"$class":"Account","age":36,"isAdmin":false,"username":"ada"}"#,
            Account(username: "ada", age: 36)),
        Sample(
            #"{"$class":"Options","playSound":true,"showHints":false}"#,
            Options(playSound: true, showHints: false)),
        Sample(#"{"$class":"Empty"}"#, Empty()),
        Sample(
            #"{"$class":"Outer","inner":{"$class":"Outer.Inner","value":1},"#
                + #""named":{"a":{"$class":"Outer.Inner","value":3}},"#
                + #""others":[{"$class":"Outer.Inner","value":2}]}"#,
            Outer(inner: .init(value: 1), others: [.init(value: 2)], named: ["a": .init(value: 3)])),
        Sample(#"{"$class":"Box<Int>","content":1}"#, Box(content: 1)),
        Sample(
            #"{"$class":"Box<Box<Dictionary<String, Outer.Inner>>>","content":"#
                + #"{"$class":"Box<Dictionary<String, Outer.Inner>>","content":{}}}"#,
            Box(content: Box(content: [String: Outer.Inner]()))),
        Sample(
            #"{"$$kind":2,"$class":"Renamed","NS.name":"n"}"#, Renamed(name: "n", kind: 2)),
        Sample(
            #"{"$class":"Account","age":null,"isAdmin":false,"username":"ada"}"#,
            Wrapper(Account(username: "ada"))),
        Sample(
            #"{"$class":"Mixed","meta":{"label":"l"},"points":[[1,2],[],[3]]}"#,
            Mixed(points: [[1, 2], [], [3]], label: "l")),
        Sample(#"{"$class":"TwoContainers","first":1,"second":"b"}"#, TwoContainers()),
        Sample(
            #"{"$class":"Sparse","list":[1],"names":{"a":{"$class":"NSNull"},"b":"x"},"#
                + #""nested":null,"number":null,"text":null}"#,
            Sparse(list: [1], names: ["a": nil, "b": "x"])),
        Sample(
            #"{"$class":"Numbers","byte":255,"huge":-170141183460469231731687303715884105728,"#
                + #""medium":-2147483648,"no":false,"real":0.1,"short":-32768,"#
                + #""single":0.10000000149011612,"small":-128,"unsigned":4294967295,"#
                + #""wide":-9223372036854775808,"widest":18446744073709551615,"word":65535,"#
                + #""yes":true}"#,
            Numbers()),
    ]

    static let enums: [Sample] = [
        Sample(#"{"$class":"Shape2D","nothing":{}}"#, Shape2D.nothing),
        Sample(#"{"$class":"Shape2D","circle":{"radius":1.5}}"#, Shape2D.circle(radius: 1.5)),
        Sample(#"{"$class":"Shape2D","pair":{"_0":1,"_1":"b"}}"#, Shape2D.pair(1, "b")),
        Sample(
            #"{"$class":"Shape2D","group":{"_0":[{"$class":"Shape2D","nothing":{}}],"name":"n"}}"#,
            Shape2D.group([.nothing], name: "n")),
        Sample(#"{"$class":"Shape2D","group":{"_0":[]}}"#, Shape2D.group([], name: nil)),
        Sample(#"["green","red"]"#, [Colour.green, .red]),
    ]

    static let collections: [Sample] = [
        Sample("[]", [Int]()), Sample("[]", [String]()), Sample("[]", [Account]()),
        Sample(#"["a","b","a"]"#, ["a", "b", "a"]), Sample("[true,false]", [true, false]),
        Sample("[[1],[]]", [[1], []]), Sample(#"[1,{"$class":"NSNull"},3]"#, [1, nil, 3]),
        Sample(#"{"$data":"AQI="}"#, [UInt8]([1, 2])), Sample(#"{"$data":""}"#, [UInt8]()),
        Sample(#"[{"$data":"AQ=="}]"#, [[UInt8]([1])]),
        Sample(
            #"{"$class":"Box<Array<UInt8>>","content":{"$bytes":"AQ=="}}"#, Box(content: [UInt8(1)])
        ),
        Sample(#"{"$class":"NSSet","NS.objects":["a","b","c"]}"#, Set(["c", "a", "b"])),
        Sample(#"{"$class":"NSSet","NS.objects":[-5,0,3,10,200]}"#, Set([10, 200, 3, -5, 0])),
        Sample(#"{"$class":"NSSet","NS.objects":[]}"#, Set<Int>()),
        Sample("{}", [String: Int]()), Sample("{}", [Int: Int]()),
        Sample(#"{"a":1,"b":2,"é":3}"#, ["é": 3, "b": 2, "a": 1]),
        Sample(
            #"{"$class":"NSDictionary","NS.keys":["$a","b"],"NS.objects":[1,2]}"#,
            ["b": 2, "$a": 1]),
        Sample(
            #"{"$class":"NSDictionary","NS.keys":[-1,2,10],"NS.objects":["c","a","b"]}"#,
            [10: "b", 2: "a", -1: "c"]),
        Sample(#"{"green":1,"red":2}"#, [Colour.red: 2, .green: 1]),
        Sample(
            #"{"$class":"NSDictionary","NS.keys":[-1.5,0.5,2.0],"NS.objects":[1,2,3]}"#,
            [2.0: 3, 0.5: 2, -1.5: 1]),
        Sample(
            #"{"$class":"NSDictionary","NS.keys":[true],"NS.objects":[{"x":[1]}]}"#,
            [true: ["x": [1]]]),
        Sample(
            #"{"$class":"NSDictionary","NS.keys":[{"$class":"Outer.Inner","value":1},"#
                + #"{"$class":"Outer.Inner","value":2}],"NS.objects":["a","b"]}"#,
            [Outer.Inner(value: 2): "b", Outer.Inner(value: 1): "a"]),
        // Keys that are objects have an order that is always the same, but means nothing.
        Sample(
            #"{"$class":"NSDictionary","NS.keys":[[],["a","b"],["a"]],"NS.objects":[0,2,1]}"#,
            [["a"]: 1, ["a", "b"]: 2, []: 0]),
    ]

    static let all = scalars + objects + enums + collections

    @Test("has this value form", arguments: all)
    func valueForm(_ sample: Sample) throws {
        #expect(try sample.encode().text() == sample.description)
    }

    @Test("is the same bytes as the archive of its value form", arguments: all)
    func bytes(_ sample: Sample) throws {
        #expect(try sample.encode().bytes == KeyedArchive(json: sample.description).bytes)
    }

    @Test("is the same after being encoded and decoded", arguments: all)
    func roundTrip(_ sample: Sample) throws {
        let archive = try sample.encode()
        #expect(try sample.isSame(archive))
        #expect(try sample.isSame(KeyedArchive(validating: archive.bytes)))
    }

    @Test("gives the same bytes every time, however its sets and dictionaries are ordered")
    func deterministic() throws {
        let names = (0..<300).map { "name \($0)" }
        var one: [String: Set<Int>] = [:]
        var other: [String: Set<Int>] = Dictionary(minimumCapacity: 10_000)
        for name in names { one[name] = Set(0..<50) }
        for name in names.reversed() { other[name] = Set((0..<50).reversed()) }
        let archive = try KeyedArchive.encoding(one)
        #expect(try archive.bytes == KeyedArchive.encoding(other).bytes)
        #expect(try archive.bytes == KeyedArchive(json: archive.text()).bytes)
    }

    @Test("of many objects is the same after being encoded and decoded, and in other bytes")
    func many() throws {
        let books = Book.shelf(2000)
        let archive = try KeyedArchive.encoding(books)
        #expect(try archive.bytes == KeyedArchive(json: archive.json()).bytes)
        let decoder = KeyedArchiveDecoder()
        #expect(try decoder.decode([Book].self, from: Data(archive.bytes)) == books)
        #expect(try decoder.decode([Book].self, from: archive.bytes[...]) == books)
        let numbers = Array(-3000...3000)
        #expect(try decoder.decode([Int].self, from: .encoding(numbers)) == numbers)
        let object = Dictionary(uniqueKeysWithValues: numbers.map { ("k\($0)", $0) })
        #expect(try decoder.decode([String: Int].self, from: .encoding(object)) == object)
    }

    @Test("that is not a number stays so, in a field and as an element")
    func notANumber() throws {
        let archive = try KeyedArchive.encoding([Double.nan])
        let values = try KeyedArchiveDecoder().decode([Double].self, from: archive)
        #expect(values.count == 1 && values[0].isNaN)
        let single = try KeyedArchiveDecoder().decode([Float].self, from: archive)
        #expect(single.count == 1 && single[0].isNaN)
    }

    @Test("with many fields keeps them all, and is refused with one of them twice")
    func manyFields() throws {
        let names = (0..<200).map { "field\($0)" }
        let value = Handmade { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            for (number, name) in names.enumerated() {
                try container.encode(number, forKey: AnyKey(stringValue: name))
            }
        }
        let archive = try KeyedArchive.encoding(value)
        let fields = try KeyedArchiveDecoder().decode([String: Int].self, from: archive)
        #expect(fields == Dictionary(uniqueKeysWithValues: zip(names, 0...)))

        let twice = Handmade { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            for name in names + ["field100"] {
                try container.encode(1, forKey: AnyKey(stringValue: name))
            }
        }
        #expect(
            summary { _ = try KeyedArchive.encoding(twice) }
                == "field100: The field \"field100\" was written twice; a class and its superclass "
                + "share their names.")
    }

    @Test("distinguishes names that are canonically equivalent, as fields and as keys")
    func equivalentNames() throws {
        let names = ["\u{E9}", "e\u{301}", "K", "\u{212A}"]
        let value = Handmade { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            for (number, name) in names.enumerated() {
                try container.encode(number, forKey: AnyKey(stringValue: name))
            }
        }
        for value in [[value], [value, value]] {
            let archive = try KeyedArchive.encoding(value)
            let reread = try KeyedArchive(json: archive.json())
            #expect(archive.bytes == reread.bytes)
        }
    }

    @Test("that shares the encoder among many threads is the same in all")
    func threads() async throws {
        let books = Book.shelf(50)
        let (encoder, decoder) = (KeyedArchiveEncoder(), KeyedArchiveDecoder())
        let expected = try encoder.encode(books).bytes
        try await withThrowingTaskGroup { group in
            for _ in 0..<16 {
                group.addTask {
                    let archive = try encoder.encode(books)
                    return try archive.bytes == expected
                        && decoder.decode([Book].self, from: archive) == books
                }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }

    @Test("finds the information for its coder")
    func userInfo() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "key"))
        struct Informed: Codable {
            init() {}
            init(from decoder: any Decoder) throws {
                let key = CodingUserInfoKey(rawValue: "key")
                #expect(key.flatMap { decoder.userInfo[$0] } as? Int == 8)
            }
            func encode(to encoder: any Encoder) throws {
                let key = CodingUserInfoKey(rawValue: "key")
                #expect(key.flatMap { encoder.userInfo[$0] } as? Int == 7)
            }
        }
        var encoder = KeyedArchiveEncoder()
        encoder.userInfo[key] = 7
        let archive = try encoder.encode([Informed()])
        var decoder = KeyedArchiveDecoder()
        decoder.userInfo[key] = 8
        _ = try decoder.decode([Informed].self, from: archive)
    }
}
