import DefaultsClient
import Observation
import Testing

// The code of the page about tests.

@MainActor @Observable final class PlayerModel {
    @ObservationIgnored @ObservedDefault var player: Player?
    private(set) var problem: String?
    private let defaults: Defaults

    init(defaults: Defaults) {
        self.defaults = defaults
        _player = ObservedDefault(.player, in: defaults)
    }

    func rename(to name: String) async {
        do {
            try await defaults.transaction { $0[.player] = Player(name: name) }
            problem = nil
        } catch {
            problem = "\(error)"
        }
    }
}

@MainActor struct PlayerModelTests {
    @Test func `a new name is stored`() async {
        let defaults = Defaults.inMemory()
        let model = PlayerModel(defaults: defaults)
        await model.rename(to: "ada")
        #expect(model.problem == nil)
        #expect(defaults[.player]?.name == "ada")
    }

    @Test func `a full disk is shown, and the old name stays`() async {
        let full = DefaultsError(.storageFailed, "The disk is full.")
        let defaults = Defaults.inMemory(failing: { $0 == "Player" ? full : nil })
        let model = PlayerModel(defaults: defaults)
        await model.rename(to: "ada")
        #expect(model.problem == "The disk is full.")
        #expect(model.player == nil)
    }

    @Test func `a change that was made elsewhere is observed`() async {
        let defaults = Defaults.inMemory()
        let model = PlayerModel(defaults: defaults)
        await confirmation { isObserved in
            withObservationTracking {
                _ = model.player
            } onChange: {
                isObserved()
            }
            defaults[.player] = Player(name: "ada")
        }
    }
}

@Test func `the stronger layer wins`() {
    let defaults = Defaults.inMemory(
        arguments: ["Game", "-HighScore", "7"],
        managed: { $0[.playMusic] = false },
        system: { $0[.volume] = 0.3 },
        locked: ["Difficulty", "Recent*"])
    defaults.register { $0[.loudness] = 4 }
    #expect(defaults[.highScore] == 7)
    #expect(defaults[.volume] == 0.3 && defaults.layer(of: .volume) == .system)
    #expect(defaults[.loudness] == 4)
    #expect(defaults.isLocked(.playMusic) && defaults.isLocked(.recentLevels))
    defaults[.volume] = 0.9
    #expect(defaults.layer(of: .volume) == .domain)
}

@Test func `a refused change is taken back and reported`() async throws {
    let defaults = Defaults.inMemory(locked: ["Volume"])
    var failures = defaults.failures.makeAsyncIterator()
    defaults[.volume] = 0.1
    let failure = try #require(await failures.next())
    #expect(failure.keys == ["Volume"] && failure.error.code == .locked)
    #expect(defaults[.volume] == 0.8)
}

@Test func `an observer gets each change once`() async {
    let defaults = Defaults.inMemory()
    var changes = defaults.changes(of: .volume).makeAsyncIterator()
    defaults[.volume] = 0.1
    let change = await changes.next()
    #expect(change?.oldValue == 0.8 && change?.newValue == 0.1)
}

struct Banner {
    private(set) var text = ""

    mutating func show(_ failure: DefaultsFailure) {
        text = "\(failure.keys.joined(separator: ", ")): \(failure.error.message)"
    }
}

@Test func `a banner names the keys`() {
    var banner = Banner()
    let locked = DefaultsError(.locked, "The administrator has locked the key.")
    banner.show(
        DefaultsFailure(action: .write, keys: ["Volume"], domain: "org.example.Game", error: locked)
    )
    #expect(banner.text == "Volume: The administrator has locked the key.")
}

@Test func `a property of other defaults`() {
    struct Panel {
        @Default var volume: Double

        init(defaults: Defaults) { _volume = Default(.volume, in: defaults) }
    }
    let defaults = Defaults.inMemory(system: { $0[.volume] = 0.3 })
    #expect(Panel(defaults: defaults).volume == 0.3)
}
