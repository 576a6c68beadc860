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

    /// A text in a colour, where there are colours.
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
    /// The parameters of the sequence that selects the colour, where there is one.
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
