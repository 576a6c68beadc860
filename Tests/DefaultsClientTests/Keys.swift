import DefaultsClient
import Foundation

/// An object with fields, one of which objects of an earlier version do not have.
struct Player: Codable, Hashable {
    var name: String
    var level = 1
    var friends: [String]?
}

enum Theme: String, Codable {
    case light, dark
}

/// Not Codable: stored by its raw value alone.
struct Permissions: OptionSet {
    var rawValue: Int

    static let reading = Permissions(rawValue: 1)
    static let writing = Permissions(rawValue: 2)
}

enum Difficulty: Int, Codable {
    case easy, hard
}

extension AnyDefaultsKey {
    static let playSound = DefaultsKey("PlaySound", default: true)
    static let playMusic = DefaultsKey("PlayMusic", default: true)
    static let volume = DefaultsKey("Volume", default: 0.5)
    static let loudness = DefaultsKey("Loudness", default: 5)
    static let title = DefaultsKey("Title", default: "untitled")
    static let nickname = DefaultsKey<String?>("Nickname")
    static let theme = DefaultsKey("Theme", default: Theme.light)
    static let lastTheme = DefaultsKey<Theme?>("LastTheme")
    static let permissions = DefaultsKey("Permissions", default: Permissions.reading)
    static let lastPermissions = DefaultsKey<Permissions?>("LastPermissions")
    static let difficulty = DefaultsKey("Difficulty", default: Difficulty.easy)
    static let player = DefaultsKey<Player?>("Player")
    static let winner = DefaultsKey("Winner", default: Player(name: "nobody"))
    static let scores = DefaultsKey<[Int]>("Scores", default: [])
    static let players = DefaultsKey<[String: Player]>("Players", default: [:])
    static let tags = DefaultsKey<Set<String>>("Tags", default: [])
    static let icon = DefaultsKey<Data?>("Icon")
    static let opened = DefaultsKey("Opened", default: Date(timeIntervalSinceReferenceDate: 0))
    static let home = DefaultsKey<URL?>("Home")
    static let id = DefaultsKey<UUID?>("ID")
    static let price = DefaultsKey<Decimal?>("Price")
}
