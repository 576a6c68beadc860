import DefaultsClient

/// What the player has chosen, stored as one object.
struct GameOptions: Codable, Hashable {
    var playSound = true
    var playMusic = true

    enum CodingKeys: String, CodingKey {
        case playSound = "PlaySound"
        case playMusic = "PlayMusic"
    }
}

extension GameOptions {
    /// The options of the whole program, read when they are first used.
    ///
    /// Whatever shows them is told when they change, here or in another process.
    static let shared = ObservedDefault(.gameOptions, in: Defaults(domain: "org.example.Game"))
}

extension DefaultsKeys {
    static let gameOptions = DefaultsKey("GameOptions", default: GameOptions())
}
