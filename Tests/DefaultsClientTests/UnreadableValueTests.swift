import DefaultsClient
import KeyedArchive
import TestTiers
import Testing

/// Values that an earlier version wrote, or another program.
@Suite(.startsPrograms) struct UnreadableValueTests {
    struct GameOptions: Codable, Equatable {
        var playSound = true
        var playMusic = true

        enum CodingKeys: String, CodingKey {
            case playSound = "PlaySound"
            case playMusic = "PlayMusic"
        }
    }

    private static let name = "GameOptions"
    private static let side = "GameOptions (unreadable)"
    private let options = DefaultsKey(name, default: GameOptions())
    private let musicOff = #"{"$class":"GameOptions","PlayMusic":false}"#
    private let scream = #"{"$class":"GameOptions","PlayMusic":"scream"}"#
    private let defaults = Defaults.inMemory()

    /// A key of whatever is stored.
    private func raw(_ name: String) -> DefaultsKey<KeyedArchive?> {
        DefaultsKey(name, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })
    }

    private func store(_ json: String) throws {
        defaults[raw(Self.name)] = try KeyedArchive(json: json)
    }

    private func json(_ name: String) throws -> String? {
        try defaults[raw(name)].map { String(decoding: try $0.json(), as: UTF8.self) }
    }

    @Test(arguments: ["GameOptions", "Options"])
    func `A write after reading an older version's value keeps its contents`(
        className: String
    ) async throws {
        try store(#"{"$class":"\#(className)","PlayMusic":false}"#)
        #expect(defaults[options] == GameOptions(playSound: true, playMusic: false))
        defaults[options].playSound = false
        #expect(defaults[options] == GameOptions(playSound: false, playMusic: false))
        #expect(try json(Self.name)?.contains(#""PlayMusic":false"#) == true)
        #expect(defaults.keys() == [Self.name])
    }

    @Test func `Every kind of read takes missing fields from the key's default`() async throws {
        let read = GameOptions(playSound: true, playMusic: false)
        var changes = defaults.changes(of: options).makeAsyncIterator()
        try store(musicOff)
        #expect(await changes.next()?.newValue == read)
        #expect(try defaults.value(of: options) == read)
        #expect(try defaults.value(of: options, in: .domain) == read)
        let optional = DefaultsKey<GameOptions?>(Self.name, default: GameOptions())
        #expect(defaults[optional] == read)
        defaults.apply { $0[options].playSound = false }
        #expect(defaults[options] == GameOptions(playSound: false, playMusic: false))
        try store(musicOff)
        let updated = try await defaults.update(options) { $0.playSound = false }
        #expect(!updated.playMusic)
        try store(musicOff)
        try await defaults.transaction { $0[options].playSound = false }
        #expect(defaults[options] == GameOptions(playSound: false, playMusic: false))
    }

    @Test func `A value that could not be read is kept when the key is set`() async throws {
        try store(scream)
        var failures = defaults.failures.makeAsyncIterator()
        #expect(defaults[options] == GameOptions())
        #expect(await failures.next()?.action == .read)
        defaults[options].playSound = false
        #expect(defaults[options] == GameOptions(playSound: false))
        #expect(try json(Self.side) == scream)
        let failure = try #require(await failures.next())
        #expect(failure.action == .replace)
        #expect(failure.keys == [Self.name])
        #expect("\(failure.error)".contains("'\(Self.side)'"))
        #expect(!"\(failure.error)".contains("scream"))
        defaults[options].playSound = true
        #expect(defaults.keys() == [Self.name, Self.side])
    }

    @Test
    func `A second unreadable value is kept under a number, and the same one is not`() throws {
        for json in [scream, scream, "1", scream, "1"] {
            try store(json)
            _ = defaults[options]
            defaults.apply { $0[options] = GameOptions() }
        }
        #expect(defaults.keys() == [Self.name, "GameOptions (unreadable 2)", Self.side])
        #expect(try json("GameOptions (unreadable 2)") == "1")
    }

    @Test func `Changes based on an unreadable value are refused`() async throws {
        try store(scream)
        for _ in 0..<2 {
            let error = await #expect(throws: DefaultsError.self) {
                try await defaults.update(options) { $0.playSound = false }
            }
            #expect(error?.code == .undecodable)
            #expect(error?.message.contains("Set the key to replace the value") == true)
        }
        await #expect(throws: DefaultsError.self) {
            try await defaults.transaction { $0[options].playSound = false }
        }
        #expect(try json(Self.name) == scream)
        try await defaults.transaction { $0[options] = GameOptions(playSound: false) }
        #expect(defaults[options] == GameOptions(playSound: false))
        #expect(try json(Self.side) == scream)
    }

    @Test func `A value that nobody has read is replaced, and a removed one is not kept`() throws {
        try store(scream)
        defaults[options] = GameOptions()
        #expect(defaults.keys() == [Self.name])
        try store(scream)
        _ = defaults[options]
        defaults.reset(options)
        #expect(defaults.keys() == [])
    }

    @Test func `The name under which a value is kept is not too long`() throws {
        let name = String(repeating: "ä", count: 512)
        defaults[DefaultsKey(name, default: "")] = "text"
        let number = DefaultsKey(name, default: 0)
        #expect(defaults[number] == 0)
        defaults[number] = 1
        #expect(defaults[number] == 1)
        #expect(defaults.keys().map(\.utf8.count).max() == 1024)
        #expect(defaults.keys().count == 2)
    }

    private struct Refusal: LoggableError {
        let description = "The options are of a later version"
    }

    private struct Quoting: Error, CustomStringConvertible {
        let description = "scream"
    }

    @Test func `An error without a value is quoted, and any other is not`() async throws {
        for (cause, isQuoted): (any Error, Bool) in [(Refusal(), true), (Quoting(), false)] {
            let key = DefaultsKey<Int>(
                Self.name, coding: ValueCoding(encode: { _ in nil }, decode: { _ in throw cause }),
                default: { 0 })
            try store(scream)
            let error = await #expect(throws: DefaultsError.self) {
                try await defaults.update(key) { $0 = 1 }
            }
            let message = try #require(error?.message)
            #expect(message.contains("The options are of a later version. Set") == isQuoted)
            #expect(message.contains("The error is one of Quoting.") == !isQuoted)
            #expect(!message.contains("scream"))
        }
    }

    @Test func `Two long names with the same beginning both keep their values`() throws {
        let names = ["1", "2"].map { String(repeating: "a", count: 1020) + $0 }
        for name in names { defaults[DefaultsKey(name, default: "")] = "text \(name.suffix(1))" }
        let numbers = names.map { DefaultsKey($0, default: 0) }
        for number in numbers { #expect(defaults[number] == 0) }
        defaults.apply { changes in
            for number in numbers { changes[number] = 1 }
        }
        let kept = defaults.keys().filter { $0.contains("(unreadable") }
        #expect(kept.count == 2)
        let values = kept.map { defaults[DefaultsKey($0, default: "")] }
        #expect(Set(values) == ["text 1", "text 2"])
    }

    @Test func `A kept value does not come back under a name that the same change removes`() throws
    {
        try store(scream)
        _ = defaults[options]
        defaults[options] = GameOptions()
        #expect(try json(Self.side) == scream)
        try store("1")
        _ = defaults[options]
        let side = raw(Self.side)
        defaults.apply { changes in
            changes[options] = GameOptions()
            changes.reset(side)
        }
        #expect(defaults.keys() == [Self.name, "GameOptions (unreadable 2)"])
        #expect(try json("GameOptions (unreadable 2)") == "1")
    }

    @Test func `A failure without a listener is one line on standard error`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            let defaults = Defaults.inMemory(domain: "org.example.Game")
            let number = DefaultsKey("Number", default: 0)
            for secret in ["scream", "shout"] {
                defaults[DefaultsKey("Number", default: "")] = secret
                for _ in 0..<3 { _ = defaults[number] }
            }
            defaults[number] = 1
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("defaults: ") }
        #expect(lines.count == 2)
        #expect(lines.first?.contains("'Number' of org.example.Game cannot be read") == true)
        #expect(lines.last?.contains("'Number (unreadable)'") == true)
        #expect(!text.contains("scream") && !text.contains("shout"))
    }
}
