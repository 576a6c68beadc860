public import PropertyList

/// A receiver of the value form of an archive, event by event, such as a writer of JSON or of D-Bus
/// variants.
///
/// A value is one scalar event. Or it is an array: its elements between `beginArray` and
/// `endArray`. Or it is a dictionary: a `key` and a value for each entry between `beginDictionary`
/// and `endDictionary`. The keys of a dictionary are all different, and sorted by code point. A
/// sink throws if it cannot express a value. The caller of ``KeyedArchive/render(into:limits:)``
/// gets this error.
///
/// ``ValueFormBuilder`` is a sink, too: it makes an archive from the events.
public protocol ValueFormSink {
    /// No object.
    mutating func null() throws
    /// A boolean.
    mutating func boolean(_ value: Bool) throws
    /// An integer of up to 128 bits.
    mutating func integer(_ value: Int128) throws
    /// A real; it may be infinite or not a number.
    mutating func real(_ value: Double) throws
    /// A string.
    mutating func string(_ value: Text) throws
    /// A data object.
    mutating func data(_ value: ArraySlice<UInt8>) throws
    /// Bytes that are inline in an object: a dictionary with the single key `$bytes`.
    mutating func bytes(_ value: ArraySlice<UInt8>) throws
    /// A date of the property list, in seconds since 2001-01-01 00:00:00 UTC. A date object comes
    /// as a dictionary.
    mutating func date(_ secondsSince2001: Double) throws
    /// An object inside itself, by its UID.
    mutating func reference(to uid: UInt64) throws
    /// The beginning of an array.
    mutating func beginArray() throws
    /// The end of the innermost array.
    mutating func endArray() throws
    /// The beginning of a dictionary.
    mutating func beginDictionary() throws
    /// The beginning of a dictionary that is not an object, but has keys that begin with `$`.
    ///
    /// - Returns: Whether the sink accepts the keys as they are. If not, which is the default, the
    ///   dictionary comes as an NSDictionary object.
    mutating func beginDictionaryOfAnyKeys() throws -> Bool
    /// The key of the next value.
    mutating func key(_ key: Text) throws
    /// The end of the innermost dictionary.
    mutating func endDictionary() throws

    /// Where in its output the sink will put the next value, and where its output ends now; nil, which is the
    /// default, if it cannot repeat a value by ``repeatValue(at:)``.
    var outputPlaces: (nextValue: Int, end: Int)? { get }
    /// A value that is the same as an earlier one, by its place in the output.
    ///
    /// A shared object that has been shown once comes again in this way.
    mutating func repeatValue(at place: Range<Int>) throws
}

extension ValueFormSink {
    /// Requests the spelling as an object.
    public mutating func beginDictionaryOfAnyKeys() throws -> Bool { false }

    /// Requests each value event by event.
    public var outputPlaces: (nextValue: Int, end: Int)? { nil }

    /// Does nothing: without ``outputPlaces`` nothing calls it.
    public mutating func repeatValue(at place: Range<Int>) throws {}
}

/// The limits of a value form that is written or read.
public struct ValueFormLimits: Hashable, Sendable {
    /// The most bytes: those of strings and data, and eight for each event.
    public var size: Int
    /// The most arrays and dictionaries inside each other.
    public var depth: Int
    /// The most values that are read.
    ///
    /// Each value needs some hundred bytes of memory for a while.
    public var count: Int

    /// Makes limits.
    public init(size: Int, depth: Int, count: Int = 4 << 20) {
        self.size = size
        self.depth = depth
        self.count = count
    }

    /// 64 MiB, 10 000 levels, 4 194 304 values.
    public static let standard = ValueFormLimits(size: 64 << 20, depth: 10_000)
}

/// Objects that are spelled as dictionaries.
extension ValueFormSink {
    /// Accepts a date as an NSDate object.
    package mutating func dateObject(_ secondsSince2001: Double) throws {
        try beginDictionary()
        try key("$class")
        try string("NSDate")
        try key("NS.time")
        try real(secondsSince2001)
        try endDictionary()
    }

    /// Accepts a dictionary with any keys.
    ///
    /// If some keys begin with `$`, it is accepted as an NSDictionary object.
    package mutating func dictionary(
        keys: [Text], value: (Int, inout Self) throws -> Void
    ) throws {
        try beginDictionary()
        guard keys.contains(where: { $0.hasPrefix("$") }) else {
            for (position, name) in keys.enumerated() {
                try key(name)
                try value(position, &self)
            }
            return try endDictionary()
        }
        try beginPairs(keys)
        for position in keys.indices { try value(position, &self) }
        try endArray()
        try endDictionary()
    }

    /// Accepts the keys of a dictionary as the fields of an object.
    ///
    /// The values follow.
    package mutating func beginPairs(_ keys: [Text]) throws {
        try key("$class")
        try string("NSDictionary")
        try key("NS.keys")
        try beginArray()
        for name in keys { try string(name) }
        try endArray()
        try key("NS.objects")
        try beginArray()
    }
}
