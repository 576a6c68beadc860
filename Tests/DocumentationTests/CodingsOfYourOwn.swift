import DefaultsClient
import KeyedArchive
import Testing

// The code of the page about codings, so that it compiles, and tests of what the page says.

struct Color: Hashable {
    var red, green, blue: UInt8
}

struct BadColor: LoggableError {
    var description: String { "It is not a color such as #ff8800." }
}

extension ValueCoding<Color> {
    static func hex() -> ValueCoding {
        let text = ValueCoding<String>.codable()
        return ValueCoding(
            encode: { color in try text.encode(color.hex) },
            decode: { archive in
                guard let color = Color(hex: try text.decode(archive)) else { throw BadColor() }
                return color
            })
    }
}

extension AnyDefaultsKey {
    static let background = DefaultsKey(
        "Background", coding: .hex(), default: Color(red: 255, green: 255, blue: 255))
    static let accent = DefaultsKey<Color?>("Accent", coding: .optional(.hex()), default: nil)
    static let port = DefaultsKey("Port", coding: .converting(), default: 8080)
}

extension Color {
    fileprivate var hex: String {
        [red, green, blue].reduce(into: "#") { text, byte in
            let digits = String(byte, radix: 16)
            text += digits.count == 1 ? "0" + digits : digits
        }
    }

    fileprivate init?(hex: String) {
        let digits = hex.dropFirst()
        guard hex.hasPrefix("#"), digits.count == 6, let number = UInt32(digits, radix: 16) else {
            return nil
        }
        red = UInt8(number >> 16)
        green = UInt8(number >> 8 & 255)
        blue = UInt8(number & 255)
    }
}

struct Level: Codable, Hashable {
    var number: Int
    var stars: Int  // since version 2
}

struct Book: DefaultInitializable, Hashable {
    var title = ""
    var isOwned = true  // since version 2
}

private let levelDecoder: KeyedArchiveDecoder = {
    var decoder = KeyedArchiveDecoder()
    decoder.setMissingFields(of: Level.self, from: Level(number: 0, stars: 3))
    return decoder
}()

extension AnyDefaultsKey {
    static let levels = DefaultsKey<[Level]>(
        "Levels", coding: .codable(decoder: levelDecoder), default: [])
    static let lastLevel = DefaultsKey<Level?>(
        "LastLevel", coding: .optional(.codable(decoder: levelDecoder)), default: nil)
    static let books = DefaultsKey<[Book]>("Books", default: [])
}

struct Owner: Codable, ArchiveVersioned {
    static var archiveVersion: Int { 1 }
    var name: String
}

private struct OldOwner: Codable {
    var first: String
    var last: String
}

private let ownerDecoder: KeyedArchiveDecoder = {
    var decoder = KeyedArchiveDecoder()
    decoder.migrate(from: 0, as: OldOwner.self, to: Owner.self) { old in
        Owner(name: old.first + " " + old.last)
    }
    return decoder
}()

extension AnyDefaultsKey {
    static let owner = DefaultsKey(
        "Owner", coding: .codable(decoder: ownerDecoder), default: Owner(name: ""))
}

struct CodingTests {
    let defaults = Defaults.inMemory()

    /// Stores a value as another program or an earlier version has done it.
    private func store(_ json: String, as key: String) throws {
        let raw = DefaultsKey<KeyedArchive?>(
            key, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: nil)
        defaults[raw] = try KeyedArchive(json: json)
    }

    @Test func `A coding of one's own stores a text`() throws {
        let orange = Color(red: 255, green: 136, blue: 0)
        defaults[.background] = orange
        defaults[.accent] = orange
        let text = DefaultsKey<String?>("Background")
        #expect(defaults[text] == "#ff8800" && defaults[.background] == orange)
        defaults[.accent] = nil
        #expect(defaults[.accent] == nil && defaults.keys(in: .domain) == ["Background"])
    }

    @Test func `An invalid text is reported, and is kept when the key is set`() async throws {
        var failures = defaults.failures.makeAsyncIterator()
        try store(#""orange""#, as: "Background")
        #expect(defaults[.background].blue == 255)
        let failure = try #require(await failures.next())
        #expect(failure.action == .read && failure.error.underlyingError is BadColor)
        #expect(failure.error.message.hasSuffix("It is not a color such as #ff8800."))
        await #expect(throws: DefaultsError.self) {
            try await defaults.update(.background) { $0.red = 0 }
        }
        defaults[.background] = Color(red: 1, green: 2, blue: 3)
        #expect(await failures.next()?.action == .replace)
        let kept = DefaultsKey<String?>("Background (unreadable)")
        if let text = defaults[kept] { print(text) }
        #expect(defaults[kept] == "orange")
        defaults.reset(kept)
        #expect(defaults.keys(in: .domain) == ["Background"])
    }

    @Test func `A converting coding reads what a script has stored as text`() throws {
        try store(#""9090""#, as: "Port")
        #expect(defaults[.port] == 9090)
    }

    @Test func `Missing fields come from the decoder or from a new value`() throws {
        try store(#"[{"$class":"Level","number":7}]"#, as: "Levels")
        try store(#"{"$class":"Level","number":8}"#, as: "LastLevel")
        try store(#"[{"$class":"Book","title":"Momo"}]"#, as: "Books")
        #expect(defaults[.levels] == [Level(number: 7, stars: 3)])
        #expect(defaults[.lastLevel] == Level(number: 8, stars: 3))
        #expect(defaults[.books] == [Book(title: "Momo")])
        try store(#"{"$class":"Stage","number":9,"hint":"left"}"#, as: "LastLevel")
        #expect(defaults[.lastLevel] == Level(number: 9, stars: 3))
    }

    @Test func `An object without a version is converted`() throws {
        try store(#"{"$class":"Owner","first":"Ada","last":"King"}"#, as: "Owner")
        #expect(defaults[.owner].name == "Ada King")
        try store(#"{"$class":"Owner","archiveVersion":2,"name":"Ada"}"#, as: "Owner")
        #expect(throws: DefaultsError.self) { try defaults.value(of: .owner) }
    }
}
