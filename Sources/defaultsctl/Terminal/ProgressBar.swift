@preconcurrency import Glibc

/// How far a long piece of work is, on standard error, where that is a terminal.
///
/// Work that is done within half a second shows nothing.
final class ProgressBar {
    private static let delay = Duration.milliseconds(500)
    private static let step = Duration.milliseconds(100)
    private static let narrowest = 10

    private let title: String
    private let isShown: Bool
    private let began = ContinuousClock.now
    private var last: ContinuousClock.Instant?
    private var calls = 0

    /// - Parameter title: What is done, as `Reading`.
    init(_ title: String) {
        self.title = title
        let type = getenv("TERM").map { String(cString: $0) } ?? ""
        isShown = isatty(STDERR_FILENO) == 1 && !["", "dumb"].contains(type)
    }

    /// Shows how much of the work is done, at most ten times a second.
    func show(_ done: Int, of total: Int) {
        calls &+= 1
        // The clock is asked once for many small pieces.
        guard isShown, calls % 64 == 0, total > 0 else { return }
        let now = ContinuousClock.now
        guard now - began > Self.delay, last.map({ now - $0 > Self.step }) ?? true else { return }
        last = now
        draw(min(done, total), of: total)
    }

    /// Takes the bar away, so that the next line begins where it began.
    func end() {
        if last != nil { fputs("\r\u{1B}[K", stderr) }
        last = nil
    }

    private func draw(_ done: Int, of total: Int) {
        let percent = "\(done * 100 / total) %"
        let room = TerminalWidth.columns(of: STDERR_FILENO) - title.count - percent.count - 6
        let width = max(Self.narrowest, min(room, 50))
        let filled = width * done / total
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: " ", count: width - filled)
        fputs("\r\u{1B}[K\(title) [\(bar)] \(percent)", stderr)
    }
}
