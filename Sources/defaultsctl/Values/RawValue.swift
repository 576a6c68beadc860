import KeyedArchive
import PropertyList

/// A scalar as a program takes it: text without quotes, data as its bytes.
struct RawValue: ValueFormSink {
    /// The value is none of these.
    struct OtherValue: Error {}

    enum Content {
        case text(String)
        case data([UInt8])
    }

    private var content: Content?

    /// What the scalar is.
    ///
    /// - Throws: `OtherValue` where the value is no scalar, or a string that no text can hold.
    static func content(of archive: KeyedArchive) throws -> Content {
        var sink = RawValue()
        try archive.render(into: &sink)
        guard let content = sink.content else { throw OtherValue() }
        return content
    }

    mutating func boolean(_ value: Bool) { content = .text("\(value)") }
    mutating func integer(_ value: Int128) { content = .text("\(value)") }
    mutating func real(_ value: Double) { content = .text("\(value)") }
    mutating func data(_ value: ArraySlice<UInt8>) { content = .data(Array(value)) }

    mutating func string(_ value: Text) throws {
        guard let string = value.string else { throw OtherValue() }
        content = .text(string)
    }

    func null() throws { throw OtherValue() }
    func bytes(_ value: ArraySlice<UInt8>) throws { throw OtherValue() }
    func date(_ secondsSince2001: Double) throws { throw OtherValue() }
    func reference(to uid: UInt64) throws { throw OtherValue() }
    func beginArray() throws { throw OtherValue() }
    func endArray() throws { throw OtherValue() }
    func beginDictionary() throws { throw OtherValue() }
    func key(_ key: Text) throws { throw OtherValue() }
    func endDictionary() throws { throw OtherValue() }
}
