import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive
import Testing

@Suite("Keys of arrays and dictionaries of objects")
struct CollectionKeyTests {
    private static let array = DefaultsKey("People", ofArrayOf: Person.self)
    private static let dictionary = DefaultsKey("Named", ofDictionaryOf: Person.self)
    private static let stored = DefaultsKey<KeyedArchive?>(
        "People", coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })
    private static let storedNames = DefaultsKey<KeyedArchive?>(
        "Named", coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })

    @Test("read what was set, and nothing without a value")
    func values() throws {
        let defaults = Defaults.inMemory()
        #expect(defaults[Self.array].isEmpty && defaults[Self.dictionary].isEmpty)
        defaults[Self.array] = [Person("Ada"), Person("Byron", children: [Person("Ada")])]
        defaults[Self.dictionary] = ["a": Person("Ada")]
        let people = try defaults.value(of: Self.array)
        #expect(people.map(\.name) == ["Ada", "Byron"])
        #expect(people[1].children.map(\.name) == ["Ada"])
        #expect(people[1].children[0].parent === people[1])
        #expect(try defaults.value(of: Self.dictionary).mapValues(\.name) == ["a": "Ada"])
        defaults[Self.array] = []
        #expect(defaults.isSet(Self.array) && defaults[Self.array].isEmpty)
        let filled = DefaultsKey("Missing", ofArrayOf: Person.self) { [Person("Ada")] }
        #expect(defaults[filled].map(\.name) == ["Ada"])
    }

    @Test("are an NSArray and an NSDictionary for other programs")
    func otherReaders() throws {
        let defaults = Defaults.inMemory()
        defaults[Self.array] = [Person("Ada"), Person("Byron")]
        defaults[Self.dictionary] = ["b": Person("Byron"), "a": Person("Ada")]
        let archive = try #require(try defaults.value(of: Self.stored))
        let array = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, Person.self], from: archive.data)
        #expect((array as? [Person])?.map(\.name) == ["Ada", "Byron"])
        let names = try #require(try defaults.value(of: Self.storedNames))
        let dictionary = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSString.self, Person.self], from: names.data)
        #expect((dictionary as? [String: Person])?.mapValues(\.name) == ["a": "Ada", "b": "Byron"])
    }

    @Test("read what other programs have written")
    func otherWriters() throws {
        let defaults = Defaults.inMemory()
        let ada = Person("Ada")
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: [ada, Person("Byron"), ada], requiringSecureCoding: true)
        try defaults.set(KeyedArchive(validating: data), for: Self.stored)
        #expect(try defaults.value(of: Self.array).map(\.name) == ["Ada", "Byron", "Ada"])
        try defaults.set(KeyedArchive(archiving: ["a": ada]), for: Self.storedNames)
        #expect(try defaults.value(of: Self.dictionary).mapValues(\.name) == ["a": "Ada"])
    }

    @Test(
        "refuse elements of other classes, and values of other kinds",
        arguments: [
            #"["text"]"#, "[null]", "[1]", "{}", "1", #"[{"$class":"NSNull"}]"#,
            #"[{"$class":"NSArray","NS.objects":1}]"#,
        ])
    func refusal(_ json: String) throws {
        let defaults = Defaults.inMemory()
        try defaults.set(KeyedArchive(json: json), for: Self.stored)
        #expect(throws: (any Error).self) { try defaults.value(of: Self.array) }
        #expect(defaults[Self.array].isEmpty)
    }

    @Test("refuse to set an element that cannot be archived")
    func unarchivable() throws {
        let key = DefaultsKey("People", ofArrayOf: NSValue.self)
        let defaults = Defaults.inMemory()
        #expect(throws: (any Error).self) {
            try defaults.set([NSValue(bytes: [1.5], objCType: "d")], for: key)
        }
        #expect(!defaults.isSet(key))
    }
}
