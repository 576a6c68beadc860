/// Encodes Codable values as keyed archives.
///
/// A value with fields becomes an object of its class. Its fields keep their names, as with an
/// `encode(with:)` of NSCoding: booleans and numbers are inline, everything else is an object.
///
/// ```swift
/// struct Account: Codable {
///     var username: String
///     var isAdmin: Bool
/// }
/// let archive = try KeyedArchiveEncoder().encode(Account(username: "ada", isAdmin: true))
/// ```
///
/// - The class has the name of the type, without the module: `Account`, `Outer.Inner`, `Box<Int>`.
/// - Array, Set and Dictionary, Date, Data, URL and UUID become objects of their NS classes. A
///   dictionary may have any keys. `[UInt8]` in a field becomes inline bytes, like with
///   `encodeBytes:`.
/// - A nil field is written as nil, like with `encodeObject:`, even if `encodeIfPresent` would omit
///   it. In a collection, nil becomes NSNull, because Foundation's collections cannot contain nil.
/// - A nested keyed container is an NSDictionary, a nested unkeyed one an NSArray. `superEncoder()`
///   of a keyed container writes into the same object, as `[super encodeWithCoder:]` does.
/// - A second nested container for a key goes on in the first one. A second value for a key is an
///   error, and so is a container of another kind.
/// - An instance of a class is one object, even if it is used in several places. An instance inside
///   itself is an error, because no decoder can decode it: `init(from:)` would need the instance
///   that it makes. Objects of NSSecureCoding can refer to each other in cycles. DefaultsFoundation
///   archives these.
/// - The same value gives the same bytes: fields, dictionaries with string keys and sets are
///   sorted.
///
/// The encoder is a value: copies are independent, and many threads may use one.
public struct KeyedArchiveEncoder: Sendable {
    /// The `userInfo` of the encoders that values receive.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// Whether class names include the module: `Bank.Account`, like those of Swift classes on
    /// Linux.
    public var usesModuleNames = false
    /// The deepest nesting of values; each level uses some of the stack.
    public var depthLimit = 512

    /// The names that were set.
    ///
    /// They take priority.
    private(set) var classNames: [ObjectIdentifier: String] = [:]

    /// Makes an encoder that names classes like their types.
    public init() {}

    /// Sets the name of the class for values of a type.
    ///
    /// A name of Foundation, such as `NSMutableArray`, gets the superclasses of that class.
    ///
    /// - Precondition: The name is not empty and does not begin with `$`.
    public mutating func setClassName(_ name: String, for type: Any.Type) {
        precondition(
            !name.isEmpty && !name.utf8.starts(with: "$".utf8),
            "A class must have a name without $ at its beginning.")
        classNames[ObjectIdentifier(type)] = name
    }

    /// Encodes a value as the root of an archive.
    ///
    /// - Throws: `EncodingError` with the path to what cannot be encoded, and the errors of a
    ///   value's own `encode(to:)`.
    public func encode<Value: Encodable>(_ value: Value) throws -> KeyedArchive {
        let session = EncodingSession(self)
        let root = session.graph.addRoot()
        try session.encode(value, at: root)
        if let failure = session.failure { throw failure }
        session.sortCollections()
        return EncodingWriter.archive(of: session)
    }
}

/// The messages of the encoder's errors.
///
/// They never contain a value, only its type or its key.
extension EncodingError {
    private static func refusal(
        of stand: Any, at path: [any CodingKey], _ message: String
    ) -> EncodingError {
        .invalidValue(stand, Context(codingPath: path, debugDescription: message))
    }

    static func tooDeep(limit: Int, at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "The value is nested deeper than \(limit) levels.")
    }

    static func cycle(_ type: Any.Type, at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: type, at: path,
            "The instance of \(type) refers to itself, directly or through others, and no Codable type "
                + "can be decoded from such a cycle. Leave the reference back out of the coding keys, "
                + "and set it after decoding; or use NSSecureCoding with DefaultsFoundation, which "
                + "archives cycles.")
    }

    static func secondContainer(at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "The value asked its encoder for more than one of these: fields, elements, a single value."
        )
    }

    static func duplicateField(at path: [any CodingKey]) -> EncodingError {
        let name = path.last?.stringValue ?? ""
        return refusal(
            of: name, at: path,
            "The field \"\(name)\" was written twice; a class and its superclass share their names."
        )
    }

    static func integerTooLarge(at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "The integer is too large: archives have integers of up to 128 bits with a sign.")
    }

    static func sameKeys(at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "Two different keys of the dictionary have the same encoding.")
    }
}
