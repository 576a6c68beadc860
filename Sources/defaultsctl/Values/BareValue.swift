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

    /// Reads a property list in the old style or in XML, with or without its `<plist>`.
    static func read(_ word: String) throws(ToolError) -> PropertyList {
        do {
            guard word.contains(where: structure.contains) else {
                return try PropertyList(openStep: Array("\"\(word)\"".utf8))
            }
            guard let element = firstElement(of: word) else {
                return try PropertyList(openStep: Array(word.utf8))
            }
            let isWhole = element.hasPrefix("?") || element.hasPrefix("!") || element == "plist"
            let document = isWhole ? word : "<plist>\(word)</plist>"
            return try PropertyList(XMLPropertyList(Array(document.utf8)).binary)
        } catch {
            throw .cannotParse(word, because: "\(error)")
        }
    }

    /// The name of the XML element that a word begins with; nil where it is none of a property list,
    /// so that `<dada>` stays data.
    private static func firstElement(of word: String) -> Substring? {
        let text = word.drop(while: \.isWhitespace)
        guard text.first == "<" else { return nil }
        let name = text.dropFirst().prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
        let isDeclaration = name.hasPrefix("?xml") || name.hasPrefix("!")
        return isDeclaration || elements.contains(name) ? name : nil
    }
}
