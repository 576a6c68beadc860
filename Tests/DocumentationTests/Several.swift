import DefaultsClient

/// What the comments of several keys, observations, origins and test doubles show.

extension AnyDefaultsKey {
    static let since = DefaultsKey("Since", coding: seconds) { .now }
    static let language = DefaultsKey("Language") { languageOfTheSession() }
    static let count = DefaultsKey("Count", coding: .converting(), default: 0)
}

private let seconds = ValueCoding<ContinuousClock.Instant>(
    encode: { _ in nil }, decode: { _ in .now })

private func languageOfTheSession() -> String { "en" }

private func onMainLoop(_ body: @escaping @Sendable () -> Void) { body() }

private final class Slider: @unchecked Sendable {
    var value = 0.0

    func setValue(_ value: Double) { self.value = value }
}

private struct Window {
    func show(volume: Double) {}
}

private final class Several {
    let defaults = Defaults.inMemory()
    let slider = Slider()
    let window = Window()
    var observation: DefaultsObservation?
    var mixer = (isMuted: false, volume: 1.0)

    func start() async {
        await defaults.load()
        window.show(volume: defaults[.volume])
    }

    func observe() {
        let slider = slider
        observation = defaults.observe(.volume) { change in
            onMainLoop { slider.setValue(change.newValue) }
        }
    }

    func follow() async {
        for await change in defaults.changes(of: [.playSound, .playMusic]) { print(change.key) }
        for await (sound, music) in defaults.values(of: .playSound, .playMusic) {
            mixer.isMuted = !sound && !music
        }
    }

    func followOthers() async {
        let origin = DefaultsOrigin()
        let defaults = Defaults.standard.from(origin)
        defaults[.volume] = 0.3
        for await change in defaults.changes(of: .volume) where change.origin != origin {
            slider.value = change.newValue
        }
    }

    func fail() {
        let full = DefaultsError(.storageFailed, "The disk is full.")
        let defaults = Defaults.inMemory(failing: { $0 == "Player" ? full : nil })
        _ = defaults
    }
}
