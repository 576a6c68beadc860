import Testing

@testable import DBus

/// Who pays for what connections hold together.
struct SharesTests {
    private final class Thing {}

    @Test func `The process with the most pays, and of it the connection with the most`() {
        let (modest, greedy) = (Thing(), Thing())
        let holders = (0..<5).map { _ in Thing() }
        var shares = Shares<Thing>()
        shares.add(50, of: holders[0], in: modest)
        for (holder, amount) in zip(holders[1...], [20, 30, 0, 25]) {
            shares.add(amount, of: holder, in: greedy)
        }
        #expect(shares.total == 125)
        #expect(shares.payer(preferring: nil, in: nil) === holders[2])
        #expect(shares.payer(preferring: holders[0], in: modest) === holders[2])
        #expect(shares.payer(preferring: holders[1], in: greedy) === holders[1])
    }

    @Test func `Nobody pays for what others hold`() {
        let (first, second) = (Thing(), Thing())
        let holders = [Thing(), Thing()]
        var shares = Shares<Thing>()
        #expect(shares.payer(preferring: holders[0], in: first) == nil)
        shares.add(10, of: holders[0], in: first)
        #expect(shares.payer(preferring: holders[1], in: second) === holders[0])
        shares.add(10, of: holders[1], in: second)
        #expect(shares.payer(preferring: holders[1], in: second) === holders[1])
    }
}
