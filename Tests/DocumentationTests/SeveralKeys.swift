import DefaultsClient
import Testing

// The code of the page about several keys, so that it compiles, and tests of what the page says.

/// What a C library of a toolkit declares.
private func g_idle_add(
    _ function: @convention(c) (UnsafeMutableRawPointer?) -> Int32, _ data: UnsafeMutableRawPointer?
) -> UInt32 {
    UInt32(function(data))
}

/// What the application's file in C++ declares.
private func callOnQtThread(
    _ function: @convention(c) (UnsafeMutableRawPointer?) -> Void, _ data: UnsafeMutableRawPointer?
) {
    function(data)
}

private struct GTK {
    func onMainLoop(_ body: @escaping @MainActor @Sendable () -> Void) {
        let job = Unmanaged.passRetained(Job(body))
        _ = g_idle_add(
            { data in
                if let data { Unmanaged<Job>.fromOpaque(data).takeRetainedValue().run() }
                return 0  // G_SOURCE_REMOVE: call it once
            }, job.toOpaque())
    }
}

private struct Qt {
    func onMainLoop(_ body: @escaping @MainActor @Sendable () -> Void) {
        let job = Unmanaged.passRetained(Job(body))
        callOnQtThread(
            { data in
                if let data { Unmanaged<Job>.fromOpaque(data).takeRetainedValue().run() }
            }, job.toOpaque())
    }
}

final class Job: Sendable {
    private let body: @MainActor @Sendable () -> Void

    init(_ body: @escaping @MainActor @Sendable () -> Void) { self.body = body }

    func run() { MainActor.assumeIsolated { body() } }
}

@MainActor protocol VolumeControl: AnyObject {
    func setValue(_ value: Double)
}

@MainActor final class VolumePanel {
    private let slider: any VolumeControl
    private let defaults: Defaults
    private let origin = DefaultsOrigin()
    private var observation: DefaultsObservation?

    init(_ slider: any VolumeControl, of defaults: Defaults) {
        self.slider = slider
        self.defaults = defaults.from(origin)
        observation = defaults.observe(.volume) { [weak self, origin] change in
            guard change.origin != origin else { return }
            onMainLoop { self?.slider.setValue(change.newValue) }
        }
        slider.setValue(defaults[.volume])
    }

    func sliderHasMoved(to value: Double) {
        defaults[.volume] = value
    }
}

private func onMainLoop(_ body: @escaping @MainActor @Sendable () -> Void) {
    MainActor.assumeIsolated { body() }
}

struct SeveralKeysTests {
    private let defaults = Defaults.inMemory()
    private let mixer = Mute()

    private final class Mute {
        var isMuted = false
    }

    @MainActor private final class Recorder: VolumeControl {
        var values: [Double] = []

        func setValue(_ value: Double) { values.append(value) }
    }

    @Test @MainActor func `A panel shows the changes of others, and not its own`() {
        let recorder = Recorder()
        let panel = VolumePanel(recorder, of: defaults)
        panel.sliderHasMoved(to: 0.1)
        defaults[.volume] = 0.2
        #expect(recorder.values == [0.8, 0.2])
    }

    @Test @MainActor func `A toolkit calls a closure that was passed to its loop`() {
        let recorder = Recorder()
        GTK().onMainLoop { recorder.setValue(1) }
        Qt().onMainLoop { recorder.setValue(2) }
        #expect(recorder.values == [1, 2])
    }

    @Test func `Keys that are reset together change together`() async throws {
        defaults.apply {
            $0[.playSound] = false
            $0[.playMusic] = $0[.playSound]
            $0.reset(.volume)
        }
        #expect(!defaults[.playMusic])
        try await defaults.transaction {
            $0[.playSound] = true
            $0[.playMusic] = true
        }
        defaults.reset(.playSound, .playMusic)
        defaults[.volume] = 0.5
        #expect(defaults.keys(in: .domain) == ["Volume"])
        defaults.resetAll()
        #expect(defaults.keys(in: .domain).isEmpty)
    }

    @Test func `The values of several keys come together`() async {
        for await (sound, music) in defaults.values(of: .playSound, .playMusic) {
            mixer.isMuted = !sound && !music
            break
        }
        #expect(!mixer.isMuted)
    }

    private func follow() async {
        for await change in defaults.changes(of: [.playSound, .playMusic, .volume]) {
            if let volume = change.values(of: .volume) { print(volume.newValue) }
        }
    }
}
