import DconfFiles
import DefaultsProtocol
import KeyedArchive
import PropertyList

/// What an installed GSettings schema demands of the values of a key.
///
/// Programs read a value that does not meet it as if it were not there.
struct SchemaDemand {
    private let key: SettingsSchema.Key

    /// Searches for the schema of a key; nil if there is none.
    ///
    /// - Parameter domain: With or without the suffix of a layer.
    init?(of key: String, in domain: String) {
        guard let found = SchemaFolder(of: key, in: domain)?.key else { return nil }
        self.key = found
    }

    /// The value that a word without a type means.
    ///
    /// - Throws: `ToolError` if the word does not fit.
    func value(of word: String) throws -> KeyedArchive {
        var builder = ValueFormBuilder()
        switch key.type {
        case .boolean:
            guard let flag = Self.booleans[word] else { throw unfit(word) }
            try builder.boolean(flag)
        case .double:
            guard let number = Double(word), number.isFinite else { throw unfit(word) }
            try builder.real(number)
        case let type where type.integers != nil:
            guard let number = Int128(word) else { throw unfit(word) }
            try builder.integer(number)
        default: try builder.string(Text(word))
        }
        let archive = builder.finish()
        guard meets(archive) else { throw unfit(word) }
        return archive
    }

    private static let booleans = [
        "true": true, "yes": true, "1": true, "false": false, "no": false, "0": false,
    ]

    private func unfit(_ word: String) -> ToolError {
        .unfitForSchema(word, key.name, key.schema, wants: wanted)
    }

    /// A remark about a value that programs do not see; nil if they see it.
    func remark(on archive: KeyedArchive) -> String? {
        guard !meets(archive) else { return nil }
        return "Programs do not see this value of '\(key.name.onOneLine)': the schema "
            + "\(key.schema.onOneLine) demands \(wanted)."
    }

    /// What a value has to be, in words.
    private var wanted: String {
        let type =
            switch key.type {
            case .boolean: "true or false"
            case .double: "a number"
            case .string: "a string"
            case .array(.string): "an array of strings, as -array writes it"
            case let type where type.integers != nil: "an integer of type \(type)"
            default: "a value of type \(key.type), as --json writes it"
            }
        let rule: String? =
            switch key.rule {
            case .any: nil
            case .choices(let names), .flags(let names): "one of \(Self.list(names))"
            case .range(let least, let greatest):
                "from \(SchemaNote.json(least)) to \(SchemaNote.json(greatest))"
            }
        switch (key.type, rule) {
        case (_, nil): return type
        case (.string, let rule?): return rule
        case (.array, let rule?): return "\(type), each \(rule)"
        case (_, let rule?): return "\(type) \(rule)"
        }
    }

    private static func list(_ names: [String]) -> String {
        names.map(\.onOneLine).joined(separator: ", ")
    }

    // MARK: Rules

    private func meets(_ archive: KeyedArchive) -> Bool {
        guard let form = try? VariantForm.value(of: archive),
            let value = ExactValue(form, as: key.type)
        else { return false }
        switch key.rule {
        case .any: return true
        case .choices(let names), .flags(let names):
            return Self.words(of: value).allSatisfy(names.contains)
        case .range(let least, let greatest):
            return !Self.isLess(value, least) && !Self.isLess(greatest, value)
        }
    }

    private static func words(of value: ExactValue) -> [String] {
        switch value.content {
        case .string(let word): [word]
        case .elements(let elements): elements.flatMap(words)
        default: []
        }
    }

    private static func isLess(_ one: ExactValue, _ other: ExactValue) -> Bool {
        switch (one.content, other.content) {
        case (.integer(let one), .integer(let other)): one < other
        case (.double(let one), .double(let other)): one < other
        default: false
        }
    }
}
