import KeyedArchive
import PropertyList

/// How the tool prints a value.
extension KeyedArchive {
    /// The value form as JSON, in one line.
    func jsonText() throws -> String {
        String(decoding: try json(), as: UTF8.self)
    }

    /// A string bare, and anything else as JSON.
    func plainText() throws -> String {
        var string = LoneString()
        do {
            try render(into: &string)
        } catch is LoneString.OtherValue {
            return try jsonText()
        }
        return try string.text?.description ?? jsonText()
    }

    /// A string as JSON writes it.
    static func jsonText(of string: String) throws -> String {
        var builder = ValueFormBuilder()
        try builder.string(Text(string))
        return try builder.finish().jsonText()
    }
}
