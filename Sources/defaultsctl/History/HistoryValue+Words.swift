import DefaultsClient
import KeyedArchive
import ValuePaths

/// How the tool prints what a key had at some time.
extension HistoryValue {
    /// The text of a value with more bytes than this is not made, because it would be cut.
    private static let mostBytesOfText = 64 << 10

    /// The value on one line, or why there is none.
    var words: String {
        switch self {
        case .absent: "(not set)"
        case .unknown: "(unknown)"
        case .omitted: "(a large value)"
        case .present(let archive) where archive.bytes.count > Self.mostBytesOfText:
            "(\(Amount.bytes(UInt64(archive.bytes.count))))"
        case .present(let archive):
            (try? archive.shown().jsonText(hasISODates: true).onOneLine)
                ?? "(a value that cannot be shown)"
        }
    }

    /// Whether it is known to be the same.
    func isSame(as other: HistoryValue) -> Bool {
        switch (self, other) {
        case (.absent, .absent), (.omitted, .omitted): true
        case (.present(let one), .present(let other)): one.bytes == other.bytes
        default: false
        }
    }

    /// The value as `watch` has it.
    var content: WatchedChange.Content {
        switch self {
        case .absent: .absent
        case .present(let archive): .value(archive)
        case .unknown, .omitted: .unknown
        }
    }

    fileprivate init(_ archive: KeyedArchive?) {
        self = archive.map { .present($0) } ?? .absent
    }

    /// The value, if its parts can be compared with those of another.
    fileprivate var comparable: KeyedArchive? {
        guard case .present(let archive) = self, archive.bytes.count <= Self.mostBytesOfText
        else { return nil }
        return try? archive.shown()
    }
}

/// The lines that say how a key, or parts of its value, change.
struct ChangeWords {
    /// The domain, with the suffix of its layer.
    let domain: String
    let key: String
    let was: HistoryValue
    let became: HistoryValue

    /// The most parts of a value that are shown one by one.
    private static let mostParts = 8
    /// The most columns of a value outside a terminal.
    private static let widestInPipe = 60

    /// The lines, each with `old -> new`.
    ///
    /// - Parameters:
    ///   - indentation: What each begins with.
    ///   - columns: The width of the terminal; nil outside one.
    func lines(indentation: String, columns: Int?) -> [String] {
        let name = "\(indentation)\(domain.onOneLine) \(WatchedChange.shown(key: key))"
        guard let parts, !parts.isEmpty else {
            return [Self.line(name, was.words, became.words, columns)]
        }
        let lines = parts.prefix(Self.mostParts).map { part in
            Self.line(
                "\(name) \(part.path.description.onOneLine)", HistoryValue(part.was).words,
                HistoryValue(part.became).words, columns)
        }
        let rest = parts.count - lines.count
        return lines + (rest > 0 ? ["\(name): \(rest) more parts"] : [])
    }

    private var parts: [ValueDifference.Part]? {
        guard let was = was.comparable, let became = became.comparable else { return nil }
        return ValueDifference.parts(of: was, and: became)
    }

    private static func line(
        _ name: String, _ was: String, _ became: String, _ columns: Int?
    ) -> String {
        let columns = columns.map { $0 - "\(name):  -> ".terminalWidth } ?? 2 * widestInPipe
        let (old, new) = ValuePair.cut(was, became, in: max(columns, 16))
        return "\(name): \(old) -> \(new)"
    }
}
