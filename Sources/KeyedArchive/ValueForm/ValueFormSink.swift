public import PropertyList

/// A receiver of the value form of an archive, event by event, such as a writer of JSON or of D-Bus
/// variants.
///
/// A value is one scalar event; or an array, which is its elements between `beginArray` and
/// `endArray`; or a dictionary, which is a `key` and a value for each entry between
/// `beginDictionary` and `endDictionary`. The keys of a dictionary are all different, and in order
/// of their code points. A sink throws if it cannot express a value. The error reaches the caller
/// of ``KeyedArchive/render(into:limits:)``.
///
/// ``ValueFormBuilder`` is a sink too: it makes an archive of the events.
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
    /// Bytes that are inline in an object: the dictionary with the one key `$bytes`.
    mutating func bytes(_ value: ArraySlice<UInt8>) throws
    /// A date of the property list, in seconds since 2001-01-01 00:00:00 UTC; a date object comes
    /// as a dictionary.
    mutating func date(_ secondsSince2001: Double) throws
    /// An object inside itself, by its UID.
    mutating func reference(to uid: UInt64) throws
    /// The beginning of an array.
    mutating func beginArray() throws
    /// The end of the array begun last.
    mutating func endArray() throws
    /// The beginning of a dictionary.
    mutating func beginDictionary() throws
    /// The beginning of a dictionary, some of whose keys begin with `$` without a meaning: it is
    /// not an object.
    ///
    /// - Returns: Whether the sink takes it with its keys as they are. If it does not, which is the
    ///   default, the dictionary comes as an NSDictionary object.
    mutating func beginDictionaryOfAnyKeys() throws -> Bool
    /// The key of the value that comes next.
    mutating func key(_ key: Text) throws
    /// The end of the dictionary begun last.
    mutating func endDictionary() throws
}

extension ValueFormSink {
    /// Asks for the spelling as an object.
    public mutating func beginDictionaryOfAnyKeys() throws -> Bool { false }
}

/// How large a value form may be, written or read.
public struct ValueFormLimits: Hashable, Sendable {
    /// The most bytes: those of strings and data, and eight for each event.
    public var size: Int
    /// The most levels of arrays and dictionaries in each other.
    public var depth: Int
    /// The most values that are read.
    ///
    /// Each needs some hundred bytes for a while.
    public var count: Int

    /// Makes limits of your own.
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
    /// Takes a date as an NSDate object.
    package mutating func dateObject(_ secondsSince2001: Double) throws {
        try beginDictionary()
        try key("$class")
        try string("NSDate")
        try key("NS.time")
        try real(secondsSince2001)
        try endDictionary()
    }

    /// Takes a dictionary with any keys.
    ///
    /// If some begin with `$`, it is taken as an NSDictionary object.
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

    /// Takes the keys of a dictionary as the fields of the object; its values come next.
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
