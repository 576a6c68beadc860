import ArchiveTestSupport
import KeyedArchive
import PropertyList
import Testing

@Suite("Collections that are decoded")
struct CodingCollectionTests {
    @Test(
        "accept arrays and sets in each spelling",
        arguments: [
            Tree.archive(
                ["$class": .uid(2), "NS.objects": [.uid(3), .uid(4)]], Tree.record("NSArray"),
                "a", "b"),
            Tree.archive(
                ["NS.objects": [.uid(3), .uid(4)], "$class": .uid(2)],
                Tree.record("NSMutableOrderedSet", "NSOrderedSet"), "a", "b"),
            Tree.archive(
                ["NS.object.1": .uid(4), "$class": .uid(2), "NS.object.0": .uid(3)],
                Tree.record("NSMutableSet", "NSSet"), "a", "b"),
            Tree.archive(
                ["NS.objects": [.uid(3), .uid(4)], "$class": .uid(2), "pytype": 2],
                Tree.record("OC_BuiltinPythonArray", "NSArray"), "a", "b"),
            Tree.archive(["a", "b"]), Tree.archive(.set(["a", "b"])),
            Tree.archive(.orderedSet(["a", "b"])),
        ])
    func lists(_ bytes: [UInt8]) throws {
        #expect(try KeyedArchiveDecoder().decode([String].self, from: bytes) == ["a", "b"])
        #expect(try KeyedArchiveDecoder().decode(Set<String>.self, from: bytes) == ["a", "b"])
    }

    @Test(
        "accept dictionaries in each spelling",
        arguments: [
            Tree.archive(
                ["$class": .uid(2), "NS.keys": [.uid(3)], "NS.objects": [.uid(4)]],
                Tree.record("NSMutableDictionary", "NSDictionary"), "number", 5),
            Tree.archive(
                ["NS.object.0": .uid(4), "$class": .uid(2), "NS.key.0": .uid(3)],
                Tree.record("NSDictionary"), "number", 5),
            Tree.archive(
                ["$class": .uid(2), "NS.keys": [.uid(3)], "NS.objects": [5], "other": true],
                Tree.record("MyDictionary", "NSDictionary"),
                ["$class": .uid(4), "NS.string": "number"], Tree.record("NSString")),
            Tree.archive(["$class": .uid(2), "number": 5], Tree.record("Numbered")),
            Tree.archive(
                ["$class": .uid(2), "NS.objects": [["number": 5]]], Tree.record("NSArray")),
        ])
    func dictionaries(_ bytes: [UInt8]) throws {
        struct Numbered: Decodable {
            let number: Int
        }
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Numbered.self, forClassName: "Numbered")
        if let list = try? decoder.decode([Numbered].self, from: bytes) {
            #expect(list.map(\.number) == [5])
            #expect(try decoder.decode([[String: Int]].self, from: bytes) == [["number": 5]])
        } else {
            #expect(try decoder.decode(Numbered.self, from: bytes).number == 5)
            #expect(try decoder.decode([String: Int8].self, from: bytes) == ["number": 5])
        }
    }

    @Test("refuse two keys that are the same, and keys of other types")
    func keys() throws {
        let json = #"{"$class":"NSDictionary","NS.keys":["a","a"],"NS.objects":[1,2]}"#
        #expect(
            summary { _ = try [String: Int].decoded(json) }
                == "corrupted at a: The dictionary has the same key twice.")
        #expect(
            summary { _ = try [String: Int].decoded(json.replacing(#""a","#, with: "1,")) }
                == "corrupted at : A key of the dictionary is not a string.")
        #expect(
            summary { _ = try [Int: Int].decoded(json.replacing(#""a","#, with: "1,")) }
                == "mismatch at Index 1: Expected an integer, found a string.")
        #expect(
            summary { _ = try [Int: Int].decoded(#"{"$class":"Thing","a":1}"#) }
                == "mismatch at : Expected a dictionary, found an object of class \"Thing\"."
        )
    }

    @Test("with keys that are encoded alike are an error when they are encoded")
    func alike() throws {
        struct Vague: Encodable, Hashable {
            let number: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode("always the same")
            }
        }
        #expect(
            summary { _ = try KeyedArchive.encoding([[Vague(number: 1): 1, Vague(number: 2): 2]]) }
                == "Index 0: Two different keys of the dictionary have the same encoding.")
    }

    @Test("refuse objects that are not collections")
    func others() {
        #expect(
            summary { _ = try [Int].decoded(#"{"a":1}"#) }
                == "mismatch at : Expected an array, found an object of class \"NSDictionary\"."
        )
        #expect(
            summary { _ = try Set<Int>.decoded("true") }
                == "mismatch at : Expected an array, found a boolean.")
        #expect(
            summary { _ = try [String: Int].decoded("1") }
                == "mismatch at : Expected an object with fields, found an integer.")
        #expect(
            summary { _ = try [String: [Int]].decoded(#"{"a":[1,"x"]}"#) }
                == "mismatch at a.Index 1: Expected an integer, found a string.")
    }
}
