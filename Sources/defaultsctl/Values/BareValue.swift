import OpenStepPropertyList
import PropertyList
import XMLPropertyList

/// A value without a type, which macOS's `defaults` takes for a property list.
enum BareValue {
    /// Words without any of these are strings, white space and all, and their backslashes escape.
    private static let structure = Set("\"()[]{}<>")

    private static let elements: Set<Substring> = [
        "plist", "dict", "array", "string", "integer", "real", "true", "false", "date", "data",
    ]

    /// Whether a word spells more than a string.
    static func isList(_ word: String) -> Bool { word.contains(where: structure.contains) }

    /// Reads a property list in the old style or in XML, with or without its `<plist>`.
    static func read(_ word: String) throws(ToolError) -> PropertyList {
        do {
            guard isList(word) else {
                return try PropertyList(openStep: Array("\"\(word)\"".utf8))
            }
            guard isXML(word) else { return try PropertyList(openStep: Array(word.utf8)) }
            return try PropertyList(XMLPropertyList(Array(word.utf8)).binary)
        } catch {
            throw .cannotParse(word, because: "\(error)")
        }
    }

    /// Whether a word begins with an XML element of a property list, or with what may stand before
    /// one; `<dada>` is data.
    private static func isXML(_ word: String) -> Bool {
        let text = word.drop(while: \.isWhitespace)
        guard text.first == "<" else { return false }
        let name = text.dropFirst().prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
        return name.hasPrefix("?xml") || name.hasPrefix("!") || elements.contains(name)
    }
}
