import ArchiveTestSupport
import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("Errors of coding")
struct CodingErrorTests {
    @Test("name the path to the field, and what is there instead")
    func paths() throws {
        let json =
            #"[{"$class":"Outer","inner":{"$class":"Outer.Inner","value":1},"others":"#
            + #"[{"$class":"Outer.Inner","value":2},{"$class":"Outer.Inner","value":"x"}],"named":{}}]"#
        #expect(
            summary { _ = try [Outer].decoded(json) }
                == "mismatch at Index 0.others.Index 1.value: Expected an integer, found a string.")
        #expect(
            summary {
                _ = try [Outer].decoded(
                    json.replacing(#""named":{}"#, with: #""named":{"k":7}"#)
                        .replacing("\"x\"", with: "3"))
            }
                == "mismatch at Index 0.named.k: Expected an object with fields, "
                + "found an integer.")
        #expect(
            summary {
                _ = try Mixed.decoded(#"{"$class":"Mixed","points":[[1],[true]],"meta":{}}"#)
            }
                == "mismatch at points.Index 1.Index 0: Expected an integer, found a boolean."
        )
        #expect(
            summary { _ = try Mixed.decoded(#"{"$class":"Mixed","points":[],"meta":{}}"#) }
                == #"no key at meta: The object has no field "label"."#)
        #expect(
            summary { _ = try Wrapper.decoded(#"{"$class":"Account","username":1}"#) }
                == "mismatch at username: Expected a string, found an integer.")
    }

    @Test("carry the byte offset of the value")
    func offsets() throws {
        let archive = try KeyedArchive(json: #"{"$class":"Account","username":12345}"#)
        do {
            _ = try KeyedArchiveDecoder().decode(Account.self, from: archive)
            Issue.record("No error")
        } catch let error as DecodingError {
            let cause = try #require(error.context?.underlyingError as? ArchiveError)
            #expect(cause.code == .undecodable)
            // The integer 12345 in two bytes.
            #expect(Array(archive.bytes[cause.byteOffset...].prefix(3)) == [0x11, 0x30, 0x39])
        }
        do {
            _ = try KeyedArchiveDecoder().decode(Account.self, from: archive.bytes.dropLast())
            Issue.record("No error")
        } catch let error as DecodingError {
            let cause = try #require(error.context?.underlyingError as? ArchiveError)
            #expect(cause.code == .notPropertyList)
        }
    }

    @Test("never contain a value")
    func values() throws {
        let secret = "hunter2"
        for json in [
            #"{"$class":"Account","username":"ada","isAdmin":"hunter2"}"#,
            #"["hunter2"]"#, #""hunter2""#,
        ] {
            let archive = try KeyedArchive(json: json)
            #expect(
                summary { _ = try KeyedArchiveDecoder().decode(Account.self, from: archive) }?
                    .contains(secret) == false)
        }
        let value = Handmade { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(secret, forKey: "a")
            try container.encode(secret, forKey: "a")
        }
        do {
            _ = try KeyedArchive.encoding(value)
            Issue.record("No error")
        } catch {
            #expect(!"\(error)".contains(secret))
        }
    }

    @Test("occur if a field is written twice, by a class and its superclass too")
    func duplicates() throws {
        final class Clash: Vehicle {
            enum CodingKeys: CodingKey { case wheels }
            init() { super.init(wheels: 1) }
            required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode("many", forKey: .wheels)
                try super.encode(to: container.superEncoder())
            }
        }
        #expect(
            summary { _ = try KeyedArchive.encoding([Clash()]) }
                == "Index 0.wheels: The field \"wheels\" was written twice; a class and its "
                + "superclass share their names.")
        let nested = Handmade { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            _ = container.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
            _ = container.nestedUnkeyedContainer(forKey: "a")
        }
        #expect(
            summary { _ = try KeyedArchive.encoding(nested) }?.hasPrefix("a: The value asked")
                == true)
    }

    @Test("occur if an encoder gets requests that exclude each other")
    func conflicts() throws {
        let bodies: [(any Encoder) throws -> Void] = [
            { encoder in
                _ = encoder.container(keyedBy: AnyKey.self)
                _ = encoder.unkeyedContainer()
            },
            { encoder in
                var list = encoder.unkeyedContainer()
                try list.encode(1)
                var object = encoder.container(keyedBy: AnyKey.self)
                try object.encode(1, forKey: "a")
            },
            { encoder in
                var one = encoder.singleValueContainer()
                try one.encode(1)
                try one.encode(2)
            },
            { encoder in
                _ = encoder.container(keyedBy: AnyKey.self)
                var one = encoder.singleValueContainer()
                try one.encode(Account(username: "x"))
            },
            { encoder in
                var one = encoder.singleValueContainer()
                try one.encodeNil()
                var list = encoder.unkeyedContainer()
                try list.encode(["a"])
                _ = list.nestedContainer(keyedBy: AnyKey.self)
            },
        ]
        for body in bodies {
            #expect(
                summary { _ = try KeyedArchive.encoding(["x": Handmade(body: body)]) }
                    == "x: The value asked its encoder for more than one of these: fields, "
                    + "elements, a single value.")
        }
    }

    @Test("occur if values are nested too deep, in both directions")
    func depth() throws {
        struct Deep: Codable {
            var next: [Deep]
        }
        func nested(_ levels: Int) -> Deep {
            (1..<levels).reduce(Deep(next: [])) { deep, _ in Deep(next: [deep]) }
        }
        var encoder = KeyedArchiveEncoder()
        let archive = try encoder.encode(nested(200))
        _ = try KeyedArchiveDecoder().decode(Deep.self, from: archive)
        #expect(
            summary { _ = try encoder.encode(nested(300)) }?
                .hasSuffix("The value is nested deeper than 512 levels.") == true)
        encoder.depthLimit = 4
        #expect(
            summary { _ = try encoder.encode(nested(3)) }
                == "next.Index 0.next.Index 0: The value is nested deeper than 4 levels.")
        var decoder = KeyedArchiveDecoder()
        decoder.limits.depth = 4
        #expect(
            summary { _ = try decoder.decode(Deep.self, from: KeyedArchive.encoding(nested(4))) }
                == "corrupted at next.Index 0.next.Index 0: The value is nested deeper than 4 levels."
        )

        // Containers that are nested by hand recurse in nothing.
        let byHand = Handmade { encoder in
            var list = encoder.unkeyedContainer()
            for _ in 0..<100_000 { list = list.nestedUnkeyedContainer() }
        }
        #expect(
            summary { _ = try KeyedArchive.encoding(byHand) }?.hasSuffix("512 levels.") == true)
    }

    @Test("occur if a type encodes or decodes itself endlessly")
    func endless() throws {
        struct Endless: Codable {
            init() {}
            init(from decoder: any Decoder) throws {
                self = try decoder.singleValueContainer().decode(Endless.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(self)
            }
        }
        #expect(
            summary { _ = try KeyedArchive.encoding(Endless()) }
                == ": The value is nested deeper than 512 levels.")
        #expect(
            summary { _ = try Endless.decoded("[1]") }
                == "corrupted at : The value is nested deeper than 512 levels.")
    }

    @Test("occur at the end of an array, and if a root is missing")
    func ends() throws {
        struct Greedy: Decodable {
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                #expect(container.count == 1 && !container.isAtEnd)
                #expect(try !container.decodeNil())
                _ = try container.decode(Int.self)
                #expect(container.isAtEnd)
                _ = try container.decode(Int.self)
            }
        }
        #expect(
            summary { _ = try Greedy.decoded("[1]") }
                == "no value at Index 1: The array has only 1 element.")
        let roots = try KeyedArchive(json: #"{"$top":{"a":{"x":1},"b":{"x":2}}}"#)
        let decoder = KeyedArchiveDecoder()
        #expect(try decoder.decode([String: Int].self, from: roots, rootKey: "b") == ["x": 2])
        #expect(
            summary { _ = try decoder.decode([String: Int].self, from: roots) }
                == #"no key at : The archive has 2 roots, and none is called "root". Give the "#
                + "name of one.")
        #expect(
            summary { _ = try decoder.decode([String: Int].self, from: roots, rootKey: "c") }
                == "no key at : The archive has no root of this name.")
    }

    @Test("leave the element of an array to be decoded as another type")
    func secondTry() throws {
        struct Either: Decodable, Equatable {
            var texts: [String] = []
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    if let number = try? container.decode(Int.self) {
                        texts.append("\(number)")
                    } else {
                        texts.append(try container.decode(String.self))
                    }
                }
            }
        }
        #expect(try Either.decoded(#"[1,"a",2]"#).texts == ["1", "a", "2"])
    }
}

@Suite("Hostile archives")
struct CodingHostileTests {
    struct Node: Decodable {
        var a: [Node]?
        var b: [Node]?
    }

    @Test("are an error if shared objects make them huge")
    func bomb() throws {
        var objects: [Tree] = ["$null"]
        for level in 1...40 {
            objects.append([
                "$class": .uid(41),
                "NS.objects": [.uid(UInt64(level + 1)), .uid(UInt64(level + 1))],
            ])
        }
        objects.append(Tree.record("NSArray"))
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(objects.dropLast(2) + ["x", Tree.record("NSArray")]),
        ]
        struct List: Decodable {
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                for _ in 0..<(container.count ?? 0) { _ = try? container.decode(List.self) }
            }
        }
        var decoder = KeyedArchiveDecoder()
        decoder.limits.size = 1 << 20
        // Even a type that goes on after each error comes to an end.
        #expect(
            summary { _ = try decoder.decode([List].self, from: archive.bytes()) }?
                .contains("is larger than 1048576 bytes") == true)
    }

    @Test("are an error if they have cycles")
    func circles() throws {
        let decoder = KeyedArchiveDecoder()
        let list = Tree.archive(
            ["$class": .uid(2), "NS.objects": [.uid(1)]], Tree.record("NSArray"))
        indirect enum List: Decodable {
            case list([List])
            init(from decoder: any Decoder) throws { self = .list(try [List](from: decoder)) }
        }
        #expect(
            summary { _ = try decoder.decode(List.self, from: list) }
                == "corrupted at Index 0: The object contains itself, which a decoded value "
                + "cannot.")
        let url = Tree.archive(
            ["$class": .uid(2), "NS.base": .uid(1), "NS.relative": "x"], Tree.record("NSURL"))
        #expect(
            summary { _ = try decoder.decode(URL.self, from: url) }?.contains("contains itself")
                == true)
        let node = Tree.archive(
            ["$class": .uid(2), "a": [.uid(1)], "b": [.uid(1)]],
            Tree.record("CodingHostileTests.Node"))
        #expect(summary { _ = try decoder.decode(Node.self, from: node) } != nil)
        let string = Tree.archive(
            ["$class": .uid(2), "NS.string": .uid(1)], Tree.record("NSString"))
        #expect(summary { _ = try decoder.decode(String.self, from: string) } != nil)
        let date = Tree.archive(["$class": .uid(2), "NS.time": .uid(1)], Tree.record("NSDate"))
        #expect(summary { _ = try decoder.decode(Date.self, from: date) } != nil)
    }

    @Test("are an error if a class is a value, or an inline dictionary claims to be an object")
    func classes() throws {
        let decoder = KeyedArchiveDecoder()
        let record = Tree.archive(Tree.record("Account"))
        #expect(
            summary { _ = try decoder.decode(Account.self, from: record) }
                == "mismatch at : Expected an object with fields, found a class.")
        let inline = Tree.archive(
            [
                "$class": .uid(3),
                "NS.objects": [["$class": .uid(1), "username": "a", "isAdmin": true]],
            ],
            "no class", Tree.record("NSArray"))
        #expect(
            try decoder.decode([Account].self, from: inline)
                == [Account(username: "a", isAdmin: true)])
    }

    private static let types: [any (Decodable & SendableMetatype).Type] = [
        [Account].self, Numbers.self, Outer.self, Shape2D.self, Mixed.self, FoundationTypes.self,
        Person.self, Truck.self, [String: FoundationTypes].self, [Int: [String]].self,
        Set<UUID>.self, [[Date?]].self, [UInt8].self, CodingVersionTests.Name.self,
    ]

    private static let decoder: KeyedArchiveDecoder = {
        var decoder = KeyedArchiveDecoder()
        decoder.limits.size = 1 << 12
        return decoder
    }()

    /// Decodes bytes as each of many types.
    private func tryEverything(_ bytes: [UInt8]) {
        guard let archive = try? KeyedArchive(validating: bytes) else { return }
        for type in Self.types { _ = try? Self.decoder.decode(type, from: archive) }
    }

    @Test("are an error or a value with any byte changed")
    func changed() throws {
        let mixed = Handmade { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(FoundationTypes(), forKey: "types")
            try container.encode(Numbers(), forKey: "numbers")
            try container.encode([Person("a"), Person("b")], forKey: "people")
            try container.encode([1: Set(["a"]), 2: ["é"]], forKey: "sets")
            try container.encode(CodingVersionTests.ada, forKey: "version")
        }
        let originals: [KeyedArchive] = [
            try .encoding(mixed), try .encoding(FoundationTypes()), try .encoding(Numbers()),
            try .encoding(["k": FoundationTypes()]), try .encoding(CodingVersionTests.ada),
            try .encoding(Car(brand: "x")), try .encoding([1: ["a", "b"]]),
        ]
        for bytes in originals.map(\.bytes) {
            for position in Thoroughness.places(in: bytes.count) {
                for change in [0x01, 0x90] as [UInt8] {
                    var changed = bytes
                    changed[position] ^= change
                    tryEverything(changed)
                }
            }
        }
    }

    @Test(
        "of real programs are an error or a value, whatever type is requested",
        arguments: Fixtures.keyed)
    func fixtures(_ fixture: Fixtures.Fixture) {
        tryEverything(fixture.bytes)
        for position in stride(from: 0, to: fixture.bytes.count, by: 37) {
            var changed = fixture.bytes
            changed[position] ^= 0x11
            tryEverything(changed)
        }
    }
}

extension KeyedArchiveDecoder {
    fileprivate func decode(_ type: any Decodable.Type, from archive: KeyedArchive) throws -> Any {
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Any {
            try self.decode(Value.self, from: archive, rootKey: nil)
        }
        return try decode(type)
    }
}
