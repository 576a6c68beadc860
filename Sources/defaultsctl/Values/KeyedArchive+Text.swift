import DefaultsClient
import KeyedArchive
import OpenStepPropertyList
import PropertyList
import XMLPropertyList

/// How the tool prints a value.
extension KeyedArchive {
    /// The value form as JSON, on one line.
    ///
    /// - Parameter hasISODates: Whether dates are spelled in ISO 8601.
    func jsonText(hasISODates: Bool = false) throws -> String {
        String(decoding: try json(hasISODates: hasISODates), as: UTF8.self)
    }
}

/// How the tool prints the value of a key as JSON.
extension DefaultsEntry {
    /// The value form as JSON, on one line.
    ///
    /// - Parameter hasISODates: Whether dates are spelled in ISO 8601.
    /// - Throws: `ToolError` with the key, if its value cannot be shown.
    func jsonText(hasISODates: Bool = false) throws(ToolError) -> String {
        do {
            return try archive.jsonText(hasISODates: hasISODates)
        } catch {
            throw .cannotShow(key, because: error)
        }
    }
}

/// How the tool prints a key.
extension String {
    /// The JSON string.
    var quoted: String {
        get throws {
            var builder = ValueFormBuilder()
            try builder.string(Text(self))
            return try builder.finish().jsonText()
        }
    }

    /// The text itself if it is printable, otherwise with escapes.
    var onOneLine: String {
        unicodeScalars.map { $0.isUnseen ? $0.escape : String($0) }.joined()
    }
}

/// A value without a type, which macOS's `defaults` parses as a property list.
enum BareValue {
    /// A word without any of these characters is a string, including its spaces.
    ///
    /// A backslash escapes.
    private static let structure = Set("\"()[]{}<>")

    private static let elements: Set<Substring> = [
        "plist", "dict", "array", "string", "integer", "real", "true", "false", "date", "data",
    ]

    /// Whether a word is more than a string.
    static func isList(_ word: String) -> Bool { word.contains(where: structure.contains) }

    /// Parses a property list in the old style or in XML, with or without `<plist>`.
    ///
    /// - Parameter isDomain: Whether it is to be a whole domain, for the message.
    static func read(_ word: String, isDomain: Bool = false) throws(ToolError) -> PropertyList {
        do {
            guard isList(word) else {
                return try PropertyList(openStep: Array("\"\(word)\"".utf8))
            }
            guard isXML(word) else { return try PropertyList(openStep: Array(word.utf8)) }
            return try PropertyList(XMLPropertyList(Array(word.utf8)).binary)
        } catch {
            throw .cannotParse(word, because: "\(error)", advice(on: word, isDomain))
        }
    }

    /// What to do with a word that is not a property list.
    private static func advice(on word: String, _ isDomain: Bool) -> String {
        switch ((try? KeyedArchive(json: word)) != nil, isDomain) {
        case (true, false): "It is JSON: put --json before it."
        case (true, true):
            "It is JSON, which 'defaultsctl import DOMAIN -' takes from standard input."
        case (false, false): "To store it as a string, put -string before it."
        case (false, true): "A whole domain is a dictionary, such as '{ key = value; }'."
        }
    }

    /// Whether a word begins with an XML element of a property list, or with what may come before
    /// one.
    ///
    /// `<dada>` is data.
    private static func isXML(_ word: String) -> Bool {
        let text = word.drop(while: \.isWhitespace)
        guard text.first == "<" else { return false }
        let name = text.dropFirst().prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
        return name.hasPrefix("?xml") || name.hasPrefix("!") || elements.contains(name)
    }
}

/// A scalar for programs: text without quotes, and data as bytes.
struct RawValue: SelectiveSink {
    enum Content {
        case text(String)
        case data([UInt8])
    }

    private var content: Content?

    /// The scalar's contents.
    ///
    /// - Throws: `RefusedValue` if the value is not a scalar, or is a string that UTF-8 cannot
    ///   encode.
    static func content(of archive: KeyedArchive) throws -> Content {
        var sink = RawValue()
        try archive.render(into: &sink)
        guard let content = sink.content else { throw RefusedValue() }
        return content
    }

    mutating func boolean(_ value: Bool) { content = .text("\(value)") }
    mutating func integer(_ value: Int128) { content = .text("\(value)") }
    mutating func real(_ value: Double) { content = .text("\(value)") }
    mutating func data(_ value: ArraySlice<UInt8>) { content = .data(Array(value)) }

    mutating func string(_ value: Text) throws {
        guard let string = value.string else { throw RefusedValue() }
        content = .text(string)
    }
}

/// Accepts a value that is one string, and refuses every other value by throwing.
struct SingleString: SelectiveSink {
    private(set) var text: Text?

    mutating func string(_ value: Text) { text = value }
}
