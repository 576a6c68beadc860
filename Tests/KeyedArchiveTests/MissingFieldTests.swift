import ArchiveTestSupport
import KeyedArchive
import Testing

/// Archives that lack fields of their type, because an earlier version of a program wrote them.
@Suite struct MissingFieldTests {
    struct Options: Codable, Equatable {
        var sound = true
        var music = true
        var audio = Audio()
        var title: String? = "untitled"
    }

    struct Audio: Codable, Equatable {
        var volume = 0.5
        var device = "front"
    }

    struct Book: Codable, Hashable, DefaultInitializable {
        var title = "untitled"
        var isOwned = true
        var label = Label()
    }

    final class Label: Codable, Hashable {
        var text = "plain"

        static func == (one: Label, other: Label) -> Bool { one.text == other.text }
        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }

    private static let options = "MissingFieldTests.Options"
    private static let book = "MissingFieldTests.Book"

    private func options(
        _ json: String, _ value: Options = Options()
    ) throws -> Options {
        try KeyedArchiveDecoder().decode(
            Options.self, from: KeyedArchive(json: json), missingFieldsFrom: value)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        try KeyedArchiveDecoder().decode(type, from: KeyedArchive(json: json))
    }

    @Test(arguments: [
        #"{"$class":"MissingFieldTests.Options","music":false}"#,
        #"{"$class":"Options","music":false}"#,
        #"{"$class":"Game.Preferences","music":false}"#,
        #"{"music":false}"#,
    ])
    func `A missing field has the default's value, whatever the class is called`(
        json: String
    ) throws {
        let read = try options(json)
        #expect(read == Options(sound: true, music: false, title: nil))
    }

    @Test func `A missing field of a field comes from the same place of the default`() throws {
        let json =
            #"{"$class":"\#(Self.options)","audio":{"$class":"MissingFieldTests.Audio","device":"back"}}"#
        let value = Options(sound: false, audio: Audio(volume: 0.25, device: "front"))
        let read = try options(json, value)
        #expect(read.audio == Audio(volume: 0.25, device: "back"))
        #expect(!read.sound)
    }

    @Test func `A missing optional field is nil, whatever the default has`() throws {
        #expect(try options(#"{"$class":"\#(Self.options)"}"#).title == nil)
    }

    @Test func `The default is made once, and only if a field is missing`() throws {
        var count = 0
        func make() -> Options {
            count += 1
            return Options()
        }
        let whole = try KeyedArchiveEncoder().encode(Options(title: nil))
        let decoder = KeyedArchiveDecoder()
        _ = try decoder.decode(Options.self, from: whole, missingFieldsFrom: make())
        #expect(count == 0)
        let empty = try KeyedArchive(json: #"{"$class":"\#(Self.options)"}"#)
        _ = try decoder.decode(Options.self, from: empty, missingFieldsFrom: make())
        #expect(count == 1)
    }

    @Test func `Without a default, a missing field is an error`() {
        #expect(throws: DecodingError.self) {
            try decode(Options.self, #"{"$class":"\#(Self.options)","sound":true}"#)
        }
    }

    @Test(arguments: [
        #"{"$class":"Account","username":"ada"}"#, #"{"colour":"red"}"#, #"[true]"#, #""text""#,
        #"{"$class":"MissingFieldTests.Options","music":"loud"}"#,
        #"{"$class":"NSURL","NS.relative":"https://example.org"}"#,
    ])
    func `A value of another type is not replaced by the default`(json: String) {
        #expect(throws: DecodingError.self) { try options(json) }
    }

    @Test func `Elements of arrays and dictionaries take missing fields from a new value`() throws {
        let old = #"{"$class":"\#(Self.book)","title":"Momo"}"#
        let books = try decode([Book].self, "[\(old),\(old)]")
        #expect(books.map(\.title) == ["Momo", "Momo"])
        #expect(books.map(\.isOwned) == [true, true])
        // Each has a label of its own, which can be changed without the other.
        #expect(books[0].label !== books[1].label)
        #expect(try decode([String: Book].self, #"{"a":\#(old)}"#)["a"]?.isOwned == true)
        let set = try decode(Set<Book>.self, #"{"$class":"NSSet","NS.objects":[\#(old)]}"#)
        #expect(set.first?.isOwned == true)
    }

    @Test func `The default of the root comes before the default of the type`() throws {
        let archive = try KeyedArchive(json: #"{"$class":"\#(Self.book)","title":"Momo"}"#)
        let read = try KeyedArchiveDecoder().decode(
            Book.self, from: archive, missingFieldsFrom: Book(isOwned: false))
        #expect(!read.isOwned)
        #expect(try KeyedArchiveDecoder().decode(Book.self, from: archive).isOwned)
    }

    /// Encodes less than it decodes.
    struct Forgetful: Codable, DefaultInitializable {
        var here = true
        var gone = true

        enum CodingKeys: String, CodingKey { case here, gone }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(here, forKey: .here)
        }
    }

    @Test func `A default that lacks the field itself is an error, not an endless search`() {
        #expect(throws: DecodingError.self) {
            try decode(Forgetful.self, #"{"$class":"MissingFieldTests.Forgetful","here":true}"#)
        }
    }

    @Test func `Many small objects that lack a field use up the budget`() throws {
        var decoder = KeyedArchiveDecoder()
        decoder.limits.size = 10_000
        let one = #"{"$class":"\#(Self.book)"}"#
        let json = "[" + Array(repeating: one, count: 200).joined(separator: ",") + "]"
        #expect(throws: DecodingError.self) {
            try decoder.decode([Book].self, from: KeyedArchive(json: json))
        }
    }

    enum Shelf: Codable {
        case open([Book])
        case locked(book: Book, level: Level?)
    }

    struct Library: Codable {
        var shelves: [String: [Shelf]]
        var loans: [Int: [Book?]]
        var groups: [[Set<Book>]]
    }

    @Test func `A value at any depth takes missing fields from a new value`() throws {
        let old = #"{"$class":"\#(Self.book)","title":"Momo"}"#
        let set = #"{"$class":"NSSet","NS.objects":[\#(old)]}"#
        let library = try decode(
            Library.self,
            #"""
            {"shelves": {"a": [{"open": {"_0": [\#(old)]}}, {"locked": {"book": \#(old)}}]},
             "loans": {"$class": "NSDictionary", "NS.keys": [7], "NS.objects": [[\#(old), null]]},
             "groups": [[], [\#(set)]]}
            """#)
        var books = library.loans[7]?.compactMap(\.self) ?? []
        for shelf in library.shelves["a"] ?? [] {
            switch shelf {
            case .open(let inside): books += inside
            case .locked(let book, _): books.append(book)
            }
        }
        books += library.groups.joined().joined()
        #expect(books.map(\.title) == ["Momo", "Momo", "Momo", "Momo"])
        #expect(books.allSatisfy { $0.isOwned && $0.label.text == "plain" })
    }
}

// MARK: Values that are set for a type

extension MissingFieldTests {
    struct Level: Codable, Equatable {
        var number: Int
        var stars: Int
        var boss: Boss
        var hint: String?
    }

    struct Boss: Codable, Equatable {
        var name: String
        var life: Int
    }

    private static let level = Level(
        number: 0, stars: 3, boss: Boss(name: "rat", life: 5), hint: "left")

    private var decoder: KeyedArchiveDecoder {
        var decoder = KeyedArchiveDecoder()
        decoder.setMissingFields(of: Level.self, from: Self.level)
        decoder.setMissingFields(of: Boss.self, from: Boss(name: "nobody", life: 1))
        return decoder
    }

    private func level(_ fields: String) -> String {
        #"{"$class":"MissingFieldTests.Level"\#(fields)}"#
    }

    @Test func `Elements take missing fields from the value that is set for their type`() throws {
        let old = try KeyedArchive(json: "[\(level(#","number":7"#)),\(level(#","stars":1"#))]")
        let levels = try decoder.decode([Level].self, from: old)
        #expect(levels.map(\.number) == [7, 0] && levels.map(\.stars) == [3, 1])
        #expect(levels.allSatisfy { $0.boss == Self.level.boss && $0.hint == nil })
        #expect(throws: DecodingError.self) {
            try KeyedArchiveDecoder().decode([Level].self, from: old)
        }
        let nested = try KeyedArchive(json: #"{"a":[{"b":\#(level(""))}]}"#)
        let found = try decoder.decode([String: [[String: Level?]]].self, from: nested)
        #expect(found["a"]?.first?["b"]??.stars == 3)
    }

    @Test func `A root that may be nil takes missing fields from the value that is set`() throws {
        let old = try KeyedArchive(json: level(#","number":7"#))
        #expect(try decoder.decode(Level?.self, from: old)?.stars == 3)
        let archive = try KeyedArchive.encoding(Level?.none)
        #expect(try decoder.decode(Level?.self, from: archive) == nil)
        let filled = try decoder.decode(
            Level?.self, from: old,
            missingFieldsFrom: Level(number: 1, stars: 9, boss: Self.level.boss))
        #expect(filled == Level(number: 7, stars: 9, boss: Self.level.boss, hint: nil))
    }

    @Test func `An object inside takes fields from the value of the outer type, then of its own`()
        throws
    {
        let boss = #"{"$class":"MissingFieldTests.Boss"}"#
        let old = try KeyedArchive(json: level(#","boss":\#(boss)"#))
        #expect(try decoder.decode(Level.self, from: old).boss == Self.level.boss)
        let bosses = try KeyedArchive(json: "[\(boss)]")
        #expect(
            try decoder.decode([Boss].self, from: bosses) == [Boss(name: "nobody", life: 1)])
    }

    @Test func `The value that is set for a type comes before a new value of the type`() throws {
        var decoder = KeyedArchiveDecoder()
        decoder.setMissingFields(of: Book.self, from: Book(title: "lent", isOwned: false))
        let old = try KeyedArchive(json: #"[{"$class":"\#(Self.book)","title":"Momo"}]"#)
        let books = try decoder.decode([Book].self, from: old)
        #expect(books.map(\.title) == ["Momo"] && !books[0].isOwned)
    }

    @Test func `A subclass takes its superclass's fields from the superclass's value`() throws {
        var decoder = KeyedArchiveDecoder()
        decoder.setMissingFields(of: Vehicle.self, from: Vehicle(wheels: 3))
        let old = try KeyedArchive(json: #"[{"$class":"Car","brand":"Tatra"}]"#)
        let cars = try decoder.decode([Car].self, from: old)
        #expect(cars.map(\.brand) == ["Tatra"] && cars.map(\.wheels) == [3])
        decoder.setMissingFields(of: Car.self, from: Car(brand: "Praga"))
        #expect(try decoder.decode([Car].self, from: old).map(\.wheels) == [4])
        let empty = try KeyedArchive(json: #"[{"$class":"Car"}]"#)
        #expect(try decoder.decode([Car].self, from: empty).map(\.brand) == ["Praga"])
    }

    @Test func `A value that is set replaces no value of another class, and no wrong field`() {
        for json in ["[7]", #"[{"$class":"Account"}]"#, "[\(level(#","stars":"many""#))]"] {
            #expect(throws: DecodingError.self) {
                try decoder.decode([Level].self, from: KeyedArchive(json: json))
            }
        }
    }
}
