import DomainForms
import KeyedArchive
import PropertyList
import ValuePaths

/// A value from the words of a command line.
enum WrittenValue {
    case string(String)
    case integer(Int128)
    case real(Double)
    case boolean(Bool)
    case data([UInt8])
    /// In seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    /// A property list in the old style or in XML.
    case list(PropertyList)
    /// An array.
    ///
    /// Its elements are not collections.
    case array([WrittenValue])
    /// A dictionary.
    ///
    /// Its values are not arrays or dictionaries, except for property lists.
    case dictionary([(key: Text, value: WrittenValue)])

    /// The archive of the value.
    func archive() throws -> KeyedArchive {
        var builder = ValueFormBuilder()
        try render(into: &builder)
        return builder.finish()
    }

    private func render(into builder: inout ValueFormBuilder) throws {
        switch self {
        case .string(let value): try builder.string(Text(value))
        case .integer(let value): try builder.integer(value)
        case .real(let value): try builder.real(value)
        case .boolean(let value): try builder.boolean(value)
        case .data(let value): try builder.data(value[...])
        case .date(let value): try builder.dateObject(value)
        case .list(let list): try PropertyListForm(of: list).render(list.root, into: &builder)
        case .array(let elements):
            try builder.beginArray()
            // A collection does not contain other collections, so this recurses only once.
            for element in elements { try element.render(into: &builder) }
            try builder.endArray()
        case .dictionary(let entries):
            try builder.dictionary(keys: entries.map(\.key)) { position, builder in
                try entries[position].value.render(into: &builder)
            }
        }
    }

    /// Whether it is one word without a type, which is a string unless something else is wanted.
    var isBare: Bool {
        if case .list(let list) = self { list.text(at: list.root) != nil } else { false }
    }

    /// The text of a value that is a string.
    var text: Text? {
        switch self {
        case .string(let string): Text(string)
        case .list(let list): list.text(at: list.root)
        default: nil
        }
    }
}

/// Applies `-array-add` and `-dict-add` to an existing value.
extension KeyedArchive {
    /// The value of a key with an addition to it, or to a part of it.
    ///
    /// The rest stays unchanged.
    ///
    /// - Parameters:
    ///   - archive: The current value of the key; nil if it does not exist.
    ///   - part: The part to add to. Without steps, it is the whole value.
    static func changed(
        _ archive: KeyedArchive?, at part: ValuePath, by request: ValueWords.Request, key: String
    ) throws -> KeyedArchive {
        switch request {
        case .value(let value):
            guard let archive else { return try value.archive() }
            return try archive.setting(part, to: value.archive())
        case .elements(let elements):
            guard let archive else { return try WrittenValue.array(elements).archive() }
            try archive.require(at: part, "array", toAppendTo: key)
            var changed = archive
            // Each element is added after the last one.
            var count = try archive.value(at: part).elementCount
            for element in elements {
                changed = try changed.setting(
                    ValuePath(part.steps + [.index(count)]), to: element.archive())
                count += 1
            }
            return changed
        case .entries(let entries):
            guard let archive else { return try WrittenValue.dictionary(entries).archive() }
            try archive.require(at: part, "dictionary", toAppendTo: key)
            return try entries.reduce(archive) { changed, entry in
                try changed.setting(
                    ValuePath(part.steps + [.name(entry.key)]), to: entry.value.archive())
            }
        }
    }

    private func require(
        at part: ValuePath, _ type: String, toAppendTo key: String
    ) throws {
        guard try ValueTypeName.name(of: value(at: part)) == type else {
            throw ToolError.cannotAppend(to: key, isArray: type == "array")
        }
    }

    /// How many elements the value has.
    ///
    /// It must be an array.
    private var elementCount: Int {
        get throws {
            var counter = ElementCounter()
            try render(into: &counter)
            return counter.count
        }
    }
}
