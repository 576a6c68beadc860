import KeyedArchive
import PropertyList

/// A scalar as a program takes it: text without quotes, data as its bytes.
struct RawValue: ChoosySink {
    enum Content {
        case text(String)
        case data([UInt8])
    }

    private var content: Content?

    /// What the scalar is.
    ///
    /// - Throws: `RefusedValue` where the value is no scalar, or a string that no text can hold.
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
