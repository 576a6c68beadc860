import KeyedArchive
import PropertyList

/// Takes a value that is one string, and refuses every other by throwing.
struct LoneString: ValueFormSink {
    /// The value is something else.
    struct OtherValue: Error {}

    private(set) var text: Text?

    mutating func string(_ value: Text) { text = value }

    func null() throws { throw OtherValue() }
    func boolean(_ value: Bool) throws { throw OtherValue() }
    func integer(_ value: Int128) throws { throw OtherValue() }
    func real(_ value: Double) throws { throw OtherValue() }
    func data(_ value: ArraySlice<UInt8>) throws { throw OtherValue() }
    func bytes(_ value: ArraySlice<UInt8>) throws { throw OtherValue() }
    func date(_ secondsSince2001: Double) throws { throw OtherValue() }
    func reference(to uid: UInt64) throws { throw OtherValue() }
    func beginArray() throws { throw OtherValue() }
    func endArray() throws { throw OtherValue() }
    func beginDictionary() throws { throw OtherValue() }
    func key(_ key: Text) throws { throw OtherValue() }
    func endDictionary() throws { throw OtherValue() }
}
