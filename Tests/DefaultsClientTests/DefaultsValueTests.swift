import DefaultsClient
import Foundation
import KeyedArchive
import Testing

/// Values whose kind is known only at run time.
@Suite struct DefaultsValueTests {
    private let defaults = Defaults.inMemory()
    private let extras = DefaultsKey("Extras", default: [:] as [String: DefaultsValue])
    private let anything = DefaultsKey<DefaultsValue?>("Extras")

    /// A key of whatever is stored.
    private let raw = DefaultsKey<KeyedArchive?>(
        "Extras", coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })

    private func storedJSON() throws -> String? {
        try defaults[raw].map { String(decoding: try $0.json(), as: UTF8.self) }
    }

    private static let samples: [(value: DefaultsValue, json: String)] = [
        (true, "true"), (false, "false"), (0, "0"), (1, "1"), (-7, "-7"),
        (.int(.max), "9223372036854775807"), (.int(.min), "-9223372036854775808"),
        (1.0, "1.0"), (0.0, "0.0"), (0.5, "0.5"), (.double(.infinity), #"{"$real":"inf"}"#),
        ("text", #""text""#), ("", #""""#), ("$null", #""$null""#),
        (.data([0, 255]), #"{"$data":"AP8="}"#), (.data([]), #"{"$data":""}"#),
        (.date(secondsSince2001: 725_760_000.25), #"{"$class":"NSDate","NS.time":725760000.25}"#),
        ([], "[]"), ([:], "{}"), ([1, 1.0, true, "a"], #"[1,1.0,true,"a"]"#),
        (
            ["a": ["b": [[], ["c": .data([1])]]], "d": .date(secondsSince2001: 0)],
            #"{"a":{"b":[[],{"c":{"$data":"AQ=="}}]},"d":{"$class":"NSDate","NS.time":0.0}}"#
        ),
    ]

    @Test(arguments: samples.indices)
    func `A value is stored as what it is, and read as the same`(_ number: Int) throws {
        let (value, json) = Self.samples[number]
        let archive = try KeyedArchiveEncoder().encode(value)
        #expect(try String(decoding: archive.json(), as: UTF8.self) == json)
        #expect(try KeyedArchiveDecoder().decode(DefaultsValue.self, from: archive) == value)
        let typed = try KeyedArchiveDecoder().decode(
            DefaultsValue.self, from: KeyedArchive(json: json))
        #expect(typed == value)
        defaults[extras] = ["k": value]
        #expect(try storedJSON() == #"{"k":\#(json)}"#)
        #expect(try defaults.value(of: extras) == ["k": value])
        // Another key of the name reads what is stored, not what the first key has kept.
        #expect(defaults[anything] == ["k": value])
    }

    @Test func `A value in a field is stored as one of its kind`() throws {
        struct Plugin: Codable, Equatable {
            var settings: DefaultsValue
            var others: [DefaultsValue]
        }
        for (value, _) in Self.samples {
            let plugin = Plugin(settings: value, others: [value])
            let archive = try KeyedArchiveEncoder().encode(plugin)
            #expect(try KeyedArchiveDecoder().decode(Plugin.self, from: archive) == plugin)
        }
    }

    @Test func `Values that other types have stored are read`() throws {
        func read(_ value: some Encodable) throws -> DefaultsValue {
            try KeyedArchiveDecoder().decode(
                DefaultsValue.self, from: KeyedArchiveEncoder().encode(value))
        }
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        #expect(try read(date) == .date(secondsSince2001: 1.5))
        #expect(try read(Data([1, 2])) == .data([1, 2]))
        #expect(try read(["a": [1, 2]]) == ["a": [1, 2]])
        #expect(try read(Float(0.5)) == 0.5)
        #expect(try read(UInt64(7)) == 7)
        let written = try KeyedArchiveEncoder().encode(DefaultsValue.date(secondsSince2001: 1.5))
        #expect(try KeyedArchiveDecoder().decode(Date.self, from: written) == date)
    }

    private static let others = [
        #"{"$class":"Player","name":"ada"}"#: #"an object of class "Player""#,
        #"{"$class":"DefaultsValue","name":"ada"}"#: #"an object of class "DefaultsValue""#,
        #"{"$class":"NSSet","NS.objects":[1]}"#: #"an object of class "NSSet""#,
        #"{"$class":"NSURL","NS.base":null,"NS.relative":"x"}"#: #"an object of class "NSURL""#,
        #"{"$class":"NSNull"}"#: "nil", "null": "nil",
    ]

    @Test(arguments: others.keys)
    func `A value that it cannot hold is an error with the path and the kind`(
        _ json: String
    ) throws {
        let words = try #require(Self.others[json])
        let archive = try KeyedArchive(json: #"{"a":[1,\#(json)]}"#)
        let error = #expect(throws: DecodingError.self) {
            try KeyedArchiveDecoder().decode([String: DefaultsValue].self, from: archive)
        }
        guard case .typeMismatch(_, let context) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1"])
        #expect(
            context.debugDescription == "The value is \(words), which a DefaultsValue cannot hold.")
    }

    @Test func `An object at the root is an error, too, and the key's default is read`() throws {
        defaults[raw] = try KeyedArchive(json: #"{"$class":"Player","name":"ada"}"#)
        let key = DefaultsKey("Extras", default: ["a": 1] as DefaultsValue)
        #expect(throws: (any Error).self) { try defaults.value(of: key) }
        #expect(defaults[key] == ["a": 1])
    }

    @Test(arguments: ["9223372036854775808", "18446744073709551615", "-9223372036854775809"])
    func `An integer that is larger than an Int is an error`(_ json: String) throws {
        let archive = try KeyedArchive(json: "[\(json)]")
        let error = #expect(throws: DecodingError.self) {
            try KeyedArchiveDecoder().decode([DefaultsValue].self, from: archive)
        }
        #expect(error.map { "\($0)".contains("Int cannot hold the number exactly") } == true)
    }

    @Test func `The accessors give the value of one kind`() {
        let value: DefaultsValue = [
            "bool": true, "int": 1, "double": 1.5, "string": "s", "array": [1, "b"],
            "data": .data([1]), "date": .date(secondsSince2001: 2),
        ]
        #expect(value["bool"]?.boolValue == true && value["int"]?.boolValue == nil)
        #expect(value["int"]?.intValue == 1 && value["double"]?.intValue == nil)
        #expect(value["double"]?.doubleValue == 1.5 && value["int"]?.doubleValue == 1)
        #expect(value["bool"]?.doubleValue == nil && value["bool"]?.intValue == nil)
        #expect(value["string"]?.stringValue == "s" && value["int"]?.stringValue == nil)
        #expect(value["data"]?.dataValue == [1] && value["array"]?.dataValue == nil)
        #expect(value["date"]?.secondsSince2001 == 2)
        #expect(
            value["array"]?[1] == "b" && value["array"]?[2] == nil && value["array"]?[-1] == nil)
        #expect(value["array"]?["x"] == nil && value["none"] == nil && value["int"]?[0] == nil)
        #expect(value["array"]?.arrayValue == [1, "b"] && value.dictionaryValue?.count == 7)
        #expect(["a": 1, "a": 2] as DefaultsValue == ["a": 2])
    }

    @Test func `Another coder keeps the values that its format has`() throws {
        let value: DefaultsValue = ["a": [1, 1.5, true, "x", [:]], "b": []]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(DefaultsValue.self, from: data) == value)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DefaultsValue.self, from: Data("[null]".utf8))
        }
    }
}
