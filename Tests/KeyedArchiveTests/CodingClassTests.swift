import TestSupport
import ArchiveTestSupport
import Foundation
import KeyedArchive
import PropertyList
import TestTiers
import Testing

@Suite("A class that is coded", .startsPrograms)
struct CodingClassTests {
    private func chain(_ archive: KeyedArchive) throws -> String {
        let program = """
            import plistlib, sys
            archive = plistlib.loads(sys.stdin.buffer.read())
            objects = archive["$objects"]
            print(*objects[objects[1]["$class"]]["$classes"], end="")
            """
        return try Python.run(program, input: archive.bytes).text
    }

    @Test("writes its superclass's fields into the same object")
    func superclass() throws {
        let archive = try KeyedArchive.encoding(Car(brand: "Tatra"))
        #expect(try archive.text() == #"{"$class":"Car","brand":"Tatra","wheels":4}"#)
        #expect(try chain(archive) == "Car Vehicle NSObject")
        let car = try KeyedArchiveDecoder().decode(Car.self, from: archive)
        #expect(car.brand == "Tatra" && car.wheels == 4)
    }

    @Test("can store its superclass separately")
    func superclassApart() throws {
        let archive = try KeyedArchive.encoding(Truck(load: 2.5))
        #expect(
            try archive.text()
                == #"{"$class":"Truck","base":{"$class":"Vehicle","wheels":6},"load":2.5}"#)
        let truck = try KeyedArchiveDecoder().decode(Truck.self, from: archive)
        #expect(truck.load == 2.5 && truck.wheels == 6)
    }

    @Test("is encoded as its real type, whatever its static type is")
    func dynamicType() throws {
        let vehicles = [Vehicle(wheels: 2), Car(brand: "Tatra")]
        let archive = try KeyedArchive.encoding(vehicles)
        #expect(
            try archive.text()
                == #"[{"$class":"Vehicle","wheels":2},{"$class":"Car","brand":"Tatra","wheels":4}]"#
        )

        let plain = try KeyedArchiveDecoder().decode([Vehicle].self, from: archive)
        #expect(plain.map(\.wheels) == [2, 4] && !(plain[1] is Car))
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Car.self, forClassName: "Car")
        let decoded = try decoder.decode([Vehicle].self, from: archive)
        #expect(type(of: decoded[0]) == Vehicle.self)
        #expect((decoded[1] as? Car)?.brand == "Tatra")
    }

    @Test("is one object, however many refer to it")
    func shared() throws {
        let person = Person("ada")
        let archive = try KeyedArchive.encoding(["a": [person, person], "b": [person]])
        let decoded = try KeyedArchiveDecoder().decode([String: [Person]].self, from: archive)
        let all = decoded.values.flatMap { $0 }
        #expect(all.count == 3 && all.allSatisfy { $0 === all[0] && $0.name == "ada" })
        #expect(try KeyedArchive.encoding([Person("ada"), Person("ada")]).bytes != archive.bytes)
    }

    @Test("is one instance for each requested type")
    func sharedByTypes() throws {
        final class Name: Codable {
            let name: String
        }
        struct Both: Decodable {
            let first: Person
            let second: Name
            let third: Person
        }
        let person = Person("ada")
        let archive = try KeyedArchive.encoding(
            Handmade { encoder in
                var container = encoder.container(keyedBy: AnyKey.self)
                for key: AnyKey in ["first", "second", "third"] {
                    try container.encode(person, forKey: key)
                }
            })
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Both.self, forClassName: "Handmade")
        decoder.setClass(Name.self, forClassName: "Person")
        let both = try decoder.decode(Both.self, from: archive)
        #expect(both.first === both.third && both.second.name == "ada")
    }

    @Test("is refused inside itself, by the encoder as by the decoder")
    func cycle() throws {
        let (one, other) = (Person("ada"), Person("bob"))
        one.friend = other
        other.friend = one
        defer { one.friend = nil }
        let refusal = summary { _ = try KeyedArchive.encoding([one]) }
        let expected = "Index 0.friend.friend: The instance of Person refers to itself"
        #expect(refusal?.hasPrefix(expected) == true)
        // Without the cycle, what is shared is no matter.
        other.friend = nil
        #expect(try KeyedArchive.encoding([one, other, one]).bytes.isEmpty == false)

        let archive = try KeyedArchive(
            validating: Tree(archive: [
                ["$class": .uid(2), "name": "ada", "friend": .uid(1)], Tree.record("Person"),
            ]).bytes())
        #expect(
            summary { _ = try KeyedArchiveDecoder().decode(Person.self, from: archive) }
                == "corrupted at friend: The object contains itself, which a decoded value cannot."
        )
        struct Friendless: Decodable, Equatable {
            let name: String
        }
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Friendless.self, forClassName: "Person")
        #expect(try decoder.decode(Friendless.self, from: archive) == Friendless(name: "ada"))
    }

    @Test("that could not be encoded can be tried again elsewhere")
    func cycleThatIsCaught() throws {
        let person = Person("ada")
        person.friend = person
        defer { person.friend = nil }
        let archive = try KeyedArchive.encoding(
            Handmade { encoder in
                var container = encoder.unkeyedContainer()
                #expect(throws: EncodingError.self) { try container.encode(person) }
                person.friend = nil
                try container.encode(person)
                try container.encode(person)
            })
        #expect(try archive.text().contains("ada"))
    }

    @Test("that encodes itself only as itself is an error")
    func itself() throws {
        final class Endless: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(self)
            }
        }
        let refusal = summary { _ = try KeyedArchive.encoding([Endless()]) }
        #expect(refusal?.hasPrefix("Index 0: The instance of Endless refers to itself") == true)
    }

    @Test("is not taken for another that came before it")
    func identity() throws {
        // Each person is freed before the next is made, unless the encoder keeps it.
        let value = Handmade { encoder in
            var container = encoder.unkeyedContainer()
            for number in 0..<100 { try container.encode(Person("\(number)")) }
        }
        let people = try KeyedArchiveDecoder().decode([Person].self, from: .encoding(value))
        #expect(people.map(\.name) == (0..<100).map { "\($0)" })
    }

    @Test("with an error that was caught leaves nothing behind")
    func caught() throws {
        struct Failure: Error {}
        final class Fragile: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode(1, forKey: "a")
                throw Failure()
            }
        }
        let value = Handmade { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            let fragile = Fragile()
            for _ in 0..<2 { try? container.encode(fragile, forKey: "x") }
            try container.encode("instead", forKey: "x")
            var list = container.nestedUnkeyedContainer(forKey: "y")
            try? list.encode(fragile)
            try list.encode(list.count)
            var single = container.superEncoder(forKey: "z").singleValueContainer()
            try? single.encode(fragile)
            try single.encode(2)
        }
        let archive = try KeyedArchive.encoding(value)
        #expect(try archive.text() == #"{"$class":"Handmade","x":"instead","y":[0],"z":2}"#)
    }
}

@Suite("The names of classes", .startsPrograms)
struct ClassNameTests {
    private struct Hidden: Codable, Equatable {
        var a = 1
    }

    @Test("are those of the types, with the module on request")
    func names() throws {
        #expect(
            try KeyedArchive.encoding(Hidden()).text().hasPrefix(#"{"$class":"ClassNameTests.Hid"#))
        // A type of a function is named like one of the type around that.
        struct Local: Codable {}
        #expect(try KeyedArchive.encoding(Local()).text() == #"{"$class":"ClassNameTests.Local"}"#)
        var encoder = KeyedArchiveEncoder()
        encoder.usesModuleNames = true
        #expect(
            try encoder.encode(Box(content: Outer.Inner(value: 1))).text()
                == #"{"$class":"KeyedArchiveTests.Box<KeyedArchiveTests.Outer.Inner>","#
                + #""content":{"$class":"KeyedArchiveTests.Outer.Inner","value":1}}"#)
        #expect(
            try encoder.encode(Local()).text()
                == #"{"$class":"KeyedArchiveTests.ClassNameTests.Local"}"#)
        #expect(
            try KeyedArchiveDecoder().decode(Hidden.self, from: encoder.encode(Hidden()))
                == Hidden())
    }

    @Test("can be set, in both directions")
    func set() throws {
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName("ABUser", for: Account.self)
        let account = Account(username: "ada")
        let archive = try encoder.encode([account])
        #expect(try archive.text().hasPrefix(#"[{"$class":"ABUser""#))
        #expect(
            summary { _ = try KeyedArchiveDecoder().decode([Account].self, from: archive) }
                == "mismatch at Index 0: The object has the class \"ABUser\", which is not known to "
                + "be \"Account\". If it is, call setClass(_:forClassName:).")
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Account.self, forClassName: "ABUser")
        #expect(try decoder.decode([Account].self, from: archive) == [account])
    }

    @Test("bring the superclasses of the known classes with them")
    func known() throws {
        struct List: Encodable {}
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName("NSMutableURLRequest", for: List.self)
        let list = try PropertyList(encoder.encode(List()).bytes)
        let texts = list.indices.compactMap { list.text(at: $0)?.string }
        #expect(texts.contains("NSURLRequest") && texts.contains("NSObject"))
    }

    @Test("fit through a superclass too")
    func superclass() throws {
        let bytes = Tree.archive(
            ["$class": .uid(2), "wheels": 3], Tree.record("Bike", "Vehicle"))
        #expect(try KeyedArchiveDecoder().decode(Vehicle.self, from: bytes).wheels == 3)
        #expect(
            summary { _ = try KeyedArchiveDecoder().decode(Account.self, from: bytes) }?
                .hasPrefix("mismatch at : The object has the class \"Bike\"") == true)
    }

    private struct Loose: Decodable, Equatable {
        let options: [String: Bool]
    }

    @Test("do not matter for dictionaries that decode as structs, or the reverse")
    func dictionaries() throws {
        let account = Account(username: "ada", isAdmin: true, age: 3)
        #expect(
            try Account.decoded(#"{"username":"ada","isAdmin":true,"age":3}"#) == account)
        #expect(
            try [String: Int].decoded(#"{"$class":"Thing","a":1,"$$b":2}"#) == ["a": 1, "$b": 2])
        #expect(
            try Loose.decoded(
                #"{"$class":"ClassNameTests.Loose","options":{"$class":"Options","playSound":true}}"#
            )
                == Loose(options: ["playSound": true]))
    }
}
