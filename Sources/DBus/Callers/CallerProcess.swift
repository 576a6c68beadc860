/// A process that calls, over one connection or a thousand: what it gets of the loop is the same.
///
/// It belongs to the loop's thread, and its state is kept by the schedule alone.
final class CallerProcess<Call> {
    typealias Instant = SuspendingClock.Instant

    /// What others would notice, each time.
    static var longCall: Duration { .milliseconds(1) }

    /// How long its calls that are longer may take in a second before it rests after each: an
    /// application that begins may ask for all that it has.
    static var grace: Duration { .milliseconds(50) }

    /// How long it rests: so many times as long as the call has taken, but no longer than the bound.
    static var restFactor: Int { 10 }
    static var longestRest: Duration { .milliseconds(250) }

    /// The calls that wait, of all its connections.
    var waiting = 0
    /// Their bytes.
    var waitingSize = 0
    /// Those of its connections whose calls may be carried out, by turns.
    var turns = Queue<Caller<Call>>()
    /// Whether it has a turn itself, or rests before it.
    var hasTurn = false
    /// Until when it rests.
    var restEnd: Instant?

    private var period: UInt64 = 0
    private var used = Duration.zero
    private var usedByLongCalls = Duration.zero
    private var secondBegin: Instant?

    /// How long its calls have kept the loop in a period.
    func time(in period: UInt64) -> Duration {
        self.period == period ? used : .zero
    }

    /// Notes how long a call has kept the loop.
    func note(_ time: Duration, in period: UInt64) {
        (self.period, used) = (period, self.time(in: period) + time)
    }

    /// Notes a call that has kept the loop for longer than it should.
    ///
    /// - Parameter now: When it was over.
    func noteLongCall(_ time: Duration, at now: Instant) {
        if secondBegin.map({ $0 + .seconds(1) <= now }) ?? true {
            (secondBegin, usedByLongCalls) = (now, .zero)
        }
        usedByLongCalls += time
        guard usedByLongCalls > Self.grace else { return }
        restEnd = now + min(time * Self.restFactor, Self.longestRest)
    }
}
