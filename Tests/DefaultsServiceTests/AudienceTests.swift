import DefaultsModel
import Testing

@testable import DefaultsCore
@testable import DefaultsService
@testable import DefaultsStorage

/// When the bus is queried for listeners, and which signals wait for that, without a bus.
@Suite struct AudienceTests {
    private let start = SuspendingClock.now

    private func announcement(_ number: Int, of domain: String = "a.b") throws -> Announcement {
        Announcement(
            of: try Domain(ofApplication: domain),
            at: try #require(Generation(rawValue: UInt64(number) + 1)))
    }

    private func named(_ number: Int, _ keys: Int, _ length: Int) throws -> Announcement {
        let names = try (0..<keys).map { try Key(String(repeating: "k", count: length) + "\($0)") }
        return Announcement(
            ChangeSet(
                generation: try #require(Generation(rawValue: UInt64(number) + 1)),
                proposal: ChangeProposal(
                    domain: try Domain(ofApplication: "a.b"), removed: names, origin: "")))
    }

    private func numbers(_ announcements: [Announcement]) -> [Int] {
        announcements.map { Int($0.generation.rawValue) - 1 }
    }

    @Test func `Without a signal nobody is asked, and with one the bus is asked at once`() throws {
        var audience = Audience()
        #expect(audience.delayOfQuery(at: start) == nil && audience.isEmpty)
        audience.add(try announcement(1))
        #expect(audience.delayOfQuery(at: start) == .zero && !audience.isEmpty)
        audience.beginQuery(at: start)
        #expect(audience.delayOfQuery(at: start) == nil)
        #expect(numbers(audience.finishQuery(at: start)) == [1])
        #expect(audience.delayOfQuery(at: start) == nil && audience.isEmpty)
    }

    @Test func `A signal that comes after the query began waits for the next query`() throws {
        var audience = Audience()
        audience.add(try announcement(1))
        audience.add(try announcement(2))
        audience.beginQuery(at: start)
        audience.add(try announcement(3))
        #expect(numbers(audience.finishQuery(at: start)) == [1, 2])
        #expect(!audience.isEmpty)
        audience.beginQuery(at: start)
        audience.add(try announcement(4))
        #expect(numbers(audience.finishQuery(at: start)) == [3])
    }

    @Test func `The pause after a query is 20 times as long as it took, but not too long`() throws {
        for (time, pause) in [(1, 20), (5, 100), (10, 200), (1000, 200)] {
            var audience = Audience()
            audience.add(try announcement(1))
            audience.beginQuery(at: start)
            let end = start + .milliseconds(time)
            _ = audience.finishQuery(at: end)
            audience.add(try announcement(2))
            #expect(audience.delayOfQuery(at: end) == .milliseconds(pause))
            #expect(audience.delayOfQuery(at: end + .milliseconds(pause)) == .zero)
            audience.isInHurry = true
            #expect(audience.delayOfQuery(at: end) == .zero)
        }
    }

    @Test func `Of many that wait, those of a layer are joined into one without names`() throws {
        var audience = Audience()
        audience.add(try named(0, 1, 5))
        audience.beginQuery(at: start)
        let others = 2 * Audience.mostWaiting.count
        for number in 1..<others { audience.add(try announcement(number, of: "c.d")) }
        audience.add(try named(others, 1, 5))
        // The query is about the first one, which stays as it is.
        let asked = audience.finishQuery(at: start)
        #expect(numbers(asked) == [0] && asked[0].nameBytes > 0)
        audience.beginQuery(at: start)
        let rest = audience.finishQuery(at: start)
        #expect(numbers(rest) == [others - 1, others])
        #expect(rest[1].nameBytes > 0)
        #expect(audience.isEmpty)
    }

    @Test func `Signals of very many domains are kept, and are not joined again and again`() throws
    {
        var audience = Audience()
        let count = 20 * Audience.mostWaiting.count
        for number in 0..<count { audience.add(try announcement(number, of: "a.b\(number)")) }
        #expect(audience.count == count && audience.added == UInt64(count))
        audience.beginQuery(at: start)
        #expect(audience.finishQuery(at: start).count == count)
        #expect(audience.answered == UInt64(count))
    }

    @Test func `Without an answer signals wait for the next query, joined`() throws {
        var audience = Audience()
        for number in 1...3 { audience.add(try named(number, 1, 5)) }
        audience.beginQuery(at: start)
        audience.add(try announcement(4, of: "c.d"))
        #expect(audience.finishQuery(at: start, hasAnswer: false).isEmpty)
        #expect(audience.answered == 0)
        #expect(audience.delayOfQuery(at: start) == Audience.pauseAfterFailure)
        audience.beginQuery(at: start)
        #expect(numbers(audience.finishQuery(at: start)) == [3, 4])
        #expect(audience.answered == 4)
    }

    @Test func `Joined signals keep the order of their last changes, and lose their names`() throws
    {
        let signals = [
            try named(1, 1, 5), try announcement(2, of: "c.d"), try named(3, 1, 5),
            try announcement(4, of: "e.f"),
        ]
        let joined = Audience.joined(signals)
        #expect(numbers(joined) == [2, 3, 4])
        #expect(joined[1].nameBytes == 0)
        #expect(Audience.joined([try named(1, 1, 5)])[0].nameBytes > 0)
    }

    @Test func `Above a megabyte of names, signals wait without them, and sent ones make room`()
        throws
    {
        var audience = Audience()
        for _ in 1...2 {
            for number in 0..<50 { audience.add(try named(number, 100, 500)) }
            audience.beginQuery(at: start)
            let sent = audience.finishQuery(at: start)
            let bytes = sent.reduce(0) { $0 + $1.nameBytes }
            #expect(sent.count == 50)
            #expect(bytes <= Audience.mostWaiting.names)
            #expect(bytes > Audience.mostWaiting.names - 60_000)
        }
    }
}
