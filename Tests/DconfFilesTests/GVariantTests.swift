import DconfFiles
import DefaultsProtocol
import TestSupport
import TestTiers
import Testing

@Suite(.startsPrograms) struct GVariantTests {
    private func value(_ bytes: [UInt8], _ type: String) throws -> ExactValue {
        try ExactValue(gvariant: bytes[...], as: try #require(ExactType(type)))
    }

    /// Reads bytes that GLib wrote.
    ///
    /// The oracle says what they mean, and if changed bytes still mean
    /// something.
    @Test func `Values of GLib are read as GLib reads them, and written as GLib writes them`()
        throws
    {
        var random = SeededGenerator()
        let seed = UInt32.random(in: .min ... .max, using: &random)
        let values = try GLibValue.random(count: 500, seed: seed).filter(\.isNormal)
        var count = 0
        for given in values {
            guard let value = try given.value() else { continue }
            try #require(value.notation == given.notation, "\(given.type), seed \(seed)")
            try #require(try value.gvariant() == given.bytes, "\(given.type), seed \(seed)")
            count += 1
        }
        #expect(count >= 500 && values.count - count < 50)
    }

    @Test func `Bytes that are not normal for GLib are an error`() throws {
        var random = SeededGenerator()
        let seed = UInt32.random(in: .min ... .max, using: &random)
        let values = try GLibValue.random(count: 500, seed: seed).filter { !$0.isNormal }
        #expect(values.count >= 500)
        for given in values {
            try #require(throws: GVariantError.self, "\(given.type) \(given.bytes), seed \(seed)") {
                try ExactValue(gvariant: given.bytes[...], as: given.type)
            }
        }
    }

    @Test func `Random bytes are a value, which is written in the same bytes, or an error`() throws
    {
        var random = SeededGenerator()
        let types = [
            "b", "s", "o", "g", "v", "as", "av", "a{sv}", "(si)", "mms", "a(ybi)", "aay", "a()",
            "((yx)as)", "am(sas)", "{sv}", "a{s(iv)}",
        ]
        for _ in 0..<5000 {
            let count = Int.random(in: 0..<24, using: &random)
            let bytes = (0..<count).map { _ in
                [0, 0, 1, 2, 0x73, 0x76, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            for type in types {
                guard let value = try? value(bytes, type) else { continue }
                try #require(try value.gvariant() == bytes, "\(type) \(bytes)")
            }
        }
    }

    @Test func `A slice is read from its own beginning`() throws {
        let bytes = try ExactValue(.variant, .variant(ExactValue(.int64, .integer(-7)))).gvariant()
        let file: [UInt8] = [1, 2, 3] + bytes + [4]
        let read = try ExactValue(gvariant: file[3..<(file.count - 1)], as: .variant)
        #expect(read.notation == "<x-7>")
    }

    @Test(
        arguments: [
            ("b", [2], "The boolean at byte 0 is neither 0 nor 1."),
            ("i", [1, 2], "The value of type 'i' at byte 0 has a wrong size."),
            ("s", [], "The text at byte 0 is not a valid value of type 's'."),
            ("s", [0x61], "The text at byte 0 is not a valid value of type 's'."),
            ("o", [0x61, 0], "The text at byte 0 is not a valid value of type 'o'."),
            ("as", [0x61, 0, 9], "The value of type 'as' at byte 0 has wrong offsets."),
            ("(yi)", [1, 1, 0, 0, 5, 0, 0, 0], "The padding at byte 1 is not zero."),
            ("v", [1, 0], "The variant at byte 0 has no valid type."),
            ("v", [0, 0, 0, 0, 0, 0x68], "The variant at byte 0 has no valid type."),
        ] as [(String, [UInt8], String)])
    func `An error says what is wrong`(type: String, bytes: [UInt8], message: String) throws {
        let error = #expect(throws: GVariantError.self) { try value(bytes, type) }
        #expect(error?.description == message)
    }
}

@Suite(.startsPrograms) struct GVariantLimitTests {
    private func nested(_ count: Int) -> ExactValue {
        (0..<count).reduce(ExactValue(.byte, .integer(7))) { value, _ in
            ExactValue(.variant, .variant(value))
        }
    }

    @Test func `64 variants can be inside each other`() throws {
        let bytes = try nested(64).gvariant()
        #expect(try ExactValue(gvariant: bytes[...], as: .variant) == nested(64))
        #expect(throws: GVariantError.depth) { try nested(65).gvariant() }
        let deeper = bytes + [0, 0x76]
        #expect(throws: GVariantError.depth) { try ExactValue(gvariant: deeper[...], as: .variant) }
    }

    @Test func `Many variants in many arrays are an error`() throws {
        // Each variant is in an array, in a tuple, in a variant, and so on.
        var value = ExactValue(.byte, .integer(7))
        var bytes: [UInt8] = [7]
        var type = "y"
        for _ in 0..<60 {
            value = ExactValue(.variant, .variant(value))
            value = ExactValue(
                .tuple([.tuple([.variant])]),
                .elements([ExactValue(.tuple([.variant]), .elements([value]))]))
            bytes += [0] + Array(type.utf8)
            type = "((v))"
        }
        #expect(throws: GVariantError.depth) { try value.gvariant() }
        #expect(throws: GVariantError.depth) {
            try ExactValue(gvariant: bytes[...], as: try #require(ExactType(type)))
        }
    }

    @Test func `More values than the contract allows are an error`() throws {
        let type = try #require(ExactType("a()"))
        let most = Array(repeating: UInt8(0), count: (1 << 18) - 1)
        #expect(try ExactValue(gvariant: most[...], as: type).gvariant() == most)
        #expect(throws: GVariantError.count) {
            try ExactValue(gvariant: (most + [0])[...], as: type)
        }
    }

    @Test func `A value that does not fit its type is not written`() {
        for value in [
            ExactValue(.byte, .integer(256)), ExactValue(.uint32, .integer(-1)),
            ExactValue(.boolean, .integer(1)), ExactValue(.string, .string("a\0b")),
            ExactValue(.objectPath, .string("a")), ExactValue(.signature, .string("(")),
            ExactValue(.tuple([.byte]), .elements([])), ExactValue(.string, .boolean(true)),
            ExactValue(.array(.string), .bytes([1])),
            ExactValue(.array(.byte), .elements([])), ExactValue(.variant, .elements([])),
        ] {
            #expect(throws: GVariantError.mismatch(value.type)) { try value.gvariant() }
        }
    }
}
