package import DefaultsProtocol

/// A GSettings schema: a group of keys with their types and default values.
package struct SettingsSchema: Sendable {
    /// A key of a schema.
    package struct Key: Sendable {
        /// The schema that was asked for the key.
        package let schema: String
        /// The name in the schema.
        package let name: String
        /// The default value for the desktop, in the language of the schema.
        package let defaultValue: ExactValue
        /// Which values of the type are allowed.
        package let rule: Rule
        /// The schema that has the key itself, and the directory that it is in.
        let origin: (schema: String, directory: String)

        /// The type of all values.
        package var type: ExactType { defaultValue.type }
    }

    /// Which values of its type a key may have.
    package enum Rule: Hashable, Sendable {
        /// All.
        case any
        /// One of these texts.
        case choices([String])
        /// An array of these texts.
        case flags([String])
        /// From a least to a greatest value.
        case range(ExactValue, ExactValue)
    }

    /// The most schemas that extend each other.
    private static let maximumExtensions = 32

    /// The name.
    package let name: String
    /// The path of its keys; nil if programs choose the path.
    package let path: String?
    /// The schema, and those that it extends, the nearest first.
    private var tables: [(name: String, table: GVDBTable)] = []
    private let directory: String
    private let desktops: [String]

    /// Finds a schema; nil if the source does not have it, or has it only in part.
    init?(_ name: String, in source: SchemaCatalog.Source, _ desktops: [String]) {
        var next: String? = name
        while let current = next, tables.count < Self.maximumExtensions {
            guard let item = source.table.item(named: current),
                let table = try? source.table.table(of: item)
            else { break }
            tables.append((current, table))
            next = table.text(named: ".extends")
        }
        guard let own = tables.first else { return nil }
        (self.name, directory, self.desktops) = (name, source.directory, desktops)
        path = own.table.text(named: ".path")
    }

    /// The names of the keys, those of extended schemas too.
    package var keyNames: [String] {
        var known: Set<String> = []
        return tables.flatMap { $0.table.names }.filter { name in
            // A name with a dot is a property of the schema, and one with a slash is a child.
            !name.hasPrefix(".") && !name.hasSuffix("/") && known.insert(name).inserted
        }
    }

    /// The name of the schema of a child; nil if there is none.
    ///
    /// - Parameter name: With the slash at its end.
    func child(named name: String) -> String? {
        tables.lazy.compactMap { $0.table.text(named: name) }.first
    }

    /// The schemas that have the keys, and the directory that they are in.
    var origins: [(schema: String, directory: String)] {
        tables.map { ($0.name, directory) }
    }

    /// A key; nil if there is none that can be read.
    package func key(named name: String) -> Key? {
        guard !name.hasPrefix("."), !name.hasSuffix("/") else { return nil }
        for (schema, table) in tables {
            guard let item = table.item(named: name) else { continue }
            guard let value = try? table.value(of: item), let parts = KeyParts(value) else {
                return nil
            }
            return Key(
                schema: self.name, name: name, defaultValue: parts.defaultValue(for: desktops),
                rule: parts.rule, origin: (schema, directory))
        }
        return nil
    }
}

/// What the compiled file has for a key: the default value, and pairs of a letter and what it says.
private struct KeyParts {
    let value: ExactValue
    private(set) var rule = SettingsSchema.Rule.any
    /// The default values of desktops.
    private var overrides: [ExactValue] = []

    init?(_ stored: ExactValue) {
        guard case .elements(let parts) = stored.content, case .tuple = stored.type,
            let value = parts.first
        else { return nil }
        self.value = value
        for part in parts.dropFirst() {
            guard case .elements(let pair) = part.content, pair.count == 2,
                case .integer(let letter) = pair[0].content
            else { return nil }
            take(Character(Unicode.Scalar(UInt8(clamping: letter))), pair[1].content)
        }
    }

    /// Takes what a letter says.
    ///
    /// Others are about translations.
    private mutating func take(_ letter: Character, _ content: ExactValue.Content) {
        switch (letter, content) {
        case ("e", .elements(let words)), ("c", .elements(let words)):
            rule = .choices(StringTable.names(in: words))
        case ("f", .elements(let words)): rule = .flags(StringTable.names(in: words))
        case ("r", .elements(let ends)) where ends.count == 2: rule = .range(ends[0], ends[1])
        case ("d", .elements(let entries)): overrides = entries
        default: break
        }
    }

    /// The default value for the first desktop that has one.
    func defaultValue(for desktops: [String]) -> ExactValue {
        for desktop in desktops {
            for override in overrides {
                guard case .elements(let entry) = override.content, entry.count == 2,
                    case .string(desktop) = entry[0].content,
                    case .variant(let own) = entry[1].content, own.type == value.type
                else { continue }
                return own
            }
        }
        return value
    }
}

/// The texts of an enumeration or of flags, packed into words of 32 bits.
///
/// Each text has a word with its number. The next words have a byte 0xFF, the text, zeros, and a
/// last byte: 0xFF, or 0xFE if the text is another name for a text.
private enum StringTable {
    /// The texts without the other names.
    static func names(in words: [ExactValue]) -> [String] {
        let bytes = words.flatMap { word -> [UInt8] in
            guard case .integer(let number) = word.content else { return [] }
            return (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        var names: [String] = []
        var offset = 4
        while offset < bytes.count, bytes[offset] == 0xFF {
            guard let end = bytes[(offset + 1)...].firstIndex(of: 0) else { break }
            // A text and its marks have two words at least.
            let last = max((end + 1) | 3, offset + 7)
            guard last < bytes.count else { break }
            if bytes[last] == 0xFF {
                names.append(String(decoding: bytes[(offset + 1)..<end], as: UTF8.self))
            }
            offset = last + 1 + 4
        }
        return names
    }
}
