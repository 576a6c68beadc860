import DBus
import DefaultsProtocol
import DefaultsXfconf
import KeyedArchive
import Testing

/// Values of properties in archives, with their exact types.
struct ValueTests {
    /// A marker in the value form.
    private static func marker(_ type: String, _ value: Value) -> Value {
        .dictionary(
            key: "s", value: "v",
            [("$class", .string("GVariant")), ("type", .string(type)), ("value", value)].map {
                Value.Entry(.string($0.0), .variant($0.1))
            })
    }

    private static func list(_ values: Value...) -> Value {
        .array(of: "v", values.map(Value.variant))
    }

    /// A value of each type, and what an archive has for it.
    static let values: [(value: Value, form: Value)] = [
        (.boolean(true), .boolean(true)), (.double(1.5), .double(1.5)),
        (.string("é"), .string("é")), (.string(""), .string("")),
        (.int32(5), .int64(5)), (.int32(.min), .int64(Int64(Int32.min))),
        (.int64(5), marker("x", .int64(5))), (.int64(1 << 40), .int64(1 << 40)),
        (.uint32(5), marker("u", .int64(5))), (.uint64(5), marker("t", .int64(5))),
        (.uint64(.max), marker("t", .uint64(.max))), (.byte(5), marker("y", .int64(5))),
        (.int16(-5), marker("n", .int64(-5))), (.uint16(5), marker("q", .int64(5))),
        (list(), list()), (list(.int32(1), .string("x")), list(.int64(1), .string("x"))),
        (list(.uint32(1), .boolean(false)), list(marker("u", .int64(1)), .boolean(false))),
        (
            .array(of: "s", [.string("a"), .string("b")]),
            marker("as", list(.string("a"), .string("b")))
        ),
        (.array(of: "s", []), marker("as", list())),
    ]

    @Test(arguments: values)
    func `A value comes back with its type`(value: Value, form: Value) throws {
        let property = try #require(PropertyValue(value))
        let archive = try property.archive()
        #expect(PropertyValue(archive)?.value == value)
        let stored = try VariantForm.value(of: archive)
        if case .dictionary(_, _, let entries) = stored,
            case .dictionary(_, _, let expected) = form
        {
            #expect(entries.count == expected.count)
            #expect(entries.allSatisfy(expected.contains))
        } else if stored != form {
            // The fields of a marker in an array may come in any order.
            #expect(PropertyValue(try VariantForm.archive(of: form))?.value == value)
        }
    }

    @Test(arguments: [
        Value.bytes([1]), .objectPath("/a"), .signature("s"), .structure([.int32(1)]),
        .variant(.int32(1)), .array(of: "i", [.int32(1)]), .array(of: "b", []),
        .dictionary(key: "s", value: "v", []), list(list()), list(.bytes([1])),
        list(.variant(.int32(1))), list(.objectPath("/a")),
    ])
    func `Another type is not one of a property`(value: Value) {
        #expect(PropertyValue(value) == nil)
    }

    /// What other programs may have stored under the key of a property.
    @Test(arguments: [
        #"{"a":1}"#, #"{"$data":"AAAA"}"#, #"{"$class":"Account","username":"ada"}"#, "null",
        "[[1]]", #"[1,{"a":1}]"#, #"{"$class":"GVariant","type":"o","value":"/a"}"#,
        #"{"$class":"GVariant","type":"y","value":256}"#,
        #"{"$class":"GVariant","type":"as","value":[1]}"#,
        #"{"$class":"GVariant","type":"wrong","value":1}"#, "18446744073709551616",
    ])
    func `A stored value of another type is none`(json: String) throws {
        #expect(PropertyValue(try KeyedArchive(json: json)) == nil)
    }

    @Test(arguments: [
        ("5", Value.int32(5)), ("2147483648", .int64(1 << 31)), ("true", .boolean(true)),
        ("18446744073709551615", .uint64(.max)), ("[1,\"a\"]", list(.int32(1), .string("a"))),
        (#"{"$class":"GVariant","type":"i","value":7}"#, .int32(7)),
        (#"{"$class":"GVariant","type":"d","value":7}"#, .double(7)),
    ])
    func `What other programs store plainly has the usual type`(json: String, value: Value) throws {
        #expect(PropertyValue(try KeyedArchive(json: json))?.value == value)
    }
}
