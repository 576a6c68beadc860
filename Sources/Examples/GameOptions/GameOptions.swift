import DefaultsClient
import DefaultsFoundation
import ExampleSupport
import KeyedArchive

/// What the player has chosen, stored as one object.
struct GameOptions: Codable, Hashable {
    var playSound = true
    var playMusic = true

    enum CodingKeys: String, CodingKey {
        case playSound = "PlaySound"
        case playMusic = "PlayMusic"
    }
}

extension AnyDefaultsKey {
    /// The options; a field that a stored object lacks is as it is here.
    ///
    /// The first version of the game called the class `Options`. Its objects are read too: the name of
    /// the class does not matter for a structure.
    static let gameOptions = DefaultsKey("GameOptions", default: GameOptions())
}

extension GameOptions {
    /// The options of the whole program, read when they are first used.
    ///
    /// Views that show them are updated when they change, here or in another process.
    static let shared = ObservedDefault(.gameOptions, in: Defaults(domain: "org.example.Game"))

    /// Changes the options, and returns when they are stored.
    ///
    /// - Throws: Why they were not: the administrator has locked them, there is no service, or what
    ///   is stored cannot be read, and is not overwritten.
    @MainActor static func save(_ change: (inout GameOptions) -> Void) async throws {
        try shared.defaults.requireService()
        // If it cannot be read, this says more than the update would.
        _ = try shared.defaults.value(of: .gameOptions)
        try await shared.defaults.update(.gameOptions, change)
    }

    /// What the first version of the game called the class.
    private static let firstClassName = "Options"

    /// Replaces the options by those of a file.
    ///
    /// An object that lacks one of them has another class, so here no field has a default.
    @MainActor static func load(from path: String) async throws {
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(GameOptions.self, forClassName: firstClassName)
        let loaded = try ExampleSupport.load("the options of a game", from: path) {
            try decoder.decode(GameOptions.self, from: $0)
        }
        try await save { $0 = loaded }
    }

    /// Writes the options into a file that the first version of the game reads, too.
    @MainActor static func write(to path: String) throws {
        try shared.defaults.requireService()
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName(firstClassName, for: GameOptions.self)
        let archive = try encoder.encode(shared.defaults.value(of: .gameOptions))
        try ExampleSupport.write(archive.data, to: path)
    }
}
