/// A binary property list that is read in place: its bytes, and the table of its objects in them.
///
/// Invariants, which `init` establishes and everything else relies on:
///
/// 1. Every object of the table, even one that nothing refers to, has a known type and lies between
///    the header and the offset table.
/// 2. Every reference is below the number of objects.
/// 3. All objects together are no larger than the bytes that hold them. So work that is linear in
///    the size of the objects is linear in the size of the file, even if its offsets overlap.
/// 4. No collection that can be reached from the root contains itself or is nested deeper than the
///    limit.
/// 5. The keys of each dictionary are distinct strings.
///
/// Reading allocates nothing for an object and does not recurse, so no file can exhaust the stack.
///
/// ```swift
/// let list = try PropertyList(bytes)
/// if case .array(let references) = list.value(at: list.root) {
///     for element in list.elements(of: references) { print(list.value(at: element)) }
/// }
/// ```
public struct PropertyList: Sendable {
    /// The bytes that were read, unchanged.
    public let bytes: [UInt8]
    let trailer: Trailer
    /// The largest UID among the objects, if there is one.
    ///
    /// Readers of UIDs check it once.
    package private(set) var largestUID: UInt64?

    /// Reads a binary property list and checks all of it.
    ///
    /// - Throws: ``PropertyListError`` with the offset of the first fault.
    public init(_ bytes: [UInt8], limits: Limits = .standard) throws(PropertyListError) {
        let trailer = try Trailer(of: bytes, limits: limits)
        self.bytes = bytes
        self.trailer = trailer
        var table = TableCheck(of: self)
        try table.run()
        largestUID = table.largestUID
        // The table is given away, so its marks are changed in place, not in a copy.
        var containment = ContainmentCheck(after: consume table, depthLimit: limits.depth)
        try containment.run()
    }

    /// Makes the list that ``PropertyListWriter`` wrote, which ensures the invariants.
    init(written bytes: [UInt8], trailer: Trailer, largestUID: UInt64?) {
        self.bytes = bytes
        self.trailer = trailer
        self.largestUID = largestUID
    }

    /// The root object, which is the value of the whole list.
    public var root: ObjectIndex { trailer.root }

    /// How many objects the table has, including those that nothing refers to.
    public var objectCount: Int { trailer.objectCount }

    /// The objects of the table in its order.
    public var indices: some Sequence<ObjectIndex> {
        (0..<UInt32(objectCount)).lazy.map(ObjectIndex.init(number:))
    }
}

/// The number of an object of a property list, in its table of objects.
public struct ObjectIndex: Hashable, Sendable {
    let number: UInt32

    /// The number as an integer, from 0.
    public var position: Int { Int(number) }
}

extension PropertyList {
    /// The object with this number, which must be below ``objectCount``.
    package func index(at position: Int) -> ObjectIndex {
        precondition((0..<objectCount).contains(position), "There is no such object.")
        return ObjectIndex(number: UInt32(position))
    }
}

extension PropertyList {
    /// One value of a property list.
    ///
    /// Strings, data and collections are ranges of the list's bytes. Nothing is copied until
    /// `text(of:)` or `elements(of:)` is called.
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
        /// An ordered set.
        case orderedSet(References)
        /// A set.
        case set(References)
        /// A dictionary, in the order of the file. Its keys are distinct strings.
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
        /// Whether each code unit takes two bytes.
        ///
        /// Otherwise all are ASCII and take one byte.
        let isUTF16: Bool
    }

    /// Where the references to the elements of a collection are.
    public struct References: Hashable, Sendable {
        let start: Int
        /// How many elements there are.
        public let count: Int
    }
}

extension PropertyList {
    /// The limits for a property list that is read.
    public struct Limits: Hashable, Sendable {
        /// The most bytes.
        public var byteCount: Int
        /// The most objects, including the keys.
        public var objectCount: Int
        /// The most levels of collections in collections.
        public var depth: Int

        /// Makes custom limits.
        public init(byteCount: Int, objectCount: Int, depth: Int) {
            self.byteCount = byteCount
            self.objectCount = objectCount
            self.depth = depth
        }

        /// 16 MiB, 4 194 304 objects, 512 levels.
        public static let standard = Limits(
            byteCount: 16 << 20, objectCount: 4 << 20, depth: 512)
    }
}
