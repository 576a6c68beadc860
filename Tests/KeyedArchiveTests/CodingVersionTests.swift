import ArchiveTestSupport
import KeyedArchive
import PropertyList
import Testing

@Suite("Versions of a type")
struct CodingVersionTests {
    struct NameV1: Codable, Equatable {
        var full: String
    }

    struct NameV2: Codable, Equatable, ArchiveVersioned {
        static var archiveVersion: Int { 2 }
        var first: String
        var last: String
    }

    struct Name: Codable, Equatable, ArchiveVersioned {
        static var archiveVersion: Int { 3 }
        var first: String
        var last: String?
        var initials: String
    }

    private static let className = "CodingVersionTests.Name"

    private var decoder: KeyedArchiveDecoder {
        var decoder = KeyedArchiveDecoder()
        decoder.migrate(from: 2, as: NameV2.self, to: Name.self) { old in
            Name(
                first: old.first, last: old.last,
                initials: "\(old.first.prefix(1))\(old.last.prefix(1))")
        }
        decoder.migrate(from: 1, as: NameV1.self, to: NameV2.self) { old in
            let parts = old.full.split(separator: " ").map(String.init)
            return NameV2(first: parts[0], last: parts[1])
        }
        return decoder
    }

    private func decode(_ json: String) throws -> Name {
        try decoder.decode([Name].self, from: KeyedArchive(json: "[\(json)]"))[0]
    }

    static let ada = Name(first: "Ada", last: "Lovelace", initials: "AL")

    @Test("are written as a field, and read back")
    func written() throws {
        let archive = try KeyedArchive.encoding(Self.ada)
        let json =
            #"{"$class":"CodingVersionTests.Name","archiveVersion":3,"first":"Ada","#
            + #""initials":"AL","last":"Lovelace"}"#
        #expect(try archive.text() == json)
        #expect(try archive.bytes == KeyedArchive(json: json).bytes)
        #expect(try decoder.decode(Name.self, from: archive) == Self.ada)
    }

    @Test(
        "are converted to the current one, step by step",
        arguments: [
            #"{"$class":"CodingVersionTests.Name","archiveVersion":2,"first":"Ada","last":"Lovelace"}"#,
            #"{"$class":"CodingVersionTests.Name","archiveVersion":1,"full":"Ada Lovelace"}"#,
            #"{"archiveVersion":1,"full":"Ada Lovelace"}"#,
        ])
    func steps(_ json: String) throws {
        #expect(try decode(json) == Self.ada)
    }

    @Test("without a step are decoded as they are")
    func none() throws {
        let json = #"{"$class":"CodingVersionTests.Name","first":"Ada","initials":"A"}"#
        #expect(try decode(json) == Name(first: "Ada", initials: "A"))
        #expect(
            summary { _ = try decode(json.replacing("first", with: "full")) }
                == #"no key at Index 0: The object has no field "first"."#)
    }

    @Test("that are newer than the type are an error, and so are those that are not numbers")
    func newer() throws {
        let json = #"{"$class":"CodingVersionTests.Name","archiveVersion":4,"first":"Ada"}"#
        #expect(
            summary { _ = try decode(json) }
                == "corrupted at Index 0: The object has version 4 of Name; only versions up to 3 "
                + "are known here.")
        #expect(
            summary { _ = try decode(json.replacing("4", with: "\"4\"")) }
                == "mismatch at Index 0.archiveVersion: Expected an integer, found a string."
        )
    }

    @Test("have errors with the whole path, and those of a step pass through")
    func errors() throws {
        let json = #"{"$class":"CodingVersionTests.Name","archiveVersion":1,"full":1}"#
        #expect(
            summary { _ = try decode(json) }
                == "mismatch at Index 0.full: Expected a string, found an integer.")
        struct Failure: Error {}
        var decoder = KeyedArchiveDecoder()
        decoder.migrate(from: 1, as: NameV1.self, to: Name.self) { _ in throw Failure() }
        #expect(throws: Failure.self) {
            try decoder.decode(
                Name.self,
                from: KeyedArchive(json: json.replacing("\"full\":1", with: #""full":"x""#)))
        }
    }

    struct Elements: Codable, Equatable, ArchiveVersioned {
        static var archiveVersion: Int { 1 }
        var x: Int

        init(x: Int) { self.x = x }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            x = try container.decode(Int.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(x)
        }
    }

    struct Wrapped<Value: Codable & Equatable>: Codable, Equatable, ArchiveVersioned {
        static var archiveVersion: Int { 1 }
        var value: Value

        init(_ value: Value) { self.value = value }
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    @Test("are not read for a type that encodes itself as an array or as a single value")
    func withoutFields() throws {
        struct Refusal: Error {}
        func check<Value: Codable & Equatable & ArchiveVersioned & SendableMetatype>(_ value: Value)
            throws
        {
            let archive = try KeyedArchive.encoding([value])
            var decoder = KeyedArchiveDecoder()
            decoder.migrate(from: 0, as: NameV1.self, to: Value.self) { _ in throw Refusal() }
            #expect(try decoder.decode([Value].self, from: archive) == [value])
        }
        try check(Elements(x: 3))
        try check(Wrapped(Account(username: "ada")))
        try check(Wrapped(["a", "b"]))
        try check(Wrapped("a"))
        try check(Wrapped(Self.ada))
        #expect(
            summary { _ = try Name.decoded(#"{"$class":"Account","archiveVersion":1}"#) }?
                .contains("not known to be \"CodingVersionTests.Name\"") == true)
    }

    final class Document: Codable, ArchiveVersioned {
        class var archiveVersion: Int { 1 }
        var title: String

        init(title: String) { self.title = title }
    }

    @Test("of classes give one instance for one object")
    func classes() throws {
        var decoder = KeyedArchiveDecoder()
        decoder.migrate(from: 0, as: NameV1.self, to: Document.self) { Document(title: $0.full) }
        let old = try KeyedArchive(
            validating: Tree.archive(
                ["$class": .uid(2), "NS.objects": [.uid(3), .uid(3)]], Tree.record("NSArray"),
                ["$class": .uid(4), "full": "x"], Tree.record("CodingVersionTests.Document")))
        let documents = try decoder.decode([Document].self, from: old)
        #expect(documents[0] === documents[1] && documents[0].title == "x")
    }
}
