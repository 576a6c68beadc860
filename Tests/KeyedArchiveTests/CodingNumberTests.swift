import ArchiveTestSupport
import KeyedArchive
import PropertyList
import Testing

@Suite("Scalars that are decoded")
struct CodingNumberTests {
    struct Field<Value: Decodable>: Decodable {
        let value: Value
    }

    /// Decodes an inline field, and the same value as an object behind a reference.
    private func decode<Value: Decodable & Equatable>(_ tree: Tree, _: Value.Type) throws -> Value {
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Field<Value>.self, forClassName: "F")
        let inline = Tree.archive(["$class": .uid(2), "value": tree], Tree.record("F"))
        let behind = Tree.archive(
            ["$class": .uid(2), "value": .uid(3)], Tree.record("F"), tree)
        let value = try decoder.decode(Field<Value>.self, from: behind).value
        #expect(try decoder.decode(Field<Value>.self, from: inline).value == value)
        // A number in an array is no boolean.
        guard Value.self != Bool.self else { return value }
        #expect(try decoder.decode([Value].self, from: Tree.archive([tree], tree)) == [value])
        return value
    }

    @Test("accept an integer if it fits, and a real if it is whole")
    func integers() throws {
        #expect(try decode(127, Int8.self) == 127)
        #expect(try decode(.integer(.max), Int128.self) == .max)
        #expect(try decode(.integer(.max), UInt128.self) == UInt128(Int128.max))
        #expect(try decode(3.0, Int.self) == 3)
        #expect(try decode(.single(-2), Int16.self) == -2)
        for (tree, problem) in [
            (128, "Int8 cannot hold the number exactly."),
            (-129, "Int8 cannot hold the number exactly."),
            (1.5, "Int8 cannot hold the number exactly."),
            (.real(.nan), "Int8 cannot hold the number exactly."),
            (.real(.infinity), "Int8 cannot hold the number exactly."),
            (.real(1e300), "Int8 cannot hold the number exactly."),
            (true, "Expected an integer, found a boolean."),
            ("12", "Expected an integer, found a string."),
            (.date(1), "Expected an integer, found a date."),
            (.data([]), "Expected an integer, found data."),
            (.set([]), "Expected an integer, found a set."),
        ] as [(Tree, String)] {
            let summary = summary { _ = try decode(tree, Int8.self) }
            #expect(summary?.hasSuffix("at value: " + problem) == true)
        }
    }

    @Test("accept an unsigned integer only if it is not negative")
    func unsigned() throws {
        #expect(try decode(.integer(Int128(UInt64.max)), UInt64.self) == .max)
        #expect(summary { _ = try decode(-1, UInt64.self) } != nil)
        #expect(summary { _ = try decode(.integer(Int128(UInt64.max) + 1), UInt64.self) } != nil)
    }

    /// What types for any value do: they try one type after another.
    private enum AnyValue: Codable, Equatable {
        case boolean(Bool), integer(Int), real(Double)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let boolean = try? value.decode(Bool.self) {
                self = .boolean(boolean)
            } else if let integer = try? value.decode(Int.self) {
                self = .integer(integer)
            } else {
                self = .real(try value.decode(Double.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .real(let value): try container.encode(value)
            }
        }
    }

    @Test("0 and 1 alone, in an array or in a type for any value are no booleans")
    func numbersAreNoBooleans() throws {
        func roundTrip<Value: Encodable, Result: Decodable>(
            _ value: Value, as type: Result.Type
        ) throws -> Result {
            try KeyedArchiveDecoder().decode(type, from: KeyedArchiveEncoder().encode(value))
        }
        for number in [0, 1] {
            #expect(throws: DecodingError.self) { try roundTrip(number, as: Bool.self) }
            #expect(try roundTrip(AnyValue.integer(number), as: AnyValue.self) == .integer(number))
        }
        #expect(throws: DecodingError.self) { try roundTrip([0, 1], as: [Bool].self) }
        #expect(throws: DecodingError.self) { try roundTrip([0.0, 1.0], as: [Bool].self) }
        let values = ["a": AnyValue.integer(1), "b": .boolean(true), "c": .integer(0)]
        #expect(try roundTrip(values, as: [String: AnyValue].self) == values)
        let list = [AnyValue.boolean(false), .integer(0), .integer(1), .boolean(true)]
        #expect(try roundTrip(list, as: [AnyValue].self) == list)
    }

    @Test("accept a boolean in a field only if it is one, or 0 or 1")
    func booleans() throws {
        #expect(try decode(true, Bool.self) && decode(1, Bool.self))
        #expect(try !decode(false, Bool.self) && !decode(0, Bool.self))
        for tree in [2, -1, 1.0, 0.0, "true"] as [Tree] {
            #expect(
                summary { _ = try decode(tree, Bool.self) }?.hasPrefix("mismatch at value") == true)
        }
    }

    @Test("accept a real, and an integer that it can represent exactly")
    func reals() throws {
        #expect(try decode(3, Double.self) == 3)
        #expect(try decode(.single(0.1), Double.self) == Double(Float(0.1)))
        #expect(try decode(0.1, Float.self) == 0.1)
        #expect(try decode(16_777_216, Float.self) == 16_777_216)
        #expect(try decode(.real(-.infinity), Float.self) == -.infinity)
        for tree in [16_777_217, 1e300, .integer(.max)] as [Tree] {
            #expect(
                summary { _ = try decode(tree, Float.self) }
                    == "corrupted at value: Float cannot hold the number exactly.")
        }
        #expect(
            summary { _ = try decode(.integer(1 << 53 + 1), Double.self) }
                == "corrupted at value: Double cannot hold the number exactly.")
        #expect(
            summary { _ = try decode(true, Double.self) }
                == "mismatch at value: Expected a number, found a boolean.")
    }

    private func object(_ fields: Tree, _ className: Text, _ chain: Text...) -> [UInt8] {
        Tree.archive(
            [.uid(2)], fields,
            .dictionary([
                ("$classname", .text(className)),
                ("$classes", .array(([className] + chain + ["NSObject"]).map(Tree.text))),
            ]))
    }

    @Test(
        "accept a string in each spelling",
        arguments: [
            Tree.archive("é😀"),
            Tree.archive(["$class": .uid(2), "NS.string": "é😀"], Tree.record("NSString")),
            Tree.archive(
                ["$class": .uid(2), "NS.string": .uid(3)], Tree.record("NSMutableString"), "é😀"),
            Tree.archive(
                ["NS.bytes": .data(Array("é😀".utf8)), "$class": .uid(2)], Tree.record("NSString")),
            Tree.archive(
                ["pytype": 1, "$class": .uid(2), "NS.string": "é😀"],
                Tree.record("OC_BuiltinPythonUnicode", "NSString")),
        ])
    func strings(_ bytes: [UInt8]) throws {
        #expect(try KeyedArchiveDecoder().decode(String.self, from: bytes) == "é😀")
    }

    @Test("of text with an unpaired surrogate are an error in every place")
    func surrogates() throws {
        let text = Tree.text(Text(utf16: [0x61, 0xD800]))
        let decoder = KeyedArchiveDecoder()
        let problem = "The string has an unpaired surrogate, which a Swift string cannot have."
        let list = Tree.archive(
            ["$class": .uid(2), "NS.objects": .array([.uid(3), .uid(4)])], Tree.record("NSArray"),
            "a", text)
        #expect(
            summary { _ = try decoder.decode(String.self, from: Tree.archive(text)) }
                == "corrupted at : " + problem)
        #expect(
            summary { _ = try decoder.decode([String].self, from: list) }
                == "corrupted at Index 1: " + problem)
        let dictionary = Tree.archive(
            ["$class": .uid(2), "NS.keys": .array([.uid(3)]), "NS.objects": .array([.uid(3)])],
            Tree.record("NSDictionary"), text)
        #expect(
            summary { _ = try decoder.decode([String: String].self, from: dictionary) }
                == "corrupted at : " + problem)
        let broken = Tree.archive(
            ["NS.bytes": .data([0xFF]), "$class": .uid(2)], Tree.record("NSString"))
        #expect(
            summary { _ = try decoder.decode(String.self, from: broken) }
                == "mismatch at : Expected a string, found an object of class \"NSString\"."
        )
    }

    @Test("accept bytes inline, behind a reference, as NSData, and number by number")
    func bytes() throws {
        let expected: [UInt8] = [1, 2]
        #expect(try decode(.data(expected), [UInt8].self) == expected)
        #expect(try [UInt8].decoded("[1,2]") == expected)
        for key in ["NS.data", "NS.bytes"] as [Text] {
            for (field, more) in [(Tree.data(expected), []), (.uid(3), [Tree.data(expected)])] {
                let archive: Tree = [
                    "$version": 100_000, "$archiver": "NSKeyedArchiver",
                    "$top": ["root": .uid(1)],
                    "$objects": .array(
                        [
                            "$null", .dictionary([("$class", .uid(2)), (key, field)]),
                            Tree.record("NSMutableData", "NSData"),
                        ] + more),
                ]
                #expect(
                    try KeyedArchiveDecoder().decode([UInt8].self, from: archive.bytes())
                        == expected)
            }
        }
    }

    @Test("that are nil, or NSNull, have a value only as optionals")
    func nils() throws {
        #expect(try [Int?].decoded(#"[null,1,{"$class":"NSNull"}]"#) == [nil, 1, nil])
        #expect(
            summary { _ = try [Int].decoded("[1,null]") }
                == "no value at Index 1: Expected an integer, found nil.")
        #expect(
            summary { _ = try Account.decoded("null") }
                == "no value at : Expected an object with fields, found nil.")
        #expect(try Account?.decoded("null") == nil)
        #expect(
            try Account.decoded(#"{"$class":"Account","username":"a","isAdmin":1,"age":null}"#)
                == Account(username: "a", isAdmin: true))
    }

    @Test("that archives cannot represent are an error when they are encoded")
    func tooLarge() throws {
        #expect(
            summary { _ = try KeyedArchive.encoding(["a": [UInt128.max]]) }
                == "a.Index 0: The integer is too large: archives have integers of up to 128 bits "
                + "with a sign.")
    }
}
