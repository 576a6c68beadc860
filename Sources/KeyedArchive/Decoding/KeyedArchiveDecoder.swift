public import PropertyList

/// Decodes Codable values from keyed archives of any program.
///
/// It reads what ``KeyedArchiveEncoder`` writes, and what the NSCoding classes of other programs
/// write.
///
/// ```swift
/// let account = try KeyedArchiveDecoder().decode(Account.self, from: bytes)
/// ```
///
/// - The class of an object must fit the type: it has the name of the type, with or without the
///   module, or a superclass with this name, or its name was set with
///   ``setClass(_:forClassName:)``. An NSDictionary with string keys is accepted, too.
/// - A missing field comes from the default of ``decode(_:from:rootKey:missingFieldsFrom:)``, from
///   the value of ``setMissingFields(of:from:)``, or from a new value of the type if that is
///   ``DefaultInitializable``.
/// - Numbers and booleans may be inline or behind a reference. An integer must be in range. A whole
///   real in range is accepted, too. A boolean may be 0 or 1, because Foundation on Linux writes
///   these. A real may be an integer that can be converted exactly. A `Float` is the nearest value
///   to a real in range.
/// - Arrays and sets are read from NSArray, NSSet and NSOrderedSet. Dictionaries with `String` keys
///   are also read from the fields of any object except arrays and sets.
/// - If the type that is passed is a subclass of the static type, the value is an instance of it.
///   A `KeyedDecodingContainer` passes only the static type on.
/// - If several references lead to the same object, they give the same instance of a class. Codable
///   cannot build cycles, so a cycle is an error.
///
/// Decoding always ends with a value or an error, because nesting and size are limited. Shared
/// objects count each time. The decoder is a value, and many threads may use it.
public struct KeyedArchiveDecoder: Sendable {
    /// The limits of decoding.
    public struct Limits: Hashable, Sendable {
        /// The limits for an archive that is given as bytes.
        public var archive = KeyedArchive.Limits.standard
        /// The deepest nesting of values.
        ///
        /// Each level uses some of the stack.
        ///
        /// The default needs up to half a mebibyte, and more in debug builds.
        public var depth = 512
        /// The most bytes to decode: those of strings and data, and eight for each value.
        ///
        /// A shared object counts at each of its places.
        public var size = 64 << 20

        /// Makes the default limits.
        public init() {}
    }

    /// The `userInfo` of the decoders that values receive.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The limits of decoding.
    public var limits = Limits()

    /// The types for class names.
    private(set) var classes: [Text: any (Decodable & SendableMetatype).Type] = [:]
    /// The length of the longest of these names, in UTF-16 code units.
    private(set) var longestClassName = 0
    /// The conversions of old versions, by the new type and the old version.
    private(set) var migrations: [ObjectIdentifier: [Int: Migration]] = [:]
    /// Make archives of values with missing fields, by the type of the objects that lack them.
    private(set) var prototypes: [ObjectIdentifier: @Sendable () throws -> KeyedArchive] = [:]

    /// Makes a decoder that knows only the names of the types.
    public init() {}

    /// Sets the type for objects whose class has this name.
    ///
    /// If the type is a class, such objects are also decoded when one of its superclasses is
    /// requested. They are then instances of the class itself.
    public mutating func setClass(
        _ type: any (Decodable & SendableMetatype).Type, forClassName name: String
    ) {
        classes[Text(name)] = type
        longestClassName = max(longestClassName, name.utf16.count)
    }

    /// Decodes the root of an archive.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - archive: The archive.
    ///   - rootKey: The key of the value in `$top`. By default it is `root`, or the only key.
    /// - Throws: `DecodingError` with the path to what cannot be decoded, and the errors of a
    ///   value's own `init(from:)`.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from archive: KeyedArchive, rootKey: String? = nil
    ) throws -> Value {
        try decode(type, in: DecodingSession(self, archive), rootKey)
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, in session: DecodingSession, _ rootKey: String?
    ) throws -> Value {
        let location = DecodingLocation(parent: nil, key: .none)
        let result = Result {
            try session.decode(type, at: session.root(rootKey), location)
        }
        // A type can ignore the error of a used-up budget, or not find what it looks for.
        try session.checkBudget(at: location)
        let value = try result.get()
        try session.checkForeignRoot()
        return value
    }

    /// Validates bytes as a keyed archive, and decodes its root.
    ///
    /// - Throws: `DecodingError` as above. If the bytes are not an archive, its `underlyingError`
    ///   is an ``ArchiveError`` with the offset.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: some Collection<UInt8>, rootKey: String? = nil
    ) throws -> Value {
        let archive: KeyedArchive
        do throws(ArchiveError) {
            archive = try KeyedArchive(validating: Array(bytes), limits: limits.archive)
        } catch {
            throw DecodingError.notArchive(error)
        }
        return try decode(type, from: archive, rootKey: rootKey)
    }
}

// MARK: Missing fields

extension KeyedArchiveDecoder {
    /// Decodes the root of an archive, and takes missing fields from a default value.
    ///
    /// An archive that an earlier version of a program wrote lacks fields that were added later:
    ///
    /// ```swift
    /// struct GameOptions: Codable {
    ///     var playSound = true
    ///     var playMusic = true  // since version 2
    /// }
    /// let options = try decoder.decode(
    ///     GameOptions.self, from: archive, missingFieldsFrom: GameOptions())
    /// ```
    ///
    /// - The missing fields of an object come from the default value's object at the same path.
    ///   Elements of arrays and sets have no such path. Their fields come from
    ///   ``setMissingFields(of:from:)`` or ``DefaultInitializable``.
    /// - A missing field of an optional type is nil, because a nil optional may have been omitted.
    /// - If the root is a structure or an enumeration, its object may have any class. An object
    ///   that has fields, but none that the type looks up, is refused.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - archive: The archive.
    ///   - rootKey: The key of the value in `$top`, as in `decode(_:from:rootKey:)`.
    ///   - defaultValue: The value with the missing fields. It is made when the first one is
    ///     needed.
    /// - Throws: The same errors as `decode(_:from:rootKey:)`.
    public func decode<Value: Codable>(
        _ type: Value.Type, from archive: KeyedArchive, rootKey: String? = nil,
        missingFieldsFrom defaultValue: @escaping @autoclosure () -> Value
    ) throws -> Value {
        try decode(type, from: archive, rootKey: rootKey) {
            try KeyedArchiveEncoder().encode(defaultValue())
        }
    }

    /// Sets the value from which objects of a type take the fields that they lack.
    ///
    /// It helps objects that have no default at their path, wherever they are: elements of arrays
    /// and sets, values of dictionaries, payloads of enumerations, a root without a default. Each
    /// type has its own value.
    ///
    /// ```swift
    /// struct Level: Codable {
    ///     var number: Int
    ///     var stars: Int  // since version 2
    /// }
    /// var decoder = KeyedArchiveDecoder()
    /// decoder.setMissingFields(of: Level.self, from: Level(number: 0, stars: 3))
    /// let levels = try decoder.decode([Level].self, from: archive)
    /// ```
    ///
    /// - A default at the object's path comes first, and ``DefaultInitializable`` last.
    /// - A missing field of an optional type is nil.
    /// - An object of a subclass takes its superclass's fields from the superclass's value.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - value: The value with the missing fields. It is made again for each object that lacks
    ///     one.
    public mutating func setMissingFields<Value: Codable & SendableMetatype>(
        of type: Value.Type, from value: @escaping @autoclosure @Sendable () -> Value
    ) {
        prototypes[ObjectIdentifier(type)] = { try KeyedArchiveEncoder().encode(value()) }
    }

    /// Decodes the root of an archive.
    ///
    /// Missing fields come from the archive of a default value.
    ///
    /// - Parameter defaultArchive: Makes that archive when the first field is missing. It returns
    ///   nil if there is no default.
    package func decode<Value: Decodable>(
        _ type: Value.Type, from archive: KeyedArchive, rootKey: String? = nil,
        defaultArchive: @escaping () throws -> KeyedArchive?
    ) throws -> Value {
        let prototype = Prototype(type, defaultArchive)
        return try decode(type, in: DecodingSession(self, archive, prototype), rootKey)
    }
}

// MARK: Versions

extension KeyedArchiveDecoder {
    /// Sets how objects of an older version of a type are converted.
    ///
    /// If an object for `New` has exactly this version, `Old` is decoded from it, whatever the name
    /// of its class, and then converted. Migrations can be combined: if there is none for the
    /// object's version, the one for the next later version is used, if its old type can be reached
    /// from there. An object without such a migration is decoded as it is. An object with a newer
    /// version than the type's version is an error.
    ///
    /// ```swift
    /// decoder.migrate(from: 1, as: AccountV1.self, to: Account.self) { old in
    ///     Account(name: old.first + " " + old.last)
    /// }
    /// ```
    public mutating func migrate<
        Old: Decodable & SendableMetatype, New: Decodable & ArchiveVersioned & SendableMetatype
    >(
        from version: Int, as old: Old.Type, to new: New.Type,
        _ body: @escaping @Sendable (Old) throws -> New
    ) {
        precondition(old != new, "A migration must have different types.")
        let migration = Migration(old: ObjectIdentifier(old)) { session, place, location in
            try body(session.decode(Old.self, at: place, location, checksClass: false))
        }
        migrations[ObjectIdentifier(new), default: [:]][version] = migration
    }

    /// The migration from a version of a type, or from the next later version that can be reached.
    func migration(to type: ObjectIdentifier, from version: Int) -> Migration? {
        migration(to: type, from: version, steps: 0)
    }

    private func migration(to type: ObjectIdentifier, from version: Int, steps: Int) -> Migration? {
        guard let known = migrations[type], steps < migrations.count else { return nil }
        if let exact = known[version] { return exact }
        return known.keys.filter { $0 > version }.sorted().lazy.compactMap { known[$0] }.first {
            migration(to: $0.old, from: version, steps: steps + 1) != nil
        }
    }

    /// The conversion from an old version of a type to the next one.
    struct Migration: Sendable {
        let old: ObjectIdentifier
        let run: @Sendable (DecodingSession, DecodingPlace, DecodingLocation) throws -> Any
    }
}
