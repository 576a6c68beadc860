public import PropertyList
internal import Wording

/// Why bytes are not a keyed archive, or why an archive cannot be shown, and where the fault is.
public struct ArchiveError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The bytes are not a binary property list; `cause` says why.
        public static let notPropertyList = Code(name: "notPropertyList")
        /// The property list is not a keyed archive: an entry of its root is missing or wrong.
        public static let notKeyedArchive = Code(name: "notKeyedArchive")
        /// A UID refers to no object.
        public static let badReference = Code(name: "badReference")
        /// An object has no class, or a class record is wrong.
        public static let badClass = Code(name: "badClass")
        /// An entry of `$objects` is not an object.
        public static let badObject = Code(name: "badObject")
        /// The value form is larger than the limits allow.
        public static let outputTooLarge = Code(name: "outputTooLarge")
        /// The value form is nested deeper than the limits allow.
        public static let outputTooDeep = Code(name: "outputTooDeep")
    }

    /// The kind of the error.
    public let code: Code
    /// The offset of the fault in the bytes, from 0.
    public let byteOffset: Int
    /// A sentence that says what is wrong; it never contains a stored value.
    public let message: String
    /// Why the bytes are not a property list, if that is the error.
    public let cause: PropertyListError?

    init(_ code: Code, at byteOffset: Int, _ message: String) {
        self.code = code
        self.byteOffset = byteOffset
        self.message = message
        cause = nil
    }

    init(_ cause: PropertyListError) {
        code = .notPropertyList
        byteOffset = cause.byteOffset
        message = cause.message
        self.cause = cause
    }
}

extension ArchiveError: CustomStringConvertible {
    /// The message and the offset.
    public var description: String { "\(message) (byte \(byteOffset))" }
}

/// The messages of this module's errors.
extension ArchiveError {
    static func rootIsNoDictionary(at offset: Int) -> ArchiveError {
        ArchiveError(
            .notKeyedArchive, at: offset,
            "This property list is not a keyed archive: its root is not a dictionary.")
    }

    static func missing(_ key: StaticString, at offset: Int) -> ArchiveError {
        ArchiveError(
            .notKeyedArchive, at: offset,
            "This property list is not a keyed archive: it has no \(key).")
    }

    static func wrongEntry(_ key: StaticString, _ need: StaticString, at offset: Int)
        -> ArchiveError
    {
        ArchiveError(
            .notKeyedArchive, at: offset, "The archive's \(key) is wrong: it must be \(need).")
    }

    static func uidOutOfRange(_ uid: UInt64, count: Int, at offset: Int) -> ArchiveError {
        ArchiveError(
            .badReference, at: offset,
            "A reference has UID \(uid); the archive has only \(counted(count, "object")).")
    }

    static func spelledReference(at offset: Int) -> ArchiveError {
        ArchiveError(
            .badReference, at: offset,
            """
            A reference is spelled as a dictionary with the key CF$UID, as in XML. \
            'defaultsctl write DOMAIN KEY --archive FILE' reads a file with such references.
            """)
    }

    static func objectIsReference(at offset: Int) -> ArchiveError {
        ArchiveError(
            .badObject, at: offset, "An entry of $objects is a UID; it must be an object.")
    }

    static func noClass(at offset: Int) -> ArchiveError {
        ArchiveError(
            .badClass, at: offset, "An object has no $class and is not a class record.")
    }

    static func classIsNoReference(at offset: Int) -> ArchiveError {
        ArchiveError(.badClass, at: offset, "The $class of an object is not a UID.")
    }

    static func notClassRecord(_ uid: UInt64, at offset: Int) -> ArchiveError {
        ArchiveError(
            .badClass, at: offset,
            "The $class of an object is UID \(uid), which is not a class record.")
    }

    static func badClassRecord(_ need: StaticString, at offset: Int) -> ArchiveError {
        ArchiveError(.badClass, at: offset, "A class record is wrong: \(need).")
    }

    package static func outputTooLarge(limit: Int, at offset: Int) -> ArchiveError {
        ArchiveError(
            .outputTooLarge, at: offset,
            "The archive is larger than \(limit) bytes with each shared object written out.")
    }

    static func outputTooDeep(limit: Int, at offset: Int) -> ArchiveError {
        ArchiveError(
            .outputTooDeep, at: offset, "The archive is nested deeper than \(limit) levels.")
    }
}
