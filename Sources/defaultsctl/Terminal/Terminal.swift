import ArchiveInspection
@preconcurrency import Glibc
import KeyedArchive

/// Standard output, and what it can show.
struct Terminal {
    private let hasColors: Bool
    private let isTerminal: Bool
    private let isUTF8: Bool

    init(color: ColorChoice) {
        isTerminal = isatty(STDOUT_FILENO) == 1
        isUTF8 = Self.localeIsUTF8
        hasColors =
            switch color {
            case .always: true
            case .never: false
            // https://no-color.org: any value but an empty one.
            case .auto:
                isTerminal && (Self.variable("NO_COLOR") ?? "").isEmpty
                    && !["", "dumb"].contains(Self.variable("TERM") ?? "")
            }
    }

    /// Lines are drawn only where they are looked at; strings stay what they are in a pipe.
    var options: InspectionOptions {
        var options = InspectionOptions()
        options.linesAreASCII = !isTerminal || !isUTF8
        options.stringsAreASCII = isTerminal && !isUTF8
        return options
    }

    /// A text in a colour, if there are colours.
    ///
    /// - Parameter parameters: Those of the sequence of ECMA-48 that selects it.
    func painted(_ text: String, _ parameters: String) -> String {
        hasColors ? "\u{1B}[\(parameters)m\(text)\u{1B}[0m" : text
    }

    /// Prints a text whose parts are safe already.
    func print(_ text: String) throws {
        try StandardOutput.write("\(text)\n".utf8)
        try StandardOutput.flush()
    }

    /// Prints each line as it comes.
    func print(_ listing: some InspectionListing) throws {
        var listing = listing
        while let line = try listing.next() {
            try StandardOutput.write((line.spans.map(painted).joined() + "\n").utf8)
        }
        try StandardOutput.flush()
    }

    private func painted(_ span: InspectionLine.Span) -> String {
        span.role.color.map { painted(span.text, $0) } ?? span.text
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The first of these variables that is set and not empty decides, as setlocale(3) has it.
    private static var localeIsUTF8: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(Self.variable).first { !$0.isEmpty } ?? ""
        return ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
    }
}

extension InspectionLine.Role {
    /// The parameters of the sequence that selects the colour, if there is one.
    fileprivate var color: String? {
        switch self {
        case .structure, .note: "2"
        case .label: nil
        case .className: "1;34"
        case .string: "32"
        case .number: "36"
        case .date: "35"
        case .data: "33"
        case .reference: "1;35"
        }
    }
}

/// How much room a line has.
enum TerminalWidth {
    /// The columns of a terminal; 80 if it does not tell, or is none.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// How far a long piece of work is, on standard error, if that is a terminal.
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
