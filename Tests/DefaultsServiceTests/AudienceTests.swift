import DefaultsModel
import Testing

@testable import DefaultsService
@testable import DefaultsStorage

/// Which signals are sent in a burst, without a bus.
@Suite struct AudienceTests {
    private let start = ContinuousClock.now

    private func announcement(_ number: Int) throws -> Announcement {
        Announcement(
            of: try Domain(ofApplication: "a.b"),
            at: try #require(Generation(rawValue: UInt64(number) + 1)))
    }

    /// Makes as many signals as a burst has, and one more, all at the start.
    ///
    /// - Returns: The audience, and which signals were to be sent at once.
    private func burst() throws -> (Audience, [Int]) {
        var audience = Audience(canQuery: true)
        var sent: [Int] = []
        for number in 0...Audience.burst.count {
            sent += numbers(audience.add(try announcement(number), at: start))
        }
        return (audience, sent)
    }

    /// An audience that has asked in a burst and was told that nobody listens.
    private func deaf() throws -> Audience {
        var (audience, _) = try burst()
        audience.beginQuery(at: start)
        #expect(audience.finishQuery(false, at: start).isEmpty)
        return audience
    }

    private func numbers(_ announcements: [Announcement]) -> [Int] {
        announcements.map { Int($0.generation.rawValue) - 1 }
    }

    @Test func `Few signals are sent at once, and nobody is asked`() throws {
        var audience = Audience(canQuery: true)
        var now = start
        for number in 0..<1000 {
            #expect(numbers(audience.add(try announcement(number), at: now)) == [number])
            #expect(audience.delayOfQuery(at: now) == nil)
            now += Audience.burst.time / (Audience.burst.count / 2)
        }
    }

    @Test func `In a burst the bus is asked at once, and signals are sent until it has answered`()
        throws
    {
        var (audience, sent) = try burst()
        #expect(sent == Array(0...Audience.burst.count))
        #expect(audience.delayOfQuery(at: start) == .zero)
        audience.beginQuery(at: start)
        #expect(audience.delayOfQuery(at: start) == nil)
        #expect(numbers(audience.add(try announcement(100), at: start)) == [100])
    }

    @Test func `If nobody listens, signals wait, and those before the next question are dropped`()
        throws
    {
        var audience = try deaf()
        #expect(audience.add(try announcement(100), at: start).isEmpty)
        #expect(audience.delayOfQuery(at: start) == Audience.shortestPause)
        audience.beginQuery(at: start)
        #expect(audience.add(try announcement(101), at: start).isEmpty)
        #expect(audience.finishQuery(false, at: start).isEmpty)
        #expect(numbers(audience.end()) == [101])
    }

    @Test
    func `If somebody listens, all that wait are sent in their order, and none waits for a time`()
        throws
    {
        var audience = try deaf()
        for number in 100...102 { _ = audience.add(try announcement(number), at: start) }
        audience.beginQuery(at: start)
        _ = audience.add(try announcement(103), at: start)
        #expect(numbers(audience.finishQuery(true, at: start)) == [100, 101, 102, 103])
        let later = start + Audience.burst.time / 2
        #expect(numbers(audience.add(try announcement(104), at: later)) == [104])
        #expect(audience.delayOfQuery(at: later) == nil)
        #expect(audience.delayOfQuery(at: start + Audience.trust) == .zero)
    }

    @Test func `After a burst signals wait only behind others, and at the end none does`() throws {
        var audience = try deaf()
        _ = audience.add(try announcement(100), at: start)
        let later = start + .seconds(1)
        #expect(audience.add(try announcement(101), at: later).isEmpty)
        audience.beginQuery(at: later)
        #expect(audience.finishQuery(false, at: later).isEmpty)
        #expect(numbers(audience.add(try announcement(102), at: later)) == [102])
        #expect(audience.end().isEmpty)
        for number in 0..<1000 {
            #expect(numbers(audience.add(try announcement(number), at: later)) == [number])
        }
    }

    @Test func `What was sent before an answer is not dropped by it, nor is what came after`()
        throws
    {
        var audience = try deaf()
        audience.beginQuery(at: start)
        var sent: [Int] = []
        for number in 0...Audience.mostWaiting.count {
            sent += numbers(audience.add(try announcement(number), at: start))
        }
        #expect(sent.count == Audience.mostWaiting.count + 1)
        _ = audience.add(try announcement(5000), at: start)
        #expect(audience.finishQuery(false, at: start).isEmpty)
        #expect(numbers(audience.end()) == [5000])
    }

    @Test func `A bus that does not tell is asked once, and a connection without a bus never`()
        throws
    {
        var (audience, _) = try burst()
        audience.beginQuery(at: start)
        #expect(audience.finishQuery(nil, at: start).isEmpty)
        #expect(numbers(audience.add(try announcement(100), at: start)) == [100])
        #expect(audience.delayOfQuery(at: start + .seconds(60)) == nil)
        var alone = Audience(canQuery: false)
        for number in 0..<1000 {
            #expect(numbers(alone.add(try announcement(number), at: start)) == [number])
            #expect(alone.delayOfQuery(at: start) == nil)
        }
    }

    @Test func `Signals that come regularly after a burst are none`() throws {
        var audience = try deaf()
        var now = start
        for number in 0..<100 {
            now += Audience.burst.time * 3 / 2
            #expect(
                numbers(audience.add(try announcement(number), at: now))
                    == (number == 0 ? [] : [number]))
            if number == 0 {
                audience.beginQuery(at: now)
                #expect(audience.finishQuery(false, at: now).isEmpty)
            }
            #expect(audience.delayOfQuery(at: now) == nil)
        }
    }

    @Test func `After a query that took long, signals are sent as if somebody listened`() throws {
        var audience = try deaf()
        _ = audience.add(try announcement(100), at: start)
        audience.beginQuery(at: start)
        #expect(audience.finishQuery(false, at: start + .milliseconds(5)).isEmpty)
        _ = audience.add(try announcement(101), at: start)
        #expect(audience.delayOfQuery(at: start) == .milliseconds(100))
        audience.beginQuery(at: start)
        let later = start + .milliseconds(11)
        #expect(numbers(audience.finishQuery(false, at: later)) == [101])
        #expect(numbers(audience.add(try announcement(102), at: later)) == [102])
        #expect(audience.delayOfQuery(at: later) == nil)
    }

    @Test func `Above a megabyte of names, signals wait without them, and not too many wait`()
        throws
    {
        var audience = try deaf()
        let names = try (0..<100).map { try Key(String(repeating: "k", count: 500) + "\($0)") }
        let change = ChangeSet(
            generation: try #require(Generation(rawValue: 1)),
            proposal: ChangeProposal(
                domain: try Domain(ofApplication: "a.b"), removed: names, origin: ""))
        // What is dropped makes room for the next.
        for _ in 1...2 {
            for _ in 0..<100 { #expect(audience.add(Announcement(change), at: start).isEmpty) }
            audience.beginQuery(at: start)
            #expect(audience.finishQuery(false, at: start).isEmpty)
        }
        var sent: [Announcement] = []
        for _ in 0...Audience.mostWaiting.count {
            sent += audience.add(Announcement(change), at: start)
        }
        #expect(sent.count == Audience.mostWaiting.count + 1)
        let bytes = sent.reduce(0) { $0 + $1.nameBytes }
        #expect(bytes <= Audience.mostWaiting.names && bytes > Audience.mostWaiting.names - 60_000)
        #expect(audience.end().isEmpty)
    }
}
