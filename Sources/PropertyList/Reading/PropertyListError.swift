/// Why bytes cannot be read as a binary property list, and where the fault is.
public struct PropertyListError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The name, for messages and tests.
        public let name: String

        /// The input is empty.
        public static let empty = Code(name: "empty")
        /// The bytes are a property list in XML and not a binary one.
        public static let xml = Code(name: "xml")
        /// The bytes do not begin like a binary property list.
        public static let badHeader = Code(name: "badHeader")
        /// The bytes end too early.
        public static let truncated = Code(name: "truncated")
        /// The trailer, which says where everything is, contradicts the rest.
        public static let badTrailer = Code(name: "badTrailer")
        /// An object lies outside the bytes, or its type is unknown.
        public static let badObject = Code(name: "badObject")
        /// An object refers to one that does not exist.
        public static let badReference = Code(name: "badReference")
        /// A collection contains itself.
        public static let cycle = Code(name: "cycle")
        /// A key of a dictionary is not a string, or is there twice.
        public static let badKey = Code(name: "badKey")
        /// The property list is larger or deeper than the limits allow.
        public static let limitExceeded = Code(name: "limitExceeded")
    }

    /// The kind of the error.
    public let code: Code
    /// The offset of the fault, from 0.
    public let byteOffset: Int
    /// A sentence that says what is wrong; it never contains a stored value.
    public let message: String

    init(_ code: Code, at byteOffset: Int, _ message: String) {
        self.code = code
        self.byteOffset = byteOffset
        self.message = message
    }
}

extension PropertyListError: CustomStringConvertible {
    /// The message and the offset.
    public var description: String { "\(message) (byte \(byteOffset))" }
}

/// The messages of these errors.
extension PropertyListError {
    static let empty = PropertyListError(.empty, at: 0, "The input is empty.")

    static let xml = PropertyListError(
        .xml, at: 0, "This is a property list in XML; a binary one is expected.")

    static func badHeader(at offset: Int) -> PropertyListError {
        PropertyListError(
            .badHeader, at: offset,
            "A binary property list begins with \"bplist00\"; these bytes do not.")
    }

    static func truncated(byteCount: Int) -> PropertyListError {
        PropertyListError(
            .truncated, at: byteCount,
            "The bytes end before the trailer: a binary property list has at least 42 bytes, "
                + "this one has \(byteCount).")
    }

    static func badTrailer(at offset: Int, _ reason: String) -> PropertyListError {
        PropertyListError(.badTrailer, at: offset, "The trailer is wrong: \(reason).")
    }

    static func offsetOutOfRange(at entry: Int, of number: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: entry, "The offset of object \(number) is outside the objects.")
    }

    static func unknownType(_ marker: UInt8, at offset: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: offset,
            "No type of object begins with byte 0x\(String(marker, radix: 16)).")
    }

    static func cutShort(at offset: Int) -> PropertyListError {
        PropertyListError(
            .truncated, at: offset, "The object ends beyond the end of the objects.")
    }

    static func badCount(at offset: Int) -> PropertyListError {
        PropertyListError(.badObject, at: offset, "The object's size is not an integer object.")
    }

    static func notASCII(at offset: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: offset, "A string marked as ASCII has a byte that is not ASCII.")
    }

    static func overlap(at offset: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: offset, "The objects overlap: together they are larger than the file.")
    }

    static func referenceOutOfRange(_ reference: UInt64, count: Int, at offset: Int)
        -> PropertyListError
    {
        PropertyListError(
            .badReference, at: offset,
            "The object refers to object \(reference); there are only \(count).")
    }

    static func cycle(at offset: Int) -> PropertyListError {
        PropertyListError(.cycle, at: offset, "The collection contains itself.")
    }

    static func keyIsNoString(at offset: Int) -> PropertyListError {
        PropertyListError(.badKey, at: offset, "A key of the dictionary is not a string.")
    }

    static func duplicateKey(at offset: Int) -> PropertyListError {
        PropertyListError(.badKey, at: offset, "The dictionary has the same key twice.")
    }

    static func tooLarge(byteCount: Int, limit: Int) -> PropertyListError {
        PropertyListError(
            .limitExceeded, at: limit,
            "The property list has \(byteCount) bytes; the limit is \(limit).")
    }

    static func tooManyObjects(_ count: UInt64, limit: Int, at offset: Int) -> PropertyListError {
        PropertyListError(
            .limitExceeded, at: offset,
            "The property list has \(count) objects; the limit is \(limit).")
    }

    static func tooDeep(limit: Int, at offset: Int) -> PropertyListError {
        PropertyListError(
            .limitExceeded, at: offset, "The collections are nested deeper than \(limit) levels.")
    }
}
