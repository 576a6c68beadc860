import DBus
import DefaultsProtocol
import KeyedArchive
import TestSupport
import Testing

@Suite struct ExactTypeTests {
    @Test(arguments: [
        "b", "y", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "v", "ay", "as", "ai", "(ii)",
        "()",
        "a{sv}", "a{us}", "{sv}", "mi", "mms", "a(ssssbddbssuuddus)", "m(yyda(yyyyyyyy)ua(yyyyu))",
        "aa{sv}", "((ii)a{s(dd)})",
    ])
    func `A type reads back as it was written`(text: String) throws {
        #expect(try #require(ExactType(text)).description == text)
    }

    @Test(arguments: [
        "", "h", "ah", "ii", "(", "(i", ")", "a", "m", "{s}", "{svv}", "a{vs}", "a{(s)s}", "{asv}",
        "r",
        "?", "*", "a?", "i ", "é", String(repeating: "a", count: 40) + "i",
        String(repeating: "i", count: 300), "(" + String(repeating: "i", count: 300) + ")",
    ])
    func `Other texts are no types`(text: String) {
        #expect(ExactType(text) == nil)
    }
}

@Suite struct ExactValueTests {
    /// The JSON of the archive that a D-Bus value becomes.
    private func json(_ value: Value, _ plain: PlainInteger = .int64) throws -> String {
        let archive = try #require(ExactValue(value)).archive(plainInteger: plain)
        return String(decoding: try archive.json(), as: UTF8.self)
    }

    @Test func `Only types that archives do not have need a marker`() throws {
        #expect(try json(.boolean(true)) == "true")
        #expect(try json(.int64(5)) == "5")
        #expect(try json(.double(5)) == "5.0")
        #expect(try json(.string("a")) == #""a""#)
        #expect(try json(.bytes([0])) == #"{"$data":"AA=="}"#)
        #expect(try json(.array(of: "v", [.variant(.string("a"))])) == #"["a"]"#)
        #expect(
            try json(.dictionary(key: "s", value: "v", [.init(.string("k"), .variant(.int64(1)))]))
                == #"{"k":1}"#)
        #expect(try json(.uint32(5)) == #"{"$class":"GVariant","type":"u","value":5}"#)
        #expect(
            try json(.array(of: "s", [.string("a")]))
                == #"{"$class":"GVariant","type":"as","value":["a"]}"#)
        #expect(
            try json(.array(of: "v", [.variant(.byte(1))]))
                == #"[{"$class":"GVariant","type":"y","value":1}]"#)
        #expect(
            try json(.uint64(.max))
                == #"{"$class":"GVariant","type":"t","value":18446744073709551615}"#)
    }

    @Test func `Another rule for integers moves the marker`() throws {
        #expect(try json(.int32(5), .int32) == "5")
        #expect(try json(.int64(5), .int32) == #"{"$class":"GVariant","type":"x","value":5}"#)
        #expect(try json(.int64(1 << 40), .int32) == "1099511627776")
        #expect(try ExactValue(KeyedArchive(json: "5"), plainInteger: .int32)?.type == .int32)
        #expect(
            try ExactValue(KeyedArchive(json: "1099511627776"), plainInteger: .int32)?.type
                == .int64)
    }

    @Test func `Keys that an archive's dictionary cannot have become pairs`() throws {
        let dollar = Value.dictionary(
            key: "s", value: "v", [.init(.string("$k"), .variant(.int64(1)))])
        #expect(
            try json(dollar) == #"{"$class":"NSDictionary","NS.keys":["$k"],"NS.objects":[1]}"#)
        let numbers = Value.dictionary(key: "u", value: "s", [.init(.uint32(7), .string("a"))])
        #expect(
            try json(numbers)
                == #"{"$class":"GVariant","type":"a{us}","value":{"$class":"NSDictionary","NS.keys":[7],"#
                + #""NS.objects":["a"]}}"#)
        for value in [dollar, numbers] {
            let archive = try #require(ExactValue(value)).archive()
            #expect(try ExactValue(archive)?.dbusValue == value)
        }
    }

    @Test(arguments: [
        ("5", "u", "5"), ("5", "d", "5.0"), ("true", "b", "true"), (#"["a"]"#, "as", #"["a"]"#),
        (#"[1,"a"]"#, "(us)", #"[1,"a"]"#), (#"{"a":1}"#, "a{si}", #"{"a":1}"#),
        ("null", "mi", "null"), ("3", "mi", "3"), ("[]", "mms", "[]"), ("[null]", "mms", "[null]"),
        (#"["a"]"#, "mms", #"["a"]"#), ("[1,2]", "ay", #"{"$data":"AQI="}"#),
        (#"{"$class":"GVariant","type":"u","value":5}"#, "i", "5"),
        (
            #"{"$class":"GVariant","type":"u","value":5}"#, "v",
            #"{"$class":"GVariant","type":"u","value":5}"#
        ),
        ("5", "v", "5"),
    ])
    func `A value that fits a type is taken`(json: String, type: String, form: String) throws {
        let known = try #require(ExactType(type))
        let given = try VariantForm.value(of: KeyedArchive(json: json))
        let value = try #require(ExactValue(given, as: known))
        #expect(value.type == known)
        let archive = try VariantForm.archive(of: value.form())
        #expect(String(decoding: try archive.json(), as: UTF8.self) == form)
    }

    @Test(arguments: [
        ("256", "y"), ("-1", "u"), ("true", "i"), ("1", "b"), ("1.0", "i"), ("1", "s"),
        (#""a""#, "o"),
        (#""(""#, "g"), ("[1]", "(ii)"), ("[1,2,3]", "(ii)"), (#"["a",1]"#, "as"), ("{}", "as"),
        (#"{"$class":"Account"}"#, "a{sv}"), (#"{"$class":"Account"}"#, "v"), ("[1,2]", "mms"),
        (#"{"$class":"GVariant","type":"h","value":5}"#, "v"), ("[256]", "ay"),
        (#"{"$class":"GVariant","type":"s","value":5}"#, "v"), (#"{"a":"b"}"#, "a{si}"),
    ])
    func `A value that does not fit is refused`(json: String, type: String) throws {
        let given = try VariantForm.value(of: KeyedArchive(json: json))
        #expect(ExactValue(given, as: try #require(ExactType(type))) == nil)
    }

    @Test func `Values of every type of D-Bus come back from archives exactly`() throws {
        var random = RandomValues(generator: SeededGenerator())
        for _ in 0..<2000 {
            let value = random.value(depth: 4)
            let exact = try #require(ExactValue(value))
            #expect(exact.dbusValue == value)
            for plain in [PlainInteger.int64, .int32] {
                let archive = try exact.archive(plainInteger: plain)
                let read = try ExactValue(archive, plainInteger: plain)?.dbusValue
                try #require(read == value, "\(value)")
            }
        }
    }

    /// Random values of D-Bus.
    private struct RandomValues {
        var generator: SeededGenerator

        mutating func type(depth: Int) -> String {
            let basic = ["b", "y", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g"]
            guard depth > 0 else { return basic.randomElement(using: &generator) ?? "b" }
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: return "a" + type(depth: depth - 1)
            case 1: return "(" + type(depth: depth - 1) + type(depth: depth - 1) + ")"
            case 2: return "a{" + type(depth: 0) + type(depth: depth - 1) + "}"
            case 3, 4: return "v"
            default: return type(depth: 0)
            }
        }

        mutating func value(depth: Int) -> Value { value(of: type(depth: depth), depth: depth) }

        mutating func value(of type: String, depth: Int) -> Value {
            let edge = Int.random(in: 0..<3, using: &generator)
            switch type.first {
            case "b": return .boolean(edge == 0)
            case "y": return .byte(.random(in: 0...255, using: &generator))
            case "n": return .int16([.min, .max, 3][edge])
            case "q": return .uint16([0, .max, 3][edge])
            case "i": return .int32([.min, .max, 3][edge])
            case "u": return .uint32([0, .max, 3][edge])
            case "x": return .int64([.min, .max, 3][edge])
            case "t": return .uint64([0, .max, 3][edge])
            case "d": return .double([0.5, -.infinity, 1e300][edge])
            case "o": return .objectPath(["/", "/a/b", "/c"][edge])
            case "g": return .signature(["", "a{sv}", "i"][edge])
            case "v": return .variant(value(depth: depth - 1))
            case "(": return structure(type, depth: depth)
            case "a": return array(type, depth: depth)
            default: return .string(["", "ä$", "$k"][edge])
            }
        }

        mutating func structure(_ type: String, depth: Int) -> Value {
            let both = String(type.dropFirst().dropLast())
            let cut = (1..<both.count).first { ExactType(String(both.prefix($0))) != nil } ?? 1
            return .structure([
                value(of: String(both.prefix(cut)), depth: depth - 1),
                value(of: String(both.dropFirst(cut)), depth: depth - 1),
            ])
        }

        mutating func array(_ type: String, depth: Int) -> Value {
            let element = String(type.dropFirst())
            let count = Int.random(in: 0..<4, using: &generator)
            if element == "y" { return .bytes((0..<count).map(UInt8.init)) }
            guard element.hasPrefix("{") else {
                let values = (0..<count).map { _ in value(of: element, depth: depth - 1) }
                return .array(of: Signature(stringLiteral: element), values)
            }
            let (key, content) = (
                String(element.dropFirst().prefix(1)), String(element.dropFirst(2).dropLast())
            )
            var entries: [Value.Entry] = []
            for _ in 0..<count {
                let name = value(of: key, depth: 0)
                if entries.contains(where: { $0.key == name }) { continue }
                entries.append(.init(name, value(of: content, depth: depth - 1)))
            }
            // An archive's dictionary has its keys in their order.
            if ["s", "o", "g"].contains(key) { entries = Array(entries.prefix(1)) }
            return .dictionary(
                key: Signature(stringLiteral: key), value: Signature(stringLiteral: content),
                entries)
        }
    }
}
