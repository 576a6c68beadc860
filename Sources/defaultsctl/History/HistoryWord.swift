/// The first word of `history` and `undo`: the number of an action, or a domain.
enum HistoryWord {
    case number(UInt64)
    case domain(String)

    /// - Parameter word: A word of digits is a number.
    init(_ word: String) throws(ToolError) {
        guard !word.isEmpty, word.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else {
            self = .domain(word)
            return
        }
        guard let number = UInt64(word), number > 0 else { throw .noActionNumber(word) }
        self = .number(number)
    }
}
