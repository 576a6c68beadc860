import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive
import Testing

/// An object of NSSecureCoding that may refer to others.
private final class Member: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let name: String
    let friend: Member?
    let rival: Member?

    init(_ name: String, friend: Member? = nil, rival: Member? = nil) {
        self.name = name
        self.friend = friend
        self.rival = rival
    }

    init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.name = String(describing: name)
        friend = coder.decodeObject(of: Member.self, forKey: "friend")
        rival = coder.decodeObject(of: Member.self, forKey: "rival")
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(friend, forKey: "friend")
        coder.encode(rival, forKey: "rival")
    }
}

/// Keys of arrays and dictionaries whose elements have a coding of their own.
@Suite struct CollectionCodingTests {
    private struct Level: Codable, Equatable {
        var number: Int
        var stars = 3
    }

    private let defaults = Defaults.inMemory()
    private let members = DefaultsKey<[Member]>(
        "Members", coding: .array(of: .object(ofClass: Member.self)), default: { [] })
    private let teams = DefaultsKey<[String: [Member]]>(
        "Teams", coding: .dictionary(of: .array(of: .object(ofClass: Member.self))),
        default: { [:] })

    private func raw(_ name: String) -> DefaultsKey<KeyedArchive?> {
        DefaultsKey(name, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })
    }

    @Test func `An array of objects is stored and read`() throws {
        let ada = Member("ada")
        defaults[members] = [Member("bob", friend: ada), ada]
        let read = try defaults.value(of: members)
        #expect(read.map(\.name) == ["bob", "ada"])
        #expect(read[0].friend?.name == "ada" && read[1].friend == nil)
        let json = try defaults[raw("Members")].map {
            String(decoding: try $0.json(), as: UTF8.self)
        }
        #expect(json?.hasPrefix("[{\"$class\":") == true)
        defaults[members] = []
        #expect(try defaults.value(of: members).isEmpty && defaults.isSet(members))
    }

    @Test func `Each element keeps what it shares`() throws {
        let ada = Member("ada")
        defaults[teams] = ["a": [ada, Member("bob", friend: ada, rival: ada)], "b": [ada]]
        let read = try defaults.value(of: teams)
        #expect(read["a"]?.map(\.name) == ["ada", "bob"] && read["b"]?.map(\.name) == ["ada"])
        let bob = try #require(read["a"]?.last)
        #expect(bob.friend != nil && bob.friend === bob.rival && bob.friend !== read["a"]?.first)
    }

    @Test func `The elements of a Codable type are stored as in an array of the type`() throws {
        let plain = DefaultsKey<[Level]>("Levels", default: [])
        let coded = DefaultsKey<[Level]>("Levels", coding: .array(of: .codable()), default: { [] })
        let levels = [Level(number: 1), Level(number: 2, stars: 1)]
        defaults[plain] = levels
        let bytes = defaults[raw("Levels")]?.bytes
        #expect(try defaults.value(of: coded) == levels)
        defaults[coded] = levels
        #expect(defaults[raw("Levels")]?.bytes == bytes)
        #expect(ValueCoding<[Level]>.array(of: .codable()).isShared)
        #expect(!ValueCoding<[Member]>.array(of: .object(ofClass: Member.self)).isShared)
        #expect(ValueCoding<[String: Level]>.dictionary(of: .codable()).isShared)
    }

    @Test func `Raw values and older versions are elements`() throws {
        let themes = DefaultsKey<[Theme]>(
            "Themes", coding: .array(of: .rawRepresentable()), default: { [] })
        defaults[themes] = [.dark, .light]
        #expect(try defaults.value(of: themes) == [.dark, .light])
        var decoder = KeyedArchiveDecoder()
        decoder.setMissingFields(of: Level.self, from: Level(number: 0, stars: 2))
        let levels = DefaultsKey<[Level]>(
            "Levels", coding: .array(of: .codable(decoder: decoder)), default: { [] })
        defaults[raw("Levels")] = try KeyedArchive(json: #"[{"number":7},{"number":8,"stars":1}]"#)
        #expect(
            try defaults.value(of: levels)
                == [Level(number: 7, stars: 2), Level(number: 8, stars: 1)])
        let optional = DefaultsKey<Level?>(
            "Level", coding: .optional(.codable(decoder: decoder)), default: { nil })
        defaults[raw("Level")] = try KeyedArchive(json: #"{"number":7}"#)
        #expect(try defaults.value(of: optional) == Level(number: 7, stars: 2))
    }

    @Test func `A value of a dictionary takes missing fields from the default's value`() throws {
        let key = DefaultsKey<[String: Level]>(
            "Named", coding: .dictionary(of: .codable()),
            default: { ["boss": Level(number: 9, stars: 5)] })
        defaults[raw("Named")] = try KeyedArchive(json: #"{"boss":{"number":1}}"#)
        #expect(try defaults.value(of: key) == ["boss": Level(number: 1, stars: 5)])
        defaults[raw("Named")] = try KeyedArchive(json: #"{"other":{"number":1}}"#)
        #expect(throws: (any Error).self) { try defaults.value(of: key) }
    }

    @Test func `An element that is stored as nothing is refused`() throws {
        let array = ValueCoding<[Member?]>.array(of: .object(ofClass: Member.self))
        let dictionary = ValueCoding<[String: Level?]>.dictionary(of: .optional(.codable()))
        func path(_ body: () throws -> Void) throws -> [String] {
            let error = #expect(throws: EncodingError.self, performing: body)
            guard case .invalidValue(_, let context)? = error else { return [] }
            #expect(context.debugDescription.contains("encoded as nothing"))
            return context.codingPath.map(\.stringValue)
        }
        #expect(try path { _ = try array.encode([Member("a"), nil]) } == ["Index 1"])
        #expect(try path { _ = try dictionary.encode(["a": nil]) } == ["a"])
        #expect(throws: Never.self) { try array.encode([Member("a")]) }
    }

    @Test func `The error of an element has the path to it`() throws {
        let coding = ValueCoding<[String: [Level]]>.dictionary(of: .array(of: .codable()))
        let archive = try KeyedArchive(json: #"{"a":[{"number":1,"stars":1},{"number":"x"}]}"#)
        let error = #expect(throws: DecodingError.self) { try coding.decode(archive) }
        guard case .typeMismatch(_, let context)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1", "number"])
        #expect(throws: DecodingError.self) { try coding.decode(KeyedArchive(json: "7")) }
    }
}
