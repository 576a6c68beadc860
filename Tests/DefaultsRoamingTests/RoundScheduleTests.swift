import Testing

@testable import DefaultsRoaming

@Suite("The schedule of rounds") struct RoundScheduleTests {
    /// A schedule after some failed rounds, or after one that has succeeded.
    private func schedule(failures: Int) -> RoundSchedule {
        var schedule = RoundSchedule()
        for _ in 0..<max(failures, 1) {
            schedule.note(.time)
            schedule.begin()
            schedule.end(hasFailed: failures > 0)
        }
        return schedule
    }

    @Test("waits for news, or as long as the place is not asked")
    func idle() {
        #expect(RoundSchedule().wait(pollInterval: nil) == .none)
        var schedule = schedule(failures: 0)
        #expect(schedule.wait(pollInterval: nil) == .news)
        #expect(schedule.wait(pollInterval: .seconds(30)) == .time(.seconds(30)))
        schedule.note(.news)
        #expect(schedule.wait(pollInterval: nil) == .none)
    }

    @Test("doubles its pause after each failure, whether or not there is an engine, up to a bound")
    func pauses() {
        for (failures, seconds) in [
            (1, 2), (2, 4), (3, 8), (7, 128), (8, 256), (9, 300), (99, 300),
        ] {
            #expect(
                schedule(failures: failures).wait(pollInterval: nil) == .time(.seconds(seconds)))
        }
    }

    @Test("does not try again at once for a change that is heard while the place fails")
    func newsWhileFailing() {
        var schedule = schedule(failures: 4)
        for _ in 0..<100 { schedule.note(.news) }
        #expect(schedule.wait(pollInterval: .seconds(1)) == .time(.seconds(16)))
        schedule.note(.time)
        #expect(schedule.wait(pollInterval: nil) == .none)
        // What is heard while that round fails waits, too.
        schedule.begin()
        schedule.note(.news)
        schedule.end(hasFailed: true)
        #expect(schedule.wait(pollInterval: nil) == .time(.seconds(32)))
        // When it has succeeded, the change needs a round.
        schedule.note(.time)
        schedule.begin()
        schedule.note(.news)
        schedule.end(hasFailed: false)
        #expect(schedule.wait(pollInterval: nil) == .none)
    }

    @Test("tries at once when it is asked to, and begins with short pauses then")
    func request() {
        var schedule = schedule(failures: 9)
        schedule.note(.request)
        #expect(schedule.wait(pollInterval: nil) == .none)
        schedule.begin()
        schedule.end(hasFailed: true)
        #expect(schedule.wait(pollInterval: nil) == .time(.seconds(2)))
    }
}
