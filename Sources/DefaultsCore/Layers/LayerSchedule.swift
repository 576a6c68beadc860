import class DBus.DirectoryWatch
import class DBus.EventLoop
import struct DBus.WatchFailure
import DefaultsFiles

/// When the files of administrators and vendors are read: at the start, soon after a change, at
/// SIGHUP, after a repair of the store, and again after a failure.
final class LayerSchedule {
    /// How long after an event the files are read, so that many events cause only one reading.
    ///
    /// The delay is at least this long. It is longer if reading takes long, so that reading takes
    /// only a small part of the time.
    private static let settlingTime = Duration.milliseconds(10)
    private static let longestSettlingTime = Duration.milliseconds(300)
    /// The delay after an event that may mean that a file is still being written.
    private static let writingTime = Duration.milliseconds(500)
    /// The pause after the database or the system has refused something.
    private static let pauseAfterFailure = Duration.seconds(5)
    /// How often the files are read if the system cannot watch them.
    private static let pauseUnwatched = Duration.seconds(30)

    private let places: LayerPlaces
    private let loop: EventLoop
    /// Has the files read; called when they are to be read by themselves.
    var read: () -> Void = {}

    /// Whether the files must be read again.
    private var isOutdated = false
    private var isBeingRead = false
    private var hasEnded = false
    /// How long the last reading took.
    private var readingTime = Duration.zero
    private var watch: DirectoryWatch?
    /// Fires when the files are to be read, after a change or after a failure.
    private var timer: EventLoop.Timer?
    /// When the timer fires.
    private var due: SuspendingClock.Instant?

    init(of places: LayerPlaces, on loop: EventLoop) {
        self.places = places
        self.loop = loop
    }

    /// Reads the files, as often as they change meanwhile.
    ///
    /// If they are being read already, they are read once more after that.
    ///
    /// - Parameter update: Reads them. It gets why they cannot be watched, and returns whether all could be read.
    nonisolated(nonsending) func run(
        _ update: nonisolated(nonsending) (LayerProblem?) async -> Bool
    ) async {
        isOutdated = true
        guard !isBeingRead else { return }
        isBeingRead = true
        defer { isBeingRead = false }
        while isOutdated, !hasEnded {
            isOutdated = false
            // This comes before anything is read, so that no change is missed.
            let watchProblem = watchDirectories()
            let began = loop.now
            let isComplete = await update(watchProblem)
            readingTime = began.duration(to: loop.now)
            if !isComplete { read(after: Self.pauseAfterFailure) }
            if watchProblem != nil { read(after: Self.pauseUnwatched) }
        }
    }

    /// Reads nothing more.
    func end() {
        hasEnded = true
        timer?.cancel()
        (timer, watch) = (nil, nil)
    }

    /// Schedules a reading after a delay, unless an earlier one is scheduled.
    private func read(after delay: Duration) {
        let due = loop.now + delay
        guard !hasEnded, self.due.map({ due < $0 }) ?? true else { return }
        timer?.cancel()
        self.due = due
        timer = loop.schedule(after: delay) {
            (self.timer, self.due) = (nil, nil)
            self.read()
        }
    }

    private func read(after sign: DirectoryWatch.Sign) {
        switch sign {
        case .change:
            read(after: min(max(readingTime * 4, Self.settlingTime), Self.longestSettlingTime))
        case .newFile: read(after: Self.writingTime)
        }
    }

    /// Watches the directories.
    ///
    /// - Returns: Why this is not possible; nil if it is.
    private func watchDirectories() -> LayerProblem? {
        guard !hasEnded else { return nil }
        do throws(WatchFailure) {
            watch = try DirectoryWatch(places.directories, on: loop) { [unowned self] sign in
                read(after: sign)
            }
            return nil
        } catch {
            watch = nil
            return .notWatched(places.managed, error.number)
        }
    }
}
