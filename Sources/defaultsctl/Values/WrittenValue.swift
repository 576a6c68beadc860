import DomainForms
import KeyedArchive
import PropertyList

/// A value as the words of a command line spell it.
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
    /// An array; its elements are none of these.
    case array([WrittenValue])
    /// A dictionary; its values are neither that nor arrays, but for property lists.
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
            // A composite holds none, so this goes one level down.
            for element in elements { try element.render(into: &builder) }
            try builder.endArray()
        case .dictionary(let entries):
            try builder.dictionary(keys: entries.map(\.key)) { position, builder in
                try entries[position].value.render(into: &builder)
            }
        }
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
