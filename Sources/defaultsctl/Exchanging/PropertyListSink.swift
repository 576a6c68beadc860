import KeyedArchive
import PropertyList

/// Writes plain values to a property list, one after the other.
struct PropertyListSink: ValueFormSink {
    private struct Frame {
        let isDictionary: Bool
        var keys: [ObjectIndex] = []
        var values: [ObjectIndex] = []
    }

    /// Whether dates are cut to whole seconds, as in XML.
    let hasWholeSeconds: Bool
    var writer = PropertyListWriter()
    private var frames: [Frame] = []
    /// The last value, when it is complete.
    private(set) var value: ObjectIndex?

    init(hasWholeSeconds: Bool) {
        self.hasWholeSeconds = hasWholeSeconds
    }

    mutating func null() { Self.refuse() }
    mutating func bytes(_ value: ArraySlice<UInt8>) { Self.refuse() }
    mutating func reference(to uid: UInt64) { Self.refuse() }
    mutating func boolean(_ value: Bool) { take(writer.add(boolean: value)) }
    mutating func integer(_ value: Int128) { take(writer.add(integer: value)) }
    mutating func real(_ value: Double) { take(writer.add(real: value)) }
    mutating func string(_ value: Text) { take(writer.add(string: value)) }
    mutating func data(_ value: ArraySlice<UInt8>) { take(writer.add(data: value)) }
    mutating func beginArray() { frames.append(Frame(isDictionary: false)) }
    mutating func beginDictionary() { frames.append(Frame(isDictionary: true)) }
    mutating func beginDictionaryOfAnyKeys() -> Bool {
        beginDictionary()
        return true
    }

    mutating func endArray() { end() }
    mutating func endDictionary() { end() }

    mutating func date(_ secondsSince2001: Double) {
        let seconds = hasWholeSeconds ? secondsSince2001.rounded(.down) : secondsSince2001
        take(writer.add(date: seconds))
    }

    mutating func key(_ key: Text) {
        let index = writer.add(string: key)
        frames[frames.count - 1].keys.append(index)
    }

    private mutating func take(_ index: ObjectIndex) {
        if frames.isEmpty {
            value = index
        } else {
            frames[frames.count - 1].values.append(index)
        }
    }

    private mutating func end() {
        guard let frame = frames.popLast() else { preconditionFailure("No collection is open.") }
        take(
            frame.isDictionary
                ? writer.add(keys: frame.keys, values: frame.values)
                : writer.add(array: frame.values))
    }

    private static func refuse() -> Never {
        preconditionFailure("Only plain values can be written.")
    }
}
