/// The number of an object of a property list, in its table of objects.
public struct ObjectIndex: Hashable, Sendable {
    let number: UInt32

    /// The number as an integer, from 0.
    public var position: Int { Int(number) }
}

extension PropertyList {
    /// The object of this number; it is one below ``objectCount``.
    package func index(at position: Int) -> ObjectIndex {
        precondition((0..<objectCount).contains(position), "There is no such object.")
        return ObjectIndex(number: UInt32(position))
    }
}

extension PropertyList {
    /// One value of a property list.
    ///
    /// Strings, data and collections are ranges of its bytes; nothing is copied before `text(of:)` or
    /// `elements(of:)` asks for it.
    public enum Value: Hashable, Sendable {
        /// A boolean.
        case boolean(Bool)
        /// An integer of 8 to 128 bits.
        case integer(Int128)
        /// A real of 64 bits.
        case real(Double)
        /// A real of 32 bits.
        case singleReal(Float)
        /// A date, in seconds since 2001-01-01 00:00:00 UTC.
        case date(Double)
        /// Bytes.
        case data(DataRange)
        /// A string.
        case string(StringRange)
        /// A reference of a keyed archive: the number of an object in its `$objects`.
        case uid(UInt64)
        /// An array.
        case array(References)
        /// A set whose elements have an order.
        case orderedSet(References)
        /// A set.
        case set(References)
        /// A dictionary, in the order of the file. Its keys are strings, all different.
        case dictionary(keys: References, values: References)
    }

    /// Where the bytes of a data value are.
    public struct DataRange: Hashable, Sendable {
        let start: Int
        /// How many bytes there are.
        public let count: Int
    }

    /// Where the code units of a string are.
    public struct StringRange: Hashable, Sendable {
        let start: Int
        /// How many UTF-16 code units the string has.
        public let count: Int
        /// Whether each takes two bytes; else all are ASCII and take one.
        let isUTF16: Bool
    }

    /// Where the references of a collection to its elements are.
    public struct References: Hashable, Sendable {
        let start: Int
        /// How many elements there are.
        public let count: Int
    }
}
