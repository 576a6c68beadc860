import ArchiveTestSupport
import Foundation
import KeyedArchive
import Testing

@Suite("An encoder")
struct CodingRecoveryTests {
    private struct Refusal: Error {}

    private final class Note: Codable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// Encodes a note and then refuses, and encodes something else where it could not.
    private struct Wavering: Encodable {
        let note: Note

        struct Refusing: Encodable {
            let note: Note

            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(note)
                throw Refusal()
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            do {
                try container.encode(Refusing(note: note))
            } catch is Refusal {
                try container.encode("fallback")
            }
        }
    }

    private struct Pair: Encodable {
        let first: Wavering
        let second: Note
    }

    @Test("forgets the instances of a value that could not be encoded")
    func retry() throws {
        let note = Note("kept")
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName("Pair", for: Pair.self)
        encoder.setClassName("Note", for: Note.self)
        let archive = try encoder.encode(Pair(first: Wavering(note: note), second: note))
        #expect(
            try archive.text()
                == #"{"$class":"Pair","first":"fallback","second":{"$class":"Note","text":"kept"}}"#
        )
    }

    private struct Named: Codable, Equatable {
        let names: [String]
        let values: [Int]

        private struct Key: CodingKey {
            let stringValue: String
            let intValue: Int? = nil
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(_ fields: KeyValuePairs<String, Int>) {
            names = fields.map(\.key)
            values = fields.map(\.value)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            names = container.allKeys.map(\.stringValue).sorted()
            values = try names.map { try container.decode(Int.self, forKey: Key(stringValue: $0)) }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in zip(names, values) {
                try container.encode(value, forKey: Key(stringValue: name))
            }
        }
    }

    @Test("distinguishes names that begin with dollar signs, whatever objects came before")
    func dollarNames() throws {
        let values = [Named(["$x": 1]), Named(["$$x": 2]), Named(["$x": 3, "x": 4])]
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName("Named", for: Named.self)
        let archive = try encoder.encode(values)
        #expect(
            try archive.text()
                == #"[{"$$x":1,"$class":"Named"},{"$$$x":2,"$class":"Named"},"#
                + #"{"$$x":3,"$class":"Named","x":4}]"#)
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Named.self, forClassName: "Named")
        #expect(try decoder.decode([Named].self, from: archive) == values)
    }

    @Test("gives Foundation's types no module, even if others have one")
    func foundationNames() throws {
        struct Bill: Encodable {
            let sum: Decimal
        }
        var encoder = KeyedArchiveEncoder()
        encoder.usesModuleNames = true
        let text = try encoder.encode(Bill(sum: 1)).text()
        #expect(text.contains(#""$class":"Decimal""#), "\(text)")
        #expect(text.contains("KeyedArchiveTests."), "\(text)")
    }

    private final class Person: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }
        let name: String?
        let nickname: String?

        init?(coder: NSCoder) {
            name = coder.decodeObject(of: NSString.self, forKey: "name") as String?
            nickname = coder.decodeObject(of: NSString.self, forKey: "nickname") as String?
        }

        func encode(with coder: NSCoder) {}
    }

    @Test("writes a nil field, which Foundation decodes")
    func nilFields() throws {
        struct Human: Encodable {
            let name: String?
            let nickname: String?
        }
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName("Human", for: Human.self)
        let archive = try encoder.encode(Human(name: "ada", nickname: nil))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(archive.bytes))
        unarchiver.setClass(Person.self, forClassName: "Human")
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let person = unarchiver.decodeObject(of: Person.self, forKey: "root")
        #expect(unarchiver.error == nil)
        #expect(person?.name == "ada" && person?.nickname == nil)
    }

    @Test("writes nil in collections as the NSNull that Foundation reads there")
    func nilElements() throws {
        let list = try KeyedArchive.encoding([1, nil, 2, nil])
        let array = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, NSNumber.self, NSNull.self], from: Data(list.bytes))
        #expect(array as? NSArray == [1, NSNull(), 2, NSNull()])
        let table = try KeyedArchive.encoding(["a": 1, "b": nil])
        let dictionary = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSString.self, NSNumber.self, NSNull.self],
            from: Data(table.bytes))
        #expect((dictionary as? NSDictionary)?.object(forKey: "b") is NSNull)
        #expect(try KeyedArchiveDecoder().decode([Int?].self, from: list) == [1, nil, 2, nil])
        #expect(
            try KeyedArchiveDecoder().decode([String: Int?].self, from: table)
                == ["a": 1, "b": nil])
    }
}
