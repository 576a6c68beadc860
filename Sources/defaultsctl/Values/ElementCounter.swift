import KeyedArchive
import PropertyList

/// Counts the elements of the array that a value is, those inside others not counted.
struct ElementCounter: ValueFormSink {
    private(set) var count = 0
    private var depth = 0

    mutating func null() { note() }
    mutating func boolean(_ value: Bool) { note() }
    mutating func integer(_ value: Int128) { note() }
    mutating func real(_ value: Double) { note() }
    mutating func string(_ value: Text) { note() }
    mutating func data(_ value: ArraySlice<UInt8>) { note() }
    mutating func bytes(_ value: ArraySlice<UInt8>) { note() }
    mutating func date(_ secondsSince2001: Double) { note() }
    mutating func reference(to uid: UInt64) { note() }
    mutating func beginArray() { begin() }
    mutating func endArray() { depth -= 1 }
    mutating func beginDictionary() { begin() }
    mutating func key(_ key: Text) {}
    mutating func endDictionary() { depth -= 1 }

    private mutating func note() {
        if depth == 1 { count += 1 }
    }

    private mutating func begin() {
        note()
        depth += 1
    }
}
