import DefaultsClient
import Foundation
import KeyedArchive
import Synchronization
import Testing

/// A key of a type, a value of it, and how the database has that.
private struct Sample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Whether the key reads its default first, then what was set, then its default again.
    let isKept: @Sendable (Defaults) -> Bool
    let json: @Sendable (Defaults) throws -> String?
    let expected: String

    init<Value: Equatable & Sendable>(
        _ name: String, _ key: DefaultsKey<Value>, _ value: Value, _ expected: String
    ) {
        testDescription = name
        self.expected = expected
        isKept = { defaults in
            let first = defaults[key]
            defaults[key] = value
            let second = defaults[key]
            defaults.reset(key)
            return first == key.defaultValue && second == value && defaults[key] == first
                && first != second
        }
        json = { defaults in
            defaults[key] = value
            return try defaults.storedJSON(of: key)
        }
    }
}

extension AnyDefaultsKey {
    /// What is stored under another key.
    static func raw(_ key: AnyDefaultsKey) -> DefaultsKey<KeyedArchive?> {
        DefaultsKey(
            key.name, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: nil)
    }
}

extension Defaults {
    /// What is stored under a key, as `defaultsctl` shows it.
    func storedJSON(of key: AnyDefaultsKey) throws -> String? {
        try self[.raw(key)].map { String(decoding: try $0.json(), as: UTF8.self) }
    }
}

private let samples = [
    Sample("a boolean", .playSound, false, "false"),
    Sample("an integer", .loudness, -7, "-7"),
    Sample("a real", .volume, 0.25, "0.25"),
    Sample("a string", .title, "é", #""é""#),
    Sample("an optional", .nickname, "ada", #""ada""#),
    Sample("an enumeration of strings", .theme, .dark, #""dark""#),
    Sample("an optional enumeration", .lastTheme, .dark, #""dark""#),
    Sample("an enumeration of integers", .difficulty, .hard, "1"),
    Sample("a set of options", .permissions, [.reading, .writing], "3"),
    Sample("an optional set of options", .lastPermissions, .writing, "2"),
    Sample(
        "an object", .winner, Player(name: "ada", level: 3, friends: ["bob"]),
        #"{"$class":"Player","friends":["bob"],"level":3,"name":"ada"}"#),
    Sample(
        "an optional object", .player, Player(name: "ada"),
        #"{"$class":"Player","friends":null,"level":1,"name":"ada"}"#),
    Sample("an array", .scores, [3, 1, 2], "[3,1,2]"),
    Sample(
        "a dictionary", .players, ["a": Player(name: "ada")],
        #"{"a":{"$class":"Player","friends":null,"level":1,"name":"ada"}}"#),
    Sample("a set", .tags, ["b", "a"], #"{"$class":"NSSet","NS.objects":["a","b"]}"#),
    Sample("data", .icon, Data([0, 1, 0xFF]), #"{"$data":"AAH/"}"#),
    Sample(
        "a date", .opened, Date(timeIntervalSinceReferenceDate: 725_760_000.25),
        #"{"$class":"NSDate","NS.time":725760000.25}"#),
    Sample(
        "a URL", .home, URL(string: "https://example.org/a?b#c"),
        #"{"$class":"NSURL","NS.base":null,"NS.relative":"https://example.org/a?b#c"}"#),
    Sample(
        "a UUID", .id, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        #"{"$class":"NSUUID","NS.uuidbytes":{"$bytes":"AQIDBAUGBwgJCgsMDQ4PEA=="}}"#),
]

@Suite struct KeyTests {
    let defaults = Defaults.inMemory()

    @Test(arguments: samples)
    private func `A key reads its default, what was set, and its default again`(_ sample: Sample) {
        #expect(sample.isKept(defaults))
    }

    @Test(arguments: samples)
    private func `A value is stored as what it is`(_ sample: Sample) throws {
        #expect(try sample.json(defaults) == sample.expected)
    }

    @Test
    func `A URL that was typed in a shell is a URL, and an invalid one is the default`() throws {
        func store(_ json: String) throws {
            defaults[.raw(.home)] = try KeyedArchive(json: json)
        }
        try store(#""https://example.org/a?b#c""#)
        #expect(defaults[.home] == URL(string: "https://example.org/a?b#c"))
        try store("\"/srv/music\"")
        #expect(defaults[.home]?.path == "/srv/music")
        try store("\"\"")
        #expect(defaults[.home] == nil)
        try store("7")
        #expect(defaults[.home] == nil)
        // A UUID has always been read from its text.
        defaults[.raw(.id)] = try KeyedArchive(json: "\"01020304-0506-0708-090A-0B0C0D0E0F10\"")
        #expect(defaults[.id]?.uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
    }

    @Test func `A decimal number keeps all its digits`() throws {
        let price = try #require(Decimal(string: "12345678901234567890.0123456789"))
        defaults[.price] = price
        #expect(defaults[.price] == price)
        let json = try defaults.storedJSON(of: .price)
        #expect(json?.hasPrefix(#"{"$class":"Decimal","exponent":-10,"#) == true)
    }

    @Test func `Nil removes the value`() {
        defaults[.nickname] = "ada"
        #expect(defaults.isSet(.nickname))
        defaults[.nickname] = nil
        #expect(!defaults.isSet(.nickname))
        #expect(defaults.keys(in: .domain) == [])
    }

    @Test func `A constant default is evaluated once, when it is needed`() {
        let count = Mutex(0)
        @Sendable func made() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
        let key = DefaultsKey("Number", default: made())
        #expect(count.withLock { $0 } == 0)
        let defaults = Defaults.inMemory()
        let read: [Int] = [defaults[key], defaults[key], key.defaultValue]
        #expect(read == [1, 1, 1])
        defaults[key] = 7
        #expect(defaults[key] == 7)
        defaults.reset(key)
        #expect(defaults[key] == 1)
    }

    @Test func `A closure makes the default each time that it is needed`() {
        let count = Mutex(0)
        let key = DefaultsKey("Number") {
            count.withLock { count in
                count += 1
                return count
            }
        }
        #expect(count.withLock { $0 } == 0)
        let defaults = Defaults.inMemory()
        let read: [Int] = [defaults[key], defaults[key], key.defaultValue]
        #expect(read == [1, 2, 3])
        defaults[key] = 7
        #expect(defaults[key] == 7)
        #expect(count.withLock { $0 } == 3)
        defaults.reset(key)
        #expect(defaults[key] == 4)
    }

    @Test func `A missing field comes from the closure at each read`() throws {
        let count = Mutex(0)
        let key = DefaultsKey("Player") {
            count.withLock { count in
                count += 1
                return Player(name: "ada", level: count)
            }
        }
        let defaults = Defaults.inMemory()
        defaults[.raw(key)] = try KeyedArchive(json: #"{"$class":"Player","name":"eve"}"#)
        let first: [Int] = [defaults[key].level, defaults[key].level]
        #expect(first == [1, 2])
        defaults[key] = Player(name: "bob", level: 9)
        let second: [Int] = [defaults[key].level, defaults[key].level]
        #expect(second == [9, 9])
    }

    @Test func `A default may read other defaults`() {
        let defaults = Defaults.inMemory()
        let key = DefaultsKey("Number") { defaults[.loudness] * 2 }
        #expect(defaults[key] == 10)
        defaults[.loudness] = 6
        #expect(defaults[key] == 12)
    }

    @Test func `Keys are equal by their name and type`() {
        let keys: Set<AnyDefaultsKey> = [
            .loudness, DefaultsKey("Loudness", default: 0), DefaultsKey("Loudness", default: ""),
            .volume,
        ]
        #expect(keys.count == 3)
        #expect(keys.contains(.loudness) && !keys.contains(.title))
    }

    @Test func `A value that equals the default is the default value`() {
        let defaults = Defaults.inMemory(system: { $0[.volume] = 0.25 })
        #expect(defaults.isDefaultValue(.loudness))
        #expect(!defaults.isDefaultValue(.volume))
        defaults[.loudness] = 5
        defaults[.volume] = 0.5
        #expect(defaults.isDefaultValue(.loudness) && defaults.isDefaultValue(.volume))
        defaults[.loudness] = 6
        #expect(!defaults.isDefaultValue(.loudness))
        #expect(defaults.isDefaultValue(.winner))
    }

    @Test func `Two keys of one name read the same value, each as its type`() {
        defaults[.loudness] = 11
        let asReal = DefaultsKey("Loudness", default: 0.0)
        for _ in 0..<2 {
            #expect(defaults[.loudness] == 11)
            #expect(defaults[asReal] == 11)
        }
    }

    @Test func `An object without a field of a later version is read`() throws {
        let old = try KeyedArchive(json: #"{"$class":"Player","name":"ada","level":2}"#)
        defaults[.raw(.player)] = old
        #expect(defaults[.player] == Player(name: "ada", level: 2))
    }

    @Test func `A property wrapper reads and writes its key`() {
        struct Game {
            @Default var playSound: Bool

            init(_ defaults: Defaults) {
                _playSound = Default(.playSound, in: defaults)
            }
        }
        let game = Game(defaults)
        #expect(game.playSound)
        game.playSound = false
        #expect(!defaults[.playSound])
        #expect(game.$playSound.isSet)
        #expect(game.$playSound.layer == .domain)
        game.$playSound.reset()
        #expect(game.playSound)
        #expect(!game.$playSound.isLocked)
    }

    @Test func `Defaults in memory are independent of each other`() {
        defaults[.loudness] = 11
        #expect(Defaults.inMemory()[.loudness] == 5)
    }
}

/// Keys that also read values of other types, as UserDefaults do.
@Suite struct ConvertingKeyTests {
    private static let stored: [DefaultsValue] = [
        "YES", " yes", "t", "2nd", "NO", "false", "0", "maybe", "12", " -12.75e1 px", "3e", "+",
        "100000000000000000000", true, false, 0, 7, 2.5, -2.5, 1e300, ["a"],
    ]

    /// What a key reads; nil if it reads its default.
    private func reads<Value: Equatable & Sendable>(_ coding: ValueCoding<Value>, _ none: Value)
        -> [Value?]
    {
        Self.stored.map { value in
            let defaults = Defaults.inMemory()
            defaults[DefaultsKey("Value", default: DefaultsValue.bool(true))] = value
            let key = DefaultsKey("Value", coding: coding, default: none)
            return try? defaults.value(of: key)
        }
    }

    @Test func `Text and numbers are read as booleans`() {
        #expect(
            reads(.converting(), false) == [
                true, true, true, true, false, false, false, nil, true, nil, true, nil, true, true,
                false, false, true, true, true, true, nil,
            ])
    }

    @Test func `Text and numbers are read as integers`() {
        #expect(
            reads(.converting(), 5) == [
                nil, nil, nil, 2, nil, nil, 0, nil, 12, -12, 3, nil, nil, 1, 0, 0, 7, 2, -2, nil,
                nil,
            ])
    }

    @Test func `Text and numbers are read as reals`() {
        #expect(
            reads(.converting(), 5.0) == [
                nil, nil, nil, 2, nil, nil, 0, nil, 12, -127.5, 3, nil, 1e20,
                1, 0, 0, 7, 2.5, -2.5, 1e300, nil,
            ])
    }

    @Test func `Numbers are read as text, and a new value has the type of its key`() throws {
        #expect(
            reads(.converting(), "").suffix(8) == [
                "1", "0", "0", "7", "2.5", "-2.5", "1e+300", nil,
            ])
        let key = DefaultsKey("Count", coding: .converting(), default: 0)
        #expect(Defaults.inMemory(arguments: ["game", "-Count", "12"])[key] == 12)
        let defaults = Defaults.inMemory()
        defaults[key] = 3
        #expect(try defaults.storedJSON(of: key) == "3")
    }
}
