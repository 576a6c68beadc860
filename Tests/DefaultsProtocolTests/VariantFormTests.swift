import DBus
import DefaultsProtocol
import KeyedArchive
import TestTiers
import Testing

/// The value form in D-Bus variants, against its JSON, which has tests of its own.
@Suite(.startsPrograms, .serialized) struct VariantFormTests {
    let mirror: ArchiveMirror

    init() async throws { mirror = try await ArchiveMirror() }

    private static func dictionary(_ entries: (String, Value)...) -> Value {
        .dictionary(
            key: "s", value: "v",
            entries.map { Value.Entry(.string($0.0), .variant($0.1)) })
    }

    static let pairs: [(String, Value)] = [
        ("true", .boolean(true)), ("-5", .int64(-5)),
        ("18446744073709551615", .uint64(.max)), ("9223372036854775807", .int64(.max)),
        ("1.5", .double(1.5)), (#"{"$real":"inf"}"#, .double(.infinity)),
        (#""text""#, .string("text")), (#"{"$data":"AAE="}"#, .bytes([0, 1])),
        (#"{"$data":""}"#, .bytes([])),
        ("[]", .array(of: "v", [])),
        (
            "[1,[true]]",
            .array(
                of: "v",
                [
                    .variant(.int64(1)), .variant(.array(of: "v", [.variant(.boolean(true))])),
                ])
        ),
        (#"{"a":1}"#, dictionary(("a", .int64(1)))),
        ("null", dictionary(("$class", .string("$null")))),
        (
            #"{"$class":"NSDate","NS.time":1.0}"#,
            dictionary(("$class", .string("NSDate")), ("NS.time", .double(1)))
        ),
        (
            #"{"$class":"Account","username":"ada"}"#,
            dictionary(("$class", .string("Account")), ("username", .string("ada")))
        ),
        (
            #"{"$class":"A","n":{"$class":"NSNumber","$value":42}}"#,
            dictionary(
                ("$class", .string("A")),
                ("n", dictionary(("$class", .string("NSNumber")), ("$value", .int64(42)))))
        ),
        (
            #"{"$class":"A","b":{"$bytes":"AAE="}}"#,
            dictionary(("$class", .string("A")), ("b", dictionary(("$bytes", .bytes([0, 1])))))
        ),
        (
            #"{"$top":{"Data":"x"}}"#,
            dictionary(("$top", dictionary(("Data", .string("x")))))
        ),
    ]

    @Test(arguments: pairs)
    func `An archive and its D-Bus value represent each other`(json: String, value: Value)
        async throws
    {
        let archive = try KeyedArchive(json: json)
        #expect(try VariantForm.value(of: archive) == value)
        #expect(try await mirror.archive(of: value) == archive.bytes)
    }

    @Test(arguments: [
        (Value.byte(7), "7"), (.int16(-7), "-7"), (.uint16(7), "7"), (.int32(-7), "-7"),
        (.uint32(7), "7"), (.objectPath("/a"), #""/a""#), (.signature("as"), #""as""#),
        (.structure([.boolean(true), .string("x")]), #"[true,"x"]"#),
        (.variant(.variant(.boolean(true))), "true"),
        (.array(of: "s", [.string("x")]), #"["x"]"#),
        (
            .dictionary(key: "s", value: "i", [Value.Entry(.string("a"), .int32(1))]),
            #"{"a":1}"#
        ),
        (
            .dictionary(key: "o", value: "i", [Value.Entry(.objectPath("/a"), .int32(1))]),
            #"{"/a":1}"#
        ),
    ])
    func `Every other D-Bus type is accepted as the one that represents it`(
        value: Value, json: String
    ) async throws {
        #expect(try await mirror.archive(of: value) == KeyedArchive(json: json).bytes)
    }

    @Test func `A property list date is shown as NSDate`() throws {
        let value = try VariantForm.value(of: KeyedArchive(json: #"{"$date":1.0}"#))
        #expect(value == Self.dictionary(("$class", .string("NSDate")), ("NS.time", .double(1))))
    }

    @Test(arguments: [
        ("18446744073709551616", "64 bits"), (#""a\u0000b""#, "NUL"),
        (#""\ud800""#, "surrogate"), (#"{"a\u0000":1}"#, "NUL"),
        (String(repeating: "[", count: 32) + String(repeating: "]", count: 32), "nested"),
    ])
    func `A value that D-Bus cannot carry is NotRepresentable`(json: String, fact: String) throws {
        let archive = try KeyedArchive(json: json)
        let error = try #require(throws: ContractError.self) {
            try VariantForm.value(of: archive)
        }
        #expect(error.code == .notRepresentable)
        #expect(error.message.contains(fact))
    }

    @Test func `Thirty-one nested arrays are carried`() async throws {
        let json = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        let value = try VariantForm.value(of: KeyedArchive(json: json))
        #expect(try await mirror.archive(of: value) == KeyedArchive(json: json).bytes)
    }

    @Test func `A value too large for a reply is TooLarge`() throws {
        // Each level holds the one below twice, so that a small archive is a large value.
        let archive = try SharedPairs.archive(levels: 24)
        let error = try #require(throws: ContractError.self) {
            try VariantForm.value(of: archive)
        }
        #expect(error.code == .tooLarge)
    }

    @Test(arguments: [
        Value.dictionary(key: "i", value: "i", [Value.Entry(.int32(1), .int32(1))]),
        dictionary(("$class", .string("A")), ("$unknown", .int64(1))),
        dictionary(("$ref", .int64(1))),
        .dictionary(
            key: "s", value: "i",
            [Value.Entry(.string("a"), .int32(1)), Value.Entry(.string("a"), .int32(2))]),
    ])
    func `A value that represents no archive is InvalidArgs`(value: Value) async throws {
        let error = try await #require(throws: DBusError.self) {
            _ = try await mirror.archive(of: value)
        }
        #expect(error.name == "org.freedesktop.DBus.Error.InvalidArgs")
    }
}
