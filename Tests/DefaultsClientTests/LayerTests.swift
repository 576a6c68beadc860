import DefaultsClient
import Testing

/// Where values come from.
@Suite struct LayerTests {
    @Test func `The administrator's value has priority over the user's, and is locked`() throws {
        let defaults = Defaults.inMemory(managed: { $0[.loudness] = 3 })
        #expect(defaults[.loudness] == 3)
        #expect(defaults.layer(of: .loudness) == .managed)
        #expect(defaults.isLocked(.loudness))
        #expect(!defaults.isLocked(.volume))
        let error = #expect(throws: DefaultsError.self) { try defaults.set(9, for: .loudness) }
        #expect(error?.code == .locked)
        #expect(defaults[.loudness] == 3)
        #expect(!defaults.isSet(.loudness))
        #expect(defaults.isSet(.loudness, in: .managed))
    }

    @Test(arguments: [("Loudness", true), ("Loud*", true), ("*", true), ("Quiet*", false)])
    func `Keys are locked without a value, alone and by a prefix`(lock: String, isLocked: Bool) {
        let defaults = Defaults.inMemory(locked: [lock])
        #expect(defaults.isLocked(.loudness) == isLocked)
        defaults[.loudness] = 9
        #expect(defaults[.loudness] == (isLocked ? 5 : 9))
    }

    @Test func `The vendor's value is effective until the user sets one`() {
        let defaults = Defaults.inMemory(system: { $0[.loudness] = 3 })
        #expect(defaults[.loudness] == 3)
        #expect(defaults.layer(of: .loudness) == .system)
        #expect(!defaults.isLocked(.loudness))
        defaults[.loudness] = 9
        #expect(defaults[.loudness] == 9)
        defaults.reset(.loudness)
        #expect(defaults[.loudness] == 3)
    }

    @Test func `The user's layers come in their order`() throws {
        let defaults = Defaults.inMemory()
        let layers: [DefaultsLayer] = [.global, .globalHost, .domain, .host]
        for (number, layer) in layers.enumerated() {
            try defaults.set(number, for: .loudness, in: layer)
            #expect(defaults[.loudness] == number)
            #expect(defaults.layer(of: .loudness) == layer)
        }
        for (number, layer) in layers.enumerated().reversed() {
            #expect(defaults[.loudness] == number)
            #expect(try defaults.value(of: .loudness, in: layer) == number)
            defaults.reset(.loudness, in: layer)
            #expect(try defaults.value(of: .loudness, in: layer) == nil)
        }
        #expect(defaults[.loudness] == 5)
        #expect(defaults.layer(of: .loudness) == nil)
    }

    @Test(arguments: [
        DefaultsLayer.managed, .system, .arguments, .registered, .globalManaged, .globalSystem,
    ])
    func `Other layers cannot be written`(_ layer: DefaultsLayer) {
        let defaults = Defaults.inMemory()
        let error = #expect(throws: DefaultsError.self) {
            try defaults.set(1, for: .loudness, in: layer)
        }
        #expect(error?.code == .notWritable)
    }

    // MARK: The command line

    @Test(arguments: [
        ("NO", false), ("no", false), ("false", false), ("0", false),
        ("YES", true), ("true", true), ("1", true),
    ])
    func `A boolean on the command line counts for this run`(word: String, expected: Bool) throws {
        let defaults = Defaults.inMemory(arguments: ["game", "-PlaySound", word])
        #expect(try defaults.value(of: .playSound) == expected)
        #expect(defaults.layer(of: .playSound) == .arguments)
        #expect(!defaults.isSet(.playSound))
        // It is set for the runs after this one.
        defaults[.playSound] = !expected
        #expect(defaults[.playSound] == expected)
        #expect(defaults.isSet(.playSound))
    }

    @Test func `Words of the command line are converted to the key's type`() {
        let defaults = Defaults.inMemory(arguments: [
            "game", "-Loudness", "-11", "-Volume", "0.75", "-Title", "12", "-Theme", "dark",
            "-Scores", "[1, 2]", "-Nickname", "YES", "-Winner", #"{"name": "ada", "level": 3}"#,
            "file",
        ])
        #expect(defaults[.loudness] == -11)
        #expect(defaults[.volume] == 0.75)
        #expect(defaults[.title] == "12")
        #expect(defaults[.theme] == .dark)
        #expect(defaults[.scores] == [1, 2])
        #expect(defaults[.nickname] == "YES")
        #expect(defaults[.winner] == Player(name: "ada", level: 3))
    }

    @Test func `A list on the command line may be in the old style`() {
        let defaults = Defaults.inMemory(arguments: [
            "game", "-Names", "(ada, \"b c\")", "-Ages", "{ada = 36; b = 1;}", "-Scores", "[1, 2]",
        ])
        #expect(defaults[DefaultsKey("Names", default: [String]())] == ["ada", "b c"])
        #expect(
            defaults[DefaultsKey("Ages", default: [String: String]())] == ["ada": "36", "b": "1"])
        #expect(defaults[.scores] == [1, 2])
        #expect(defaults[DefaultsKey("Names", default: "")] == "(ada, \"b c\")")
    }

    @Test func `Options of other kinds, and words after two hyphens, set nothing`() {
        let defaults = Defaults.inMemory(arguments: [
            "game", "--Loudness", "1", "-Volume", "-Title", "x", "--", "-PlaySound", "NO",
        ])
        #expect(defaults[.loudness] == 5)
        #expect(defaults[.volume] == 0.5)
        #expect(defaults[.title] == "x")
        #expect(defaults[.playSound])
        #expect(defaults.keys(in: .arguments) == ["Title"])
    }

    @Test func `A word that is not a value of the type is reported, and the default is used`()
        async throws
    {
        let defaults = Defaults.inMemory(arguments: ["game", "-Loudness", "much"])
        var failures = defaults.failures.makeAsyncIterator()
        #expect(defaults[.loudness] == 5)
        let failure = try #require(await failures.next())
        #expect(failure.action == .read)
        #expect(failure.keys == ["Loudness"])
        #expect(failure.error.code == .undecodable)
        #expect(!"\(failure.error)".contains("much"))
    }

    @Test func `The administrator's value has priority over the command line`() {
        let defaults = Defaults.inMemory(
            arguments: ["game", "-Loudness", "1"], managed: { $0[.loudness] = 3 })
        #expect(defaults[.loudness] == 3)
    }

    // MARK: What is registered

    @Test func `A registered value is effective if there is no other`() {
        let defaults = Defaults.inMemory()
        defaults.register {
            $0[.loudness] = 3
            $0[.nickname] = "ada"
        }
        #expect(defaults[.loudness] == 3)
        #expect(defaults.layer(of: .loudness) == .registered)
        #expect(!defaults.isSet(.loudness))
        #expect(defaults.keys(in: .registered) == ["Loudness", "Nickname"])
        #expect(defaults.keys() == ["Loudness", "Nickname"])
        defaults[.loudness] = 9
        #expect(defaults[.loudness] == 9)
        defaults.reset(.loudness)
        #expect(defaults[.loudness] == 3)
        defaults.register { $0[.loudness] = 4 }
        #expect(defaults[.loudness] == 4)
        #expect(defaults[.nickname] == "ada")
    }

    @Test func `The domain of all applications has no layers above itself`() throws {
        let defaults = Defaults.inMemory(domain: "NSGlobalDomain")
        defaults[.loudness] = 9
        #expect(defaults.layer(of: .loudness) == .domain)
        try defaults.set(8, for: .loudness, in: .global)
        #expect(defaults[.loudness] == 8)
        #expect(defaults.layer(of: .loudness) == .domain)
    }
}
