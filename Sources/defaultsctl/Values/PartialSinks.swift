import KeyedArchive
import PropertyList

/// Takes some kinds of values, and refuses all others by throwing ``RefusedValue``.
protocol ChoosySink: ValueFormSink {}

/// The value is of none of the kinds that are taken.
struct RefusedValue: Error {}

extension ChoosySink {
    func null() throws { throw RefusedValue() }
    func boolean(_ value: Bool) throws { throw RefusedValue() }
    func integer(_ value: Int128) throws { throw RefusedValue() }
    func real(_ value: Double) throws { throw RefusedValue() }
    func string(_ value: Text) throws { throw RefusedValue() }
    func data(_ value: ArraySlice<UInt8>) throws { throw RefusedValue() }
    func bytes(_ value: ArraySlice<UInt8>) throws { throw RefusedValue() }
    func date(_ secondsSince2001: Double) throws { throw RefusedValue() }
    func reference(to uid: UInt64) throws { throw RefusedValue() }
    func beginArray() throws { throw RefusedValue() }
    func endArray() throws { throw RefusedValue() }
    func beginDictionary() throws { throw RefusedValue() }
    func key(_ key: Text) throws { throw RefusedValue() }
    func endDictionary() throws { throw RefusedValue() }
}

/// Looks at some kinds of values, and lets all others pass.
protocol OnlookingSink: ValueFormSink {}

extension OnlookingSink {
    func null() {}
    func boolean(_ value: Bool) {}
    func integer(_ value: Int128) {}
    func real(_ value: Double) {}
    func string(_ value: Text) {}
    func data(_ value: ArraySlice<UInt8>) {}
    func bytes(_ value: ArraySlice<UInt8>) {}
    func date(_ secondsSince2001: Double) {}
    func reference(to uid: UInt64) {}
    func beginArray() {}
    func endArray() {}
    func beginDictionary() {}
    func key(_ key: Text) {}
    func endDictionary() {}
}
