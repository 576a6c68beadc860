import KeyedArchive
import PropertyList

/// Hands the objects that NSDate is on as dates of a property list, and all else as it comes.
///
/// Such an object comes as a dictionary of `$class` and `NS.time`, so the beginning of one is held
/// back until it is known to be another.
struct DateFolding<Sink: ValueFormSink>: ValueFormSink {
    private enum State {
        case outside
        case begun
        case classExpected
        case named
        case timeExpected
        case timed(Double)
    }

    var sink: Sink
    private var state = State.outside

    init(into sink: Sink) {
        self.sink = sink
    }

    mutating func null() throws { try pass { try $0.null() } }
    mutating func boolean(_ value: Bool) throws { try pass { try $0.boolean(value) } }
    mutating func integer(_ value: Int128) throws { try pass { try $0.integer(value) } }
    mutating func data(_ value: ArraySlice<UInt8>) throws { try pass { try $0.data(value) } }
    mutating func bytes(_ value: ArraySlice<UInt8>) throws { try pass { try $0.bytes(value) } }
    mutating func date(_ seconds: Double) throws { try pass { try $0.date(seconds) } }
    mutating func reference(to uid: UInt64) throws { try pass { try $0.reference(to: uid) } }
    mutating func beginArray() throws { try pass { try $0.beginArray() } }
    mutating func endArray() throws { try pass { try $0.endArray() } }

    mutating func beginDictionary() throws {
        try release()
        state = .begun
    }

    mutating func beginDictionaryOfAnyKeys() throws -> Bool {
        try release()
        return try sink.beginDictionaryOfAnyKeys()
    }

    mutating func key(_ key: Text) throws {
        switch state {
        case .begun where key == "$class": state = .classExpected
        case .named where key == "NS.time": state = .timeExpected
        default: try pass { try $0.key(key) }
        }
    }

    mutating func string(_ value: Text) throws {
        if case .classExpected = state, value == "NSDate" {
            state = .named
        } else {
            try pass { try $0.string(value) }
        }
    }

    mutating func real(_ value: Double) throws {
        if case .timeExpected = state {
            state = .timed(value)
        } else {
            try pass { try $0.real(value) }
        }
    }

    mutating func endDictionary() throws {
        if case .timed(let seconds) = state {
            state = .outside
            try sink.date(seconds)
        } else {
            try pass { try $0.endDictionary() }
        }
    }

    private mutating func pass(_ event: (inout Sink) throws -> Void) throws {
        try release()
        try event(&sink)
    }

    /// Drops what is held back, after an event was refused.
    mutating func forget() {
        state = .outside
    }

    /// Hands on what was held back.
    mutating func release() throws {
        let held = state
        state = .outside
        if case .outside = held { return }
        try sink.beginDictionary()
        if case .begun = held { return }
        try sink.key("$class")
        if case .classExpected = held { return }
        try sink.string("NSDate")
        if case .named = held { return }
        try sink.key("NS.time")
        if case .timed(let seconds) = held { try sink.real(seconds) }
    }
}
