import DefaultsClient
import Observation
import Testing

// The code of the pages of DefaultsClient, so that it compiles with what they import.

enum Difficulty: String {
    case easy, normal, hard
}

struct Player: Codable, Hashable {
    var name: String
    var lives = 3
}

extension AnyDefaultsKey {
    static let playSound = DefaultsKey("PlaySound", default: true)
    static let playMusic = DefaultsKey("PlayMusic", default: true)
    static let volume = DefaultsKey("Volume", default: 0.8)
    static let difficulty = DefaultsKey("Difficulty", default: Difficulty.normal)
    static let recentLevels = DefaultsKey<[String]>("RecentLevels", default: [])
    static let loudness = DefaultsKey("Loudness", default: 8)
    static let showWhatIsNew = DefaultsKey("ShowWhatIsNew", default: false)
    static let highScore = DefaultsKey("HighScore", default: 0)
    static let player = DefaultsKey<Player?>("Player")
}

let defaults = Defaults(domain: "org.example.Game")

private func begin() throws {
    Defaults.standard = Defaults(domain: "org.example.Game")

    let defaults = Defaults.standard
    if defaults[.playSound] { beep() }
    defaults[.difficulty] = .hard
    defaults[.player] = Player(name: "ada")
    defaults[.player]?.lives -= 1
    defaults.reset(.volume)
    try defaults.set(0.3, for: .volume, in: .host)
}

struct Mixer {
    @Default(.playSound) var playSound
    @Default(.volume) var volume

    func mute() {
        playSound = false
    }

    func beAsShipped() {
        $playSound.reset()
        $volume.reset()
    }
}

func follow(_ speaker: Speaker) async {
    for await change in defaults.changes(of: .playSound) where !change.isFromThisProcess {
        speaker.isMuted = !change.newValue
    }
}

struct Listener {
    @Default(.playSound) var playSound

    func follow(_ speaker: Speaker) async {
        for await change in $playSound.changes where !change.isFromThisProcess {
            speaker.isMuted = !change.newValue
        }
    }
}

@Observable final class Options {
    @ObservationIgnored @ObservedDefault(.playSound) var playSound
    @ObservationIgnored @ObservedDefault(.difficulty) var difficulty
    var isShown = false
}

private func change(score: Int) async throws {
    defaults.apply {
        $0[.playSound] = false
        $0[.playMusic] = false
        $0.reset(.volume)
    }
    try await defaults.update(.highScore) { $0 = max($0, score) }
    try await defaults.synchronize()
}

/// What belongs to an actor may be used in a change.
@MainActor final class Score {
    private var points = 0

    func keep() async throws {
        try await defaults.update(.highScore) { $0 = max($0, points) }
        try await defaults.transaction { $0[.highScore] = points }
    }

    func keepLater() {
        Task { try await defaults.update(.highScore) { $0 = max($0, points) } }
    }
}

func migrate() async throws {
    try await defaults.migrate([
        DefaultsMigration(to: 1) { edits in
            try edits.move(.loudness, to: .volume) { Double($0) / 10 }
        }
    ])
}

func tellFailures() async {
    for await failure in defaults.failures where failure.action == .write {
        show("\(failure.keys) could not be changed: \(failure.error)")
    }
}

struct GameOptions: Codable {
    var playSound = true
    var playMusic = true  // since version 2: true for those who have stored version 1
}

extension AnyDefaultsKey {
    static let gameOptions = DefaultsKey("GameOptions", default: GameOptions())
}

struct Game {
    let defaults: Defaults

    var makesNoise: Bool { defaults[.playSound] || defaults[.playMusic] }
}

@Test func `a game without sound and music is silent`() {
    let defaults = Defaults.inMemory(managed: { $0[.playMusic] = false })
    let game = Game(defaults: defaults)
    #expect(game.makesNoise)
    defaults[.playSound] = false
    #expect(!game.makesNoise)
    #expect(defaults.isLocked(.playMusic))
}

private func followState() async {
    for await state in defaults.states {
        switch state {
        case .connecting, .current, .following, .privateDaemon, .inMemory: hideWarning()
        case .unreachable(let reason): showWarning("Options are not kept: \(reason)")
        }
    }
}

final class Speaker: Sendable {
    var isMuted: Bool {
        get { false }
        set {}
    }
}

private func beep() {}
private func show(_ message: String) {}
private func showWarning(_ message: String) {}
private func hideWarning() {}

func told() async throws {
    do {
        try await defaults.transaction { $0[.volume] = 0.5 }
    } catch let error as DefaultsError where error.code == .locked {
        show(error.message)
    }
}

private func elsewhere() -> Defaults {
    Defaults(domain: "org.example.Game", on: .address("unix:path=/run/user/1000/bus"))
}
