/// The words that name the type of the value behind them, as macOS's `defaults` has them.
enum TypeFlag: String, CaseIterable {
    case string = "-string"
    case data = "-data"
    case int = "-int"
    case integer = "-integer"
    case float = "-float"
    case bool = "-bool"
    case boolean = "-boolean"
    case date = "-date"
    case array = "-array"
    case arrayAdd = "-array-add"
    case dict = "-dict"
    case dictAdd = "-dict-add"

    /// Whether all words behind it are its elements.
    var isComposite: Bool {
        switch self {
        case .array, .arrayAdd, .dict, .dictAdd: true
        default: false
        }
    }

    /// The flag that a word is in other letters, or joined with its value: `-Int`, `-int=5`.
    static func spelled(otherwise word: String) -> TypeFlag? {
        TypeFlag(rawValue: name(in: word).lowercased())
    }

    /// The flag that the first word of a value is mistyped for, such as `-strng`.
    ///
    /// What is as short as `-x` or `-inf` is a value.
    static func meant(by word: String) -> TypeFlag? {
        if TypeFlag(rawValue: word) != nil { return nil }
        if let flag = spelled(otherwise: word) { return flag }
        let name = name(in: word)
        guard name.hasPrefix("-"), name.count > 4 else { return nil }
        return Spelling.nearest(to: name, among: allCases.map(\.rawValue)).flatMap(TypeFlag.init)
    }

    private static func name(in word: String) -> String { String(word.prefix { $0 != "=" }) }
}
