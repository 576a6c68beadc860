/// The flags of `write`, for completion.
extension TypeFlag {
    /// What may come next of a value.
    static func candidates(after words: [String]) -> [Candidate] {
        guard let word = words.last else {
            return shown.map { Candidate(word: $0.rawValue, note: $0.note) }
        }
        switch TypeFlag(rawValue: word) {
        case .bool, .boolean: return ["true", "false"].map { Candidate(word: $0) }
        case let flag? where !flag.isComposite: return []
        default:
            // The elements of an array or a dictionary have types of their own.
            let isComposite = words.first.flatMap(TypeFlag.init)?.isComposite ?? false
            return isComposite ? candidates(after: []).filter { !$0.word.isComposite } : []
        }
    }

    /// Those that are no other spelling of another.
    private static let shown: [TypeFlag] = [
        .string, .int, .float, .bool, .data, .date, .array, .arrayAdd, .dict, .dictAdd,
    ]

    private var note: String {
        switch self {
        case .string: "a string"
        case .int, .integer: "an integer"
        case .float: "a real number"
        case .bool, .boolean: "true or false"
        case .data: "bytes, in hexadecimal digits"
        case .date: "a date, such as 2024-02-29"
        case .array: "an array of the values that follow"
        case .arrayAdd: "more elements for the array that is there"
        case .dict: "a dictionary of keys and values in turn"
        case .dictAdd: "more entries for the dictionary that is there"
        }
    }
}

extension String {
    fileprivate var isComposite: Bool { TypeFlag(rawValue: self)?.isComposite ?? false }
}
