import DefaultsModel
import Testing

/// The numbers in the names are those of the invariants of `FlushSchedule`.
@Suite struct FlushScheduleTests {
    /// What happens, and when in milliseconds.
    enum Event: Sendable {
        case change(Int)
        case large(Int)
        case demand(Int)
        case begin
        case success
        case failure(Int)
    }

    private static let origin = SuspendingClock.now

    /// When a flush is due after the events, in milliseconds; nil for never.
    private func due(after events: [Event]) -> Int? {
        func instant(_ milliseconds: Int) -> SuspendingClock.Instant {
            Self.origin + .milliseconds(milliseconds)
        }
        var schedule = FlushSchedule()
        for event in events {
            switch event {
            case .change(let time): schedule.changed(at: instant(time), pendingBytes: 1)
            case .large(let time): schedule.changed(at: instant(time), pendingBytes: 8 << 20)
            case .demand(let time): schedule.demanded(at: instant(time))
            case .begin: schedule.flushBegan()
            case .success: schedule.flushSucceeded()
            case .failure(let time): schedule.flushFailed(at: instant(time))
            }
        }
        return schedule.due.map { Int(($0 - Self.origin) / .milliseconds(1)) }
    }

    @Test(
        "1: a flush is due 250 ms after the last change and 2 s after the first",
        arguments: [
            ([.change(0)], 250),
            ([.change(0), .change(100)], 350),
            ([.change(0), .change(249), .change(498)], 748),
            ([.change(0), .change(1_749)], 1_999),
            ([.change(0), .change(1_750)], 2_000),
            ([.change(0), .change(1_999)], 2_000),
            ([.change(500), .change(2_400)], 2_500),
        ] as [([Event], Int)])
    func debounce(events: [Event], expected: Int) {
        #expect(due(after: events) == expected)
    }

    @Test(
        "2: a flush is due at once when 8 MiB are pending, and on demand",
        arguments: [
            ([.large(5)], 5),
            ([.change(0), .large(5)], 5),
            ([.large(5), .change(9)], 5),
            ([.change(0), .demand(7)], 7),
            ([.change(0), .demand(7), .change(8)], 7),
        ] as [([Event], Int)])
    func atOnce(events: [Event], expected: Int) {
        #expect(due(after: events) == expected)
    }

    @Test("2: one byte less than 8 MiB is not yet enough")
    func belowTheBound() {
        var schedule = FlushSchedule()
        schedule.changed(at: Self.origin, pendingBytes: (8 << 20) - 1)
        #expect(schedule.due == Self.origin + .milliseconds(250))
    }

    @Test(
        "3: after a failure the next try waits 1 s, then twice as long, up to 60 s",
        arguments: [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 60), (8, 60), (99, 60)])
    func backOff(failures: Int, seconds: Int) {
        let tries = Array(repeating: [Event.begin, .failure(10_000)], count: failures)
        #expect(
            due(after: [.change(0)] + tries.flatMap { $0 }) == 10_000 + seconds * 1_000)
    }

    @Test(
        "3: changes, however large, do not hasten the next try; a demand does",
        arguments: [
            ([.change(0), .begin, .failure(300), .change(301)], 1_300),
            ([.change(0), .begin, .failure(300), .large(301)], 1_300),
            ([.change(0), .begin, .large(299), .failure(300)], 1_300),
            ([.change(0), .begin, .failure(300), .demand(400)], 400),
            ([.change(0), .begin, .failure(300), .change(301), .demand(400)], 400),
        ] as [([Event], Int)])
    func retry(events: [Event], expected: Int) {
        #expect(due(after: events) == expected)
    }

    @Test("3: after a success the back-off starts again")
    func backOffEnds() {
        let events: [Event] = [
            .change(0), .begin, .failure(1), .begin, .failure(2), .begin, .success,
            .change(5_000), .begin, .failure(6_000),
        ]
        #expect(due(after: events) == 7_000)
    }

    @Test(
        "4: nothing is due if nothing is pending, or during a flush",
        arguments: [
            [],
            [.demand(0)],
            [.change(0), .begin],
            [.change(0), .begin, .change(1)],
            [.change(0), .begin, .large(1)],
            [.change(0), .begin, .change(1), .demand(2)],
            [.change(0), .begin, .success],
            [.change(0), .begin, .demand(1), .success],
        ] as [[Event]])
    func nothingDue(events: [Event]) {
        #expect(due(after: events) == nil)
    }

    @Test(
        "Changes made during a flush have their own delay after it",
        arguments: [
            ([.change(0), .begin, .change(300), .success], 550),
            ([.change(0), .begin, .change(300), .demand(310), .success], 310),
            ([.change(0), .begin, .large(300), .success], 300),
        ] as [([Event], Int)])
    func duringFlush(events: [Event], expected: Int) {
        #expect(due(after: events) == expected)
    }
}
