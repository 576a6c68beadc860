import DefaultsClient
import Observation
import Synchronization
import Testing

/// Values that tell observers, as user interfaces use them.
@Suite struct ObservedDefaultTests {
    let defaults = Defaults.inMemory()

    @Observable
    final class Options {
        @ObservationIgnored @ObservedDefault var playSound: Bool
        @ObservationIgnored @ObservedDefault var loudness: Int
        var isOpen = false

        init(_ defaults: Defaults) {
            _playSound = ObservedDefault(.playSound, in: defaults)
            _loudness = ObservedDefault(.loudness, in: defaults)
        }
    }

    /// How often the next change of what a closure reads was told.
    private func tellings(of read: () -> Void, during change: () -> Void) -> Int {
        let count = Mutex(0)
        withObservationTracking(read) { count.withLock { $0 += 1 } }
        change()
        return count.withLock { $0 }
    }

    @Test func `A change is reported to each observer that has read the value`() {
        let loudness = ObservedDefault(.loudness, in: defaults)
        #expect(loudness.value == 5)
        #expect(tellings(of: { _ = loudness.value }, during: { defaults[.loudness] = 9 }) == 1)
        #expect(loudness.value == 9)
        #expect(tellings(of: { _ = loudness.value }, during: { loudness.value = 10 }) == 1)
        #expect(defaults[.loudness] == 10)
        #expect(tellings(of: { _ = loudness.value }, during: { defaults[.volume] = 1 }) == 0)
        #expect(tellings(of: { _ = loudness.value }, during: { defaults[.loudness] = 10 }) == 0)
    }

    @Test func `The property of an observable class is observed like its own`() {
        let options = Options(defaults)
        #expect(options.playSound)
        #expect(
            tellings(of: { _ = options.playSound }, during: { defaults[.playSound] = false }) == 1)
        #expect(!options.playSound)
        #expect(
            tellings(of: { _ = options.playSound }, during: { options.playSound = true }) == 1)
        #expect(defaults[.playSound])
        #expect(tellings(of: { _ = options.playSound }, during: { options.loudness = 1 }) == 0)
        #expect(tellings(of: { _ = options.playSound }, during: { options.isOpen = true }) == 0)
    }

    @Test func `An observer that reads several values learns of each`() {
        let options = Options(defaults)
        func read() { _ = (options.playSound, options.loudness) }
        #expect(tellings(of: read, during: { options.loudness = 1 }) == 1)
        #expect(tellings(of: read, during: { options.playSound = false }) == 1)
    }

    @Test func `An observer that writes on each change does not loop`() {
        let loudness = ObservedDefault(.loudness, in: defaults)
        withObservationTracking {
            _ = loudness.value
        } onChange: { [defaults] in
            defaults[.loudness] = 100
        }
        defaults[.loudness] = 9
        #expect(loudness.value == 100)
    }

    @Test func `An observed value is released with its last reference`() {
        weak var gone: ObservedDefault<Int>?
        do {
            let loudness = ObservedDefault(.loudness, in: defaults)
            gone = loudness
            #expect(loudness.value == 5)
        }
        defaults[.loudness] = 9
        #expect(gone == nil)
    }

    @Test
    func `It can be observed as a sequence`() async {
        let loudness = ObservedDefault(.loudness, in: defaults)
        var values = Observations { loudness.value }.makeAsyncIterator()
        #expect(await values.next() == 5)
        defaults[.loudness] = 9
        #expect(await values.next() == 9)
    }
}
