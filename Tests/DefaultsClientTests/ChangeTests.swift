import DefaultsClient
import Synchronization
import Testing

/// Changes as sequences.
@Suite struct ChangeTests {
    let defaults = Defaults.inMemory()

    @Test func `A change is reported with the old value and its origin`() async {
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        defaults[.volume] = 1
        defaults[.loudness] = 9
        #expect(Told(await changes.next()) == Told(5, 9))
        defaults.reset(.loudness)
        #expect(Told(await changes.next()) == Told(9, 5))
    }

    @Test func `Setting the current value is not a change`() async {
        defaults[.loudness] = 5
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        defaults[.loudness] = 5
        defaults[.loudness] = 6
        #expect(Told(await changes.next()) == Told(5, 6))
    }

    @Test func `A change that leaves the value the same is not reported`() async throws {
        let (decodings, decoding) = AsyncStream.makeStream(of: Void.self)
        let plain = ValueCoding<Int>.codable()
        let coding = ValueCoding<Int>(
            encode: plain.encode,
            decode: { archive in
                decoding.yield()
                return try plain.decode(archive)
            })
        let key = DefaultsKey("Loudness", coding: coding, default: { 5 })
        let changes = defaults.changes(of: key)
        let values = defaults.values(of: .loudness)
        // The user sets what is the default.
        defaults[key] = 5
        let change = Task { await changes.first { _ in true } }
        // Now the consumer has seen the change of 5 to 5.
        for await _ in decodings { break }
        try defaults.set(6, for: key, in: .host)
        #expect(Told(await change.value) == Told(5, 6))
        #expect(await values.first { _ in true } == 6)
    }

    @Test
    func
        `There is no old value if it was of another type, and readers of the default see no change`()
        async
    {
        let text = DefaultsKey<String?>("Loudness")
        defaults[text] = "loud"
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        // Both are read as the default.
        defaults[text] = "louder"
        defaults[.loudness] = 9
        #expect(Told(await changes.next()) == Told(nil, 9))
        defaults[text] = "loud"
        #expect(Told(await changes.next()) == Told(9, 5))
        // The default of a key whose value is not of its type.
        defaults[.loudness] = 5
        defaults[.loudness] = 6
        #expect(Told(await changes.next()) == Told(nil, 6))
    }

    @Test func `A slow consumer gets the newest value, and the one that it saw last`() async {
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        for loudness in 10...1000 { defaults[.loudness] = loudness }
        #expect(Told(await changes.next()) == Told(5, 1000))
        // There and back again is no change.
        defaults[.loudness] = 7
        defaults[.loudness] = 1000
        defaults[.loudness] = 8
        #expect(Told(await changes.next()) == Told(1000, 8))
    }

    @Test func `A consumer that sets the value it received gets nothing more`() async {
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        defaults[.loudness] = 9
        let change = await changes.next()
        defaults[.loudness] = change?.newValue ?? 0
        defaults[.loudness] = 1
        #expect(Told(await changes.next()) == Told(9, 1))
    }

    @Test func `A change hidden by another layer is not reported`() async throws {
        try defaults.set(1, for: .loudness, in: .host)
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        defaults[.loudness] = 9
        defaults.reset(.loudness, in: .host)
        #expect(Told(await changes.next()) == Told(1, 9))
    }

    @Test func `Registering a value is a change if the value becomes effective`() async {
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        defaults.register { $0[.loudness] = 3 }
        #expect(await changes.next()?.newValue == 3)
    }

    @Test func `The values begin with the current one`() async {
        var values = defaults.values(of: .loudness).makeAsyncIterator()
        #expect(await values.next() == 5)
        defaults[.loudness] = 6
        #expect(await values.next() == 6)
        defaults.reset(.loudness)
        #expect(await values.next() == 5)
    }

    @Test func `The changes of a domain are reported key by key, each as its key has it`() async {
        var changes = defaults.changes().makeAsyncIterator()
        defaults.apply {
            $0[.loudness] = 9
            $0[.title] = "x"
        }
        var loudness: ValueChange<Int>?
        var title: ValueChange<String>?
        for _ in 0..<2 {
            guard let change = await changes.next() else { break }
            #expect(change.isFromThisProcess)
            #expect(change.layer == .domain)
            loudness = loudness ?? change.values(of: .loudness)
            title = title ?? change.values(of: .title)
        }
        #expect(Told(loudness) == Told(5, 9))
        #expect(Told(title) == Told("untitled", "x"))
        defaults.reset(.title)
        let last = await changes.next()
        #expect(last?.key == "Title")
        #expect(last?.layer == nil)
    }

    @Test func `The changes of several keys are reported, and no others`() async {
        var changes = defaults.changes(of: [.loudness, .volume]).makeAsyncIterator()
        defaults[.title] = "x"
        defaults[.loudness] = 9
        defaults[.theme] = .dark
        defaults[.volume] = 1
        #expect(await changes.next()?.key == "Loudness")
        #expect(await changes.next()?.values(of: .volume)?.newValue == 1)
    }

    @Test func `The values of several keys come with each change of one of them`() async throws {
        var values = defaults.values(of: .loudness, .volume, .title).makeAsyncIterator()
        #expect(try #require(await values.next()) == (5, 0.5, "untitled"))
        // For readers this is no change.
        defaults[.loudness] = 5
        defaults[.theme] = .dark
        defaults.apply {
            $0[.volume] = 1
            $0[.title] = "x"
        }
        #expect(try #require(await values.next()) == (5, 1, "x"))
        defaults[.loudness] = 6
        #expect(try #require(await values.next()) == (6, 1, "x"))
    }

    @Test func `An observation calls for each change until it ends`() {
        let seen = Mutex<[Int]>([])
        let observation = defaults.observe(.loudness) { change in
            seen.withLock { $0.append(change.newValue) }
        }
        defaults[.loudness] = 5
        defaults[.loudness] = 6
        defaults[.volume] = 1
        defaults[.loudness] = 7
        #expect(seen.withLock { $0 } == [6, 7])
        observation.cancel()
        defaults[.loudness] = 8
        #expect(seen.withLock { $0 } == [6, 7])
        do {
            let other = defaults.observe(.loudness) { _ in seen.withLock { $0.append(0) } }
            defaults[.loudness] = 9
            withExtendedLifetime(other) {}
        }
        defaults[.loudness] = 10
        #expect(seen.withLock { $0 } == [6, 7, 0])
    }

    @Test func `A closure of an observation may change the value, and its calls do not overlap`() {
        let seen = Mutex<[Int]>([])
        let isCalled = Mutex(false)
        let observation = defaults.observe(.loudness) { [defaults] change in
            let overlaps = isCalled.withLock { isCalled in
                defer { isCalled = true }
                return isCalled
            }
            #expect(!overlaps)
            if change.newValue < 10 { defaults[.loudness] = change.newValue + 1 }
            seen.withLock { $0.append(change.newValue) }
            isCalled.withLock { $0 = false }
        }
        defaults[.loudness] = 7
        #expect(seen.withLock { $0 } == [7, 8, 9, 10])
        withExtendedLifetime(observation) {}
    }

    @Test func `A change from nothing to nothing is none, also of a type that is not Equatable`() {
        struct Plain: Codable {
            var number: Int
        }
        let key = DefaultsKey<Plain?>("Plain")
        #expect(defaults.isDefaultValue(key))
        let seen = Mutex(0)
        let observation = defaults.observe(key) { _ in seen.withLock { $0 += 1 } }
        defaults[DefaultsKey("Plain", default: 0)] = 1
        defaults[DefaultsKey("Plain", default: "")] = "x"
        defaults.reset(key)
        #expect(seen.withLock { $0 } == 0)
        withExtendedLifetime(observation) {}
    }

    @Test func `A part of a program recognises its own changes`() async {
        let (one, other) = (DefaultsOrigin(), DefaultsOrigin())
        #expect(one != other)
        var changes = defaults.changes(of: .loudness).makeAsyncIterator()
        defaults.from(one)[.loudness] = 6
        #expect(await changes.next()?.origin == one)
        defaults.from(other).apply { $0[.loudness] = 7 }
        #expect(await changes.next()?.origin == other)
        defaults.from(one).reset(.loudness)
        #expect(await changes.next()?.origin == one)
        defaults[.loudness] = 8
        let change = await changes.next()
        #expect(change?.isFromThisProcess == true && change?.origin == nil)
    }

    @Test func `Each consumer gets every change`() async {
        var first = defaults.values(of: .loudness).makeAsyncIterator()
        var second = defaults.changes(of: .loudness).makeAsyncIterator()
        defaults[.loudness] = 9
        #expect(await second.next()?.newValue == 9)
        #expect(await first.next() == 9)
    }

    @Test
    func `A consumer ends when its task is cancelled`() async {
        let consumer = Task {
            var count = 0
            for await _ in defaults.changes(of: .loudness) { count += 1 }
            return count
        }
        consumer.cancel()
        #expect(await consumer.value == 0)
    }

    @Test func `The state of defaults in memory is reported at once`() async {
        var states = defaults.states.makeAsyncIterator()
        #expect(await states.next() == .inMemory)
        #expect(defaults.state == .inMemory)
    }
}

/// What a change told, or is expected to tell of this process's own change.
private struct Told<Value: Equatable>: Equatable {
    let old: Value?
    let new: Value?
    let isFromThisProcess: Bool?

    init(_ change: ValueChange<Value>?) {
        (old, new, isFromThisProcess) = (
            change?.oldValue, change?.newValue, change?.isFromThisProcess
        )
    }

    init(_ old: Value?, _ new: Value) {
        (self.old, self.new, isFromThisProcess) = (old, new, true)
    }
}
