import DefaultsClient
import KeyedArchive
import PropertyList

/// How the tool prints a value.
extension KeyedArchive {
    /// The value form as JSON, in one line.
    ///
    /// - Parameter hasISODates: Whether dates are spelled in ISO 8601.
    func jsonText(hasISODates: Bool = false) throws -> String {
        String(decoding: try json(hasISODates: hasISODates), as: UTF8.self)
    }
}

/// How the tool prints the value of a key as JSON.
extension DefaultsEntry {
    /// The value form as JSON, in one line.
    ///
    /// - Parameter hasISODates: Whether dates are spelled in ISO 8601.
    /// - Throws: `ToolError` that names the key, where its value cannot be shown.
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
    /// As JSON writes it.
    var quoted: String {
        get throws {
            var builder = ValueFormBuilder()
            try builder.string(Text(self))
            return try builder.finish().jsonText()
        }
    }

    /// Bare where it is printable, else with escapes.
    var onOneLine: String {
        unicodeScalars.map { $0.isUnseen ? $0.escape : String($0) }.joined()
    }
}
