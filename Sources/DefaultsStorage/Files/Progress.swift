/// Tells from time to time that work which takes long goes on.
///
/// The service manager ends a start that takes too long, unless it is told so.
final class Progress {
    /// How often it is told.
    static let interval = Duration.seconds(5)
    /// How many steps are taken between two looks at the clock.
    private static let stepsPerLook = 1024

    private let interval: Duration
    private let tell: (Int) -> Void
    private var steps = 0
    private var told = ContinuousClock.now

    /// - Parameters:
    ///   - interval: How often it is told at most.
    ///   - tell: Called with the number of steps so far.
    init(every interval: Duration = Progress.interval, _ tell: @escaping (Int) -> Void) {
        self.interval = interval
        self.tell = tell
    }

    /// Notes a step.
    func step() {
        steps += 1
        guard steps % Progress.stepsPerLook == 0, told.duration(to: .now) >= interval else {
            return
        }
        told = .now
        tell(steps)
    }
}
