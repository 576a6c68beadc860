import Testing

@testable import defaultsctl

@Suite("The time of a conflict") struct RoamConflictsTests {
    @Test("may be any number, because another machine has written it")
    func times() {
        #expect(RoamConflicts.seconds(1_800_000_000.5) == 1_800_000_000)
        #expect([-1, 0, .nan, -.infinity].map(RoamConflicts.seconds) == [0, 0, 0, 0])
        for time in [1e300, .infinity, .greatestFiniteMagnitude] {
            let seconds = RoamConflicts.seconds(time)
            #expect(!LocalTime(seconds).text.isEmpty && !UniversalTime(seconds).text.isEmpty)
        }
    }
}
