import ArchiveInspection
import KeyedArchive

/// Standard output and its abilities.
struct Terminal {
    private let hasColors: Bool
    private let isTerminal: Bool
    private let isUTF8: Bool

    init(color: ColorChoice) {
        isTerminal = Defaultsctl.console.isTerminal(.output)
        isUTF8 = Self.localeIsUTF8
        hasColors =
            switch color {
            case .always: true
            case .never: false
            // See https://no-color.org: any value except an empty one turns colours off.
            case .auto:
                isTerminal && (Defaultsctl.console.variable("NO_COLOR") ?? "").isEmpty
                    && !["", "dumb"].contains(Defaultsctl.console.variable("TERM") ?? "")
            }
    }

    /// The tree is drawn with lines only on a terminal.
    ///
    /// Strings stay complete in a pipe.
    var options: InspectionOptions {
        var options = InspectionOptions()
        options.linesAreASCII = !isTerminal || !isUTF8
        options.stringsAreASCII = isTerminal && !isUTF8
        return options
    }

    /// A text in a colour, if the output has colours.
    ///
    /// - Parameter parameters: The parameters of the ECMA-48 sequence for the colour.
    func painted(_ text: String, _ parameters: String) -> String {
        hasColors ? "\u{1B}[\(parameters)m\(text)\u{1B}[0m" : text
    }

    /// Prints a text whose parts are already safe.
    func print(_ text: String) throws {
        try StandardOutput.write("\(text)\n".utf8)
        try StandardOutput.flush()
    }

    /// Prints each line as soon as it is made.
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

    /// As in setlocale(3), the first of these variables that is set and not empty decides.
    private static var localeIsUTF8: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(Defaultsctl.console.variable).first { !$0.isEmpty } ?? ""
        return ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
    }
}

extension InspectionLine.Role {
    /// The parameters of the sequence for the colour, if there is one.
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

/// The columns that a text takes on a terminal.
extension StringProtocol {
    /// How many columns the text takes, if it has no control characters.
    var terminalWidth: Int { reduce(0) { $0 + $1.terminalWidth } }

    /// The beginning of the text that fits into some columns, with a mark if something is left out.
    func cut(toColumns columns: Int) -> String {
        guard terminalWidth > columns else { return String(self) }
        var (cut, width) = ("", 1)
        for character in self {
            width += character.terminalWidth
            guard width <= columns else { break }
            cut.append(character)
        }
        return columns > 0 ? cut + "…" : ""
    }
}

extension Character {
    /// The columns of the character: emoji and those of East Asian scripts take two.
    fileprivate var terminalWidth: Int {
        unicodeScalars.contains { $0.properties.isEmojiPresentation || $0.isWide } ? 2 : 1
    }
}

extension Unicode.Scalar {
    /// Whether the character is in a block of wide ones.
    ///
    /// See [Unicode Standard Annex 11](https://www.unicode.org/reports/tr11/).
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}

/// The progress of a long piece of work, on standard error if that is a terminal.
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

    /// - Parameter title: The name of the work, such as `Reading`.
    init(_ title: String) {
        self.title = title
        let type = Defaultsctl.console.variable("TERM") ?? ""
        isShown = Defaultsctl.console.isTerminal(.error) && !["", "dumb"].contains(type)
    }

    /// Shows how much of the work is done, at most ten times a second.
    func show(_ done: Int, of total: Int) {
        calls &+= 1
        // The clock is read only once for many small pieces.
        guard isShown, calls % 64 == 0, total > 0 else { return }
        let now = ContinuousClock.now
        guard now - began > Self.delay, last.map({ now - $0 > Self.step }) ?? true else { return }
        last = now
        draw(min(done, total), of: total)
    }

    /// Removes the bar.
    func end() {
        if last != nil { Defaultsctl.console.complain("\r\u{1B}[K") }
        last = nil
    }

    private func draw(_ done: Int, of total: Int) {
        let percent = "\(done * 100 / total) %"
        let room = Defaultsctl.console.columns(of: .error) - title.count - percent.count - 6
        let width = max(Self.narrowest, min(room, 50))
        let filled = width * done / total
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: " ", count: width - filled)
        Defaultsctl.console.complain("\r\u{1B}[K\(title) [\(bar)] \(percent)")
    }
}
