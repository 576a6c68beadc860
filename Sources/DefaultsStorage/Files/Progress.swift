/// Reports from time to time that long work goes on.
///
/// The service manager ends a start that takes too long, unless it gets such reports.
final class Progress {
    /// How often there is a report.
    static let interval = Duration.seconds(5)
    /// How many steps there are between two looks at the clock.
    private static let stepsPerLook = 1024

    private let interval: Duration
    private let report: (Int) -> Void
    private var steps = 0
    private var lastReport = ContinuousClock.now

    /// - Parameters:
    ///   - interval: How often there is a report at most.
    ///   - report: Called with the number of steps so far.
    init(every interval: Duration = Progress.interval, _ report: @escaping (Int) -> Void) {
        self.interval = interval
        self.report = report
    }

    /// Notes a step.
    func step() {
        steps += 1
        guard steps % Progress.stepsPerLook == 0, lastReport.duration(to: .now) >= interval else {
            return
        }
        lastReport = .now
        report(steps)
    }
}
