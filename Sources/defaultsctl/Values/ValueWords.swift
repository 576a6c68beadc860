import KeyedArchive
import PropertyList

/// The words of a value, after the key of a `write`.
struct ValueWords {
    /// What the words say to store.
    enum Request {
        case value(WrittenValue)
        /// Elements to add to the existing array.
        case elements([WrittenValue])
        /// Entries to add to the existing dictionary.
        case entries([(key: Text, value: WrittenValue)])
    }

    private var rest: ArraySlice<String>
    private let program: ProgramName
    /// Remarks about words that were probably meant differently.
    private(set) var remarks: [String] = []

    /// - Parameter program: The name of the tool. Like macOS's, `defaults` stores the number at the
    ///   beginning of a word; ours refuses a word that is not a number.
    init(_ words: [String], for program: ProgramName = .current) {
        rest = words[...]
        self.program = program
    }

    /// Parses all words.
    ///
    /// - Throws: `ToolError` if they are not a value.
    mutating func request() throws(ToolError) -> Request {
        guard let word = rest.popFirst() else { throw .noValue }
        let request: Request
        switch TypeFlag(rawValue: word) {
        case .array: request = .value(.array(try elements()))
        case .arrayAdd: request = .elements(try elements())
        case .dict: request = .value(.dictionary(try entries()))
        case .dictAdd: request = .entries(try entries())
        default:
            // An element of an array may look like this, but the first word of a value must be a
            // flag.
            if let flag = TypeFlag.meant(by: word) { throw .noTypeFlag(word, meant: flag) }
            if TypeFlag(rawValue: word) == nil, TypeFlag.isLike(word) { try note(hyphenOf: word) }
            request = .value(try value(word))
        }
        if let word = rest.first { throw .unexpectedArgument(word) }
        return request
    }

    private mutating func elements() throws(ToolError) -> [WrittenValue] {
        var elements: [WrittenValue] = []
        while let word = rest.popFirst() { elements.append(try value(word)) }
        return elements
    }

    /// Parses keys and values in turn.
    ///
    /// If a key is repeated, the last value counts.
    private mutating func entries() throws(ToolError) -> [(key: Text, value: WrittenValue)] {
        var entries: [(key: Text, value: WrittenValue)] = []
        var positions: [Text: Int] = [:]
        while let word = rest.popFirst() {
            guard let key = try value(word).text else { throw .keyIsNoString }
            guard let word = rest.popFirst() else { throw .keyWithoutValue(key.description) }
            let value = try value(word)
            if let position = positions[key] {
                entries[position].value = value
            } else {
                positions[key] = entries.count
                entries.append((key, value))
            }
        }
        return entries
    }

    /// Parses one value that is not a collection, from its first word on.
    private mutating func value(_ word: String) throws(ToolError) -> WrittenValue {
        guard let flag = TypeFlag(rawValue: word) else {
            if let flag = TypeFlag.spelled(otherwise: word) {
                throw .noTypeFlag(word, meant: flag)
            }
            return .list(try BareValue.read(word))
        }
        guard !flag.isComposite else { throw .nestedComposite }
        guard let content = rest.popFirst() else { throw .flagWithoutValue(flag) }
        switch flag {
        case .int, .integer: return .integer(try integer(content))
        case .float: return .real(try real(content))
        case .bool, .boolean: return .boolean(try Self.boolean(content))
        case .data: return .data(try Self.data(content))
        case .date: return .date(try Self.date(content))
        case .string, .array, .arrayAdd, .dict, .dictAdd: return .string(content)
        }
    }
}

// MARK: Scalars

extension ValueWords {
    private mutating func integer(_ word: String) throws(ToolError) -> Int128 {
        guard let (value, isWhole) = NumberWords.integer(word) else {
            throw .integerTooLarge(word)
        }
        if !isWhole { try note(word, is: "an integer", taken: "\(value)") }
        return value
    }

    private mutating func real(_ word: String) throws(ToolError) -> Double {
        let (value, isWhole) = NumberWords.real(word)
        // Digits that are too large for a real must not become infinity, nor those that are too small
        // zero.
        guard value.isFinite || !word.contains(where: \.isNumber) else { throw .realTooLarge(word) }
        if !isWhole { try note(word, is: "a real number", taken: "\(value)") }
        guard !isWhole || value != 0 || NumberWords.isZero(word) else { throw .realTooSmall(word) }
        return value
    }

    /// Refuses a word that is not a number, or remarks that only its beginning is stored.
    private mutating func note(
        _ word: String, is type: String, taken value: String
    ) throws(ToolError) {
        guard program == .defaults else { throw .noNumber(word, type) }
        remarks.append("'\(word.onOneLine)' is not \(type). Like on macOS, \(value) is stored.")
    }

    /// Refuses a word that begins with a hyphen, or remarks that it is stored.
    private mutating func note(hyphenOf word: String) throws(ToolError) {
        guard program == .defaults else { throw .hyphenWithoutType(word) }
        remarks.append("'\(word.onOneLine)' is not a type. Like on macOS, the word is stored.")
    }

    private static func boolean(_ word: String) throws(ToolError) -> Bool {
        switch word.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: throw .noBoolean(word)
        }
    }

    /// Bytes from hexadecimal digits.
    ///
    /// If the number of digits is odd, the first one is a byte of its own.
    private static func data(_ word: String) throws(ToolError) -> [UInt8] {
        let digits = word.map { $0.isASCII ? $0.hexDigitValue.map(UInt8.init) : nil }
        var bytes: [UInt8] = []
        var high: UInt8? = digits.count % 2 == 1 ? 0 : nil
        for digit in digits {
            guard let digit else { throw .noData(word) }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    private static func date(_ word: String) throws(ToolError) -> Double {
        guard let seconds = DateWords.read(word) else { throw .noDate(word) }
        return seconds
    }
}

/// The flags for the type of the value after them, as in macOS's `defaults`.
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

    /// Whether all words after it are its elements.
    var isComposite: Bool {
        switch self {
        case .array, .arrayAdd, .dict, .dictAdd: true
        default: false
        }
    }

    /// The flag for a word that spells it with other case, or joined with its value: `-Int`,
    /// `-int=5`.
    static func spelled(otherwise word: String) -> TypeFlag? {
        TypeFlag(rawValue: name(in: word).lowercased())
    }

    /// The flag that the first word of a value probably means, such as `-strng`.
    ///
    /// Nothing is meant by a word as short as `-x`.
    static func meant(by word: String) -> TypeFlag? {
        if TypeFlag(rawValue: word) != nil { return nil }
        if let flag = spelled(otherwise: word) { return flag }
        let name = name(in: word)
        guard name.hasPrefix("-"), name.count > 4 else { return nil }
        return Spelling.nearest(to: name, among: allCases.map(\.rawValue)).flatMap(TypeFlag.init)
    }

    /// Whether the first word of a value is taken for a type: if it begins with a hyphen and is not a
    /// number.
    static func isLike(_ word: String) -> Bool {
        word.hasPrefix("-") && word != "-" && !NumberWords.real(word).isWhole
    }

    private static func name(in word: String) -> String { String(word.prefix { $0 != "=" }) }
}

/// The type of a value as macOS's `read-type` names it.
struct ValueTypeName: ValueFormSink {
    /// The type is known, and the rest of the value is not needed.
    private struct Known: Error {
        let name: String
    }

    private init() {}

    /// The name of a value's type; `object` if macOS has no such type.
    static func name(of archive: KeyedArchive) throws -> String {
        var sink = DateFolding(into: ValueTypeName())
        do {
            try archive.render(into: &sink)
        } catch let known as Known {
            return known.name
        }
        preconditionFailure("A value is incomplete.")
    }

    func null() throws { throw Known(name: "object") }
    func boolean(_ value: Bool) throws { throw Known(name: "boolean") }
    func integer(_ value: Int128) throws { throw Known(name: "integer") }
    func real(_ value: Double) throws { throw Known(name: "float") }
    func string(_ value: Text) throws { throw Known(name: "string") }
    func data(_ value: ArraySlice<UInt8>) throws { throw Known(name: "data") }
    func bytes(_ value: ArraySlice<UInt8>) throws { throw Known(name: "data") }
    func date(_ secondsSince2001: Double) throws { throw Known(name: "date") }
    func reference(to uid: UInt64) throws { throw Known(name: "object") }
    func beginArray() throws { throw Known(name: "array") }
    func endArray() throws {}
    func beginDictionary() {}
    func beginDictionaryOfAnyKeys() throws -> Bool { throw Known(name: "dictionary") }

    func key(_ key: Text) throws {
        throw Known(name: key.hasPrefix("$") ? "object" : "dictionary")
    }

    func endDictionary() throws { throw Known(name: "dictionary") }
}
