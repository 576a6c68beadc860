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
        var audience = Audience(canAsk: true)
        var sent: [Int] = []
        for number in 0...Audience.burst.count {
            sent += numbers(audience.add(try announcement(number), at: start))
        }
        return (audience, sent)
    }

    /// An audience that has asked in a burst and was told that nobody listens.
    private func deaf() throws -> Audience {
        var (audience, _) = try burst()
        audience.askBegan(at: start)
        #expect(audience.asked(false, at: start).isEmpty)
        return audience
    }

    private func numbers(_ announcements: [Announcement]) -> [Int] {
        announcements.map { Int($0.generation.rawValue) - 1 }
    }

    @Test func `Few signals are sent at once, and nobody is asked`() throws {
        var audience = Audience(canAsk: true)
        var now = start
        for number in 0..<1000 {
            #expect(numbers(audience.add(try announcement(number), at: now)) == [number])
            #expect(audience.delayOfQuestion(at: now) == nil)
            now += Audience.burst.time / (Audience.burst.count / 2)
        }
    }

    @Test func `In a burst the bus is asked at once, and signals are sent until it has answered`()
        throws
    {
        var (audience, sent) = try burst()
        #expect(sent == Array(0...Audience.burst.count))
        #expect(audience.delayOfQuestion(at: start) == .zero)
        audience.askBegan(at: start)
        #expect(audience.delayOfQuestion(at: start) == nil)
        #expect(numbers(audience.add(try announcement(100), at: start)) == [100])
    }

    @Test func `If nobody listens, signals wait, and those before the next question are dropped`()
        throws
    {
        var audience = try deaf()
        #expect(audience.add(try announcement(100), at: start).isEmpty)
        #expect(audience.delayOfQuestion(at: start) == Audience.shortestPause)
        audience.askBegan(at: start)
        #expect(audience.add(try announcement(101), at: start).isEmpty)
        #expect(audience.asked(false, at: start).isEmpty)
        #expect(numbers(audience.end()) == [101])
    }

    @Test
    func `If somebody listens, all that wait are sent in their order, and none waits for a time`()
        throws
    {
        var audience = try deaf()
        for number in 100...102 { _ = audience.add(try announcement(number), at: start) }
        audience.askBegan(at: start)
        _ = audience.add(try announcement(103), at: start)
        #expect(numbers(audience.asked(true, at: start)) == [100, 101, 102, 103])
        let later = start + Audience.burst.time / 2
        #expect(numbers(audience.add(try announcement(104), at: later)) == [104])
        #expect(audience.delayOfQuestion(at: later) == nil)
        #expect(audience.delayOfQuestion(at: start + Audience.trust) == .zero)
    }

    @Test func `After a burst signals wait only behind others, and at the end none does`() throws {
        var audience = try deaf()
        _ = audience.add(try announcement(100), at: start)
        let later = start + .seconds(1)
        #expect(audience.add(try announcement(101), at: later).isEmpty)
        audience.askBegan(at: later)
        #expect(audience.asked(false, at: later).isEmpty)
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
        audience.askBegan(at: start)
        var sent: [Int] = []
        for number in 0...Audience.mostWaiting {
            sent += numbers(audience.add(try announcement(number), at: start))
        }
        #expect(sent.count == Audience.mostWaiting + 1)
        _ = audience.add(try announcement(5000), at: start)
        #expect(audience.asked(false, at: start).isEmpty)
        #expect(numbers(audience.end()) == [5000])
    }

    @Test func `A bus that does not tell is asked once, and a connection without a bus never`()
        throws
    {
        var (audience, _) = try burst()
        audience.askBegan(at: start)
        #expect(audience.asked(nil, at: start).isEmpty)
        #expect(numbers(audience.add(try announcement(100), at: start)) == [100])
        #expect(audience.delayOfQuestion(at: start + .seconds(60)) == nil)
        var alone = Audience(canAsk: false)
        for number in 0..<1000 {
            #expect(numbers(alone.add(try announcement(number), at: start)) == [number])
            #expect(alone.delayOfQuestion(at: start) == nil)
        }
    }

    @Test func `A bus that takes long is asked less often, and few signals wait for it`() throws {
        var audience = try deaf()
        _ = audience.add(try announcement(100), at: start)
        audience.askBegan(at: start)
        _ = audience.asked(false, at: start + .milliseconds(5))
        _ = audience.add(try announcement(101), at: start)
        #expect(audience.delayOfQuestion(at: start) == .milliseconds(100))
        audience.askBegan(at: start)
        _ = audience.asked(false, at: start + .seconds(3))
        var sent: [Int] = []
        for number in 0...Audience.mostWaiting {
            sent += numbers(audience.add(try announcement(number), at: start))
        }
        #expect(sent == Array(0...Audience.mostWaiting))
    }
}
