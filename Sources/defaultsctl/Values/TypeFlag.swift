/// The words that name the type of the value behind them, as macOS's `defaults` has them.
enum TypeFlag: String {
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
}
