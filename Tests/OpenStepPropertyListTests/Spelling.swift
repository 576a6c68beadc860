import PropertyList

/// A property list in one line, types and all, for tests to compare.
extension PropertyList {
    var spelling: String { spelling(of: root) }

    private func spelling(of index: ObjectIndex) -> String {
        switch value(at: index) {
        case .boolean(let value): return "\(value)"
        case .integer(let value): return "\(value)"
        case .real(let value): return "real \(value)"
        case .date(let value): return "date \(value)"
        case .data(let range): return "\(Array(data(of: range)))"
        case .string(let range):
            let text = text(of: range)
            return text.string.map { "'\($0)'" } ?? "\(text.codeUnits)"
        case .array(let elements):
            return "(\(self.elements(of: elements).map(spelling).joined(separator: ",")))"
        case .dictionary(let keys, let values):
            let entries = zip(elements(of: keys), elements(of: values)).map {
                "\(spelling(of: $0))=\(spelling(of: $1))"
            }
            return "{\(entries.sorted().joined(separator: ";"))}"
        case .singleReal, .uid, .set, .orderedSet:
            return "something else"
        }
    }
}
