package import PropertyList

/// Passes each NSDate object to another sink as one date, and all other values unchanged.
///
/// Such an object comes as a dictionary of `$class` and `NS.time`. So the beginning of a dictionary
/// is held back until it is clear that it is something else. Some archivers write whole seconds as an
/// integer, and every reader of objects takes that for a date, too.
package struct DateFolding<Sink: ValueFormSink>: ValueFormSink {
    private enum State {
        case outside
        case begun
        case classExpected
        case named
        case timeExpected
        case timed(Double)
        case timedByInteger(Int128, Double)
    }

    package var sink: Sink
    private var state = State.outside
    private let foldsIntegers: Bool
    private let takeDate: (inout Sink, Double) throws -> Void

    /// - Parameters:
    ///   - foldsIntegers: Whether seconds that are an integer make a date, although the form of the sink
    ///     does not keep that they are one.
    ///   - takeDate: Passes the seconds of an NSDate since 2001-01-01 00:00:00 UTC to the sink. By default
    ///     it is passed like a date of a property list.
    package init(
        into sink: Sink, foldsIntegers: Bool = true,
        takeDate: @escaping (inout Sink, Double) throws -> Void = { try $0.date($1) }
    ) {
        self.sink = sink
        self.foldsIntegers = foldsIntegers
        self.takeDate = takeDate
    }

    package mutating func null() throws { try pass { try $0.null() } }
    package mutating func boolean(_ value: Bool) throws { try pass { try $0.boolean(value) } }
    package mutating func data(_ value: ArraySlice<UInt8>) throws {
        try pass { try $0.data(value) }
    }
    package mutating func bytes(_ value: ArraySlice<UInt8>) throws {
        try pass { try $0.bytes(value) }
    }
    package mutating func date(_ seconds: Double) throws { try pass { try $0.date(seconds) } }
    package mutating func reference(to uid: UInt64) throws {
        try pass { try $0.reference(to: uid) }
    }
    package mutating func beginArray() throws { try pass { try $0.beginArray() } }
    package mutating func endArray() throws { try pass { try $0.endArray() } }

    package mutating func beginDictionary() throws {
        try release()
        state = .begun
    }

    package mutating func beginDictionaryOfAnyKeys() throws -> Bool {
        try release()
        return try sink.beginDictionaryOfAnyKeys()
    }

    package mutating func key(_ key: Text) throws {
        switch state {
        case .begun where key == "$class": state = .classExpected
        case .named where key == "NS.time": state = .timeExpected
        default: try pass { try $0.key(key) }
        }
    }

    package mutating func string(_ value: Text) throws {
        if case .classExpected = state, value == "NSDate" {
            state = .named
        } else {
            try pass { try $0.string(value) }
        }
    }

    package mutating func real(_ value: Double) throws {
        if case .timeExpected = state {
            state = .timed(value)
        } else {
            try pass { try $0.real(value) }
        }
    }

    package mutating func integer(_ value: Int128) throws {
        if foldsIntegers, case .timeExpected = state, let seconds = Double(exactly: value) {
            state = .timedByInteger(value, seconds)
        } else {
            try pass { try $0.integer(value) }
        }
    }

    package mutating func endDictionary() throws {
        switch state {
        case .timed(let seconds), .timedByInteger(_, let seconds):
            state = .outside
            try takeDate(&sink, seconds)
        case .outside, .begun, .classExpected, .named, .timeExpected:
            try pass { try $0.endDictionary() }
        }
    }

    private mutating func pass(_ event: (inout Sink) throws -> Void) throws {
        try release()
        try event(&sink)
    }

    package var outputPlaces: (nextValue: Int, end: Int)? {
        // What is held back is in no output yet.
        if case .outside = state { sink.outputPlaces } else { nil }
    }

    package mutating func repeatValue(at place: Range<Int>) throws {
        try pass { try $0.repeatValue(at: place) }
    }

    /// Drops what is held back, after an event was refused.
    package mutating func forget() {
        state = .outside
    }

    /// Passes on what is held back.
    package mutating func release() throws {
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
        if case .timedByInteger(let integer, _) = held { try sink.integer(integer) }
    }
}
