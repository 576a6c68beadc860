public import PropertyList

/// Decodes Codable values from keyed archives, whichever program wrote them.
///
/// It reads what ``KeyedArchiveEncoder`` writes, and what the NSCoding classes of real programs do.
///
/// ```swift
/// let account = try KeyedArchiveDecoder().decode(Account.self, from: bytes)
/// ```
///
/// - An object must be of the type's class: its class is named like the type, with or without the
///   module, or has such a superclass, or its name was set by ``setClass(_:forClassName:)``. An
///   NSDictionary with string keys is accepted, too.
/// - A field that an object lacks comes from a new value of the type, if that is a
///   ``DefaultInitializable``, or from ``decode(_:from:rootKey:missingFieldsFrom:)``'s default.
/// - Numbers and booleans may be inline or behind a reference. An integer must fit; a whole real
///   that fits is accepted, too. A boolean may be 0 or 1, because Foundation on Linux writes these.
///   A real may be an integer that it holds exactly. A `Float` is the nearest value of a real in
///   range.
/// - Arrays and sets are read from NSArray, NSSet and NSOrderedSet, dictionaries also from the
///   fields of any object except arrays and sets, if their keys are `String`.
/// - One object is one instance of the class that is asked for, even if there are several
///   references to it. Codable cannot build a circle: that is an error.
///
/// Decoding always ends in a value or in an error: nesting and size are limited,
/// and shared objects count each time. The decoder is a value, and may be used by many threads.
public struct KeyedArchiveDecoder: Sendable {
    /// How much is decoded.
    public struct Limits: Hashable, Sendable {
        /// The limits for an archive that is given as bytes.
        public var archive = KeyedArchive.Limits.standard
        /// The deepest nesting of values; each level uses some of the stack.
        ///
        /// The default needs up to half a mebibyte, and more in debug builds.
        public var depth = 512
        /// The most bytes that are decoded: those of strings and data, and eight for each value.
        ///
        /// What several places share counts for each of them.
        public var size = 64 << 20

        /// Makes the usual limits.
        public init() {}
    }

    /// The `userInfo` of the decoders that values get.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// How much is decoded.
    public var limits = Limits()

    /// The types of classes by name.
    private(set) var classes: [Text: any (Decodable & SendableMetatype).Type] = [:]
    /// How many UTF-16 code units the longest of these names has.
    private(set) var longestClassName = 0
    /// The conversions of old versions, by the new type and the old version.
    private(set) var migrations: [ObjectIdentifier: [Int: Migration]] = [:]

    /// Makes a decoder that knows only the names of the types.
    public init() {}

    /// Sets the type for objects whose class has this name.
    ///
    /// If the type is a class, they are also decoded if one of its superclasses is asked for, as
    /// instances of the class itself.
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
    ///   - rootKey: The key of the value in `$top`. Without one it is `root`, or
    ///     the only key there is.
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
        // A type can pass over the error that nothing is left, or not find what it looks for.
        try session.checkBudget(at: location)
        let value = try result.get()
        try session.checkForeignRoot()
        return value
    }

    /// Checks that bytes are a keyed archive, and decodes its root.
    ///
    /// - Throws: `DecodingError` as above. If the bytes are not an archive, its `underlyingError`
    ///   is the ``ArchiveError``, which has the offset.
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
    /// Decodes the root of an archive, with missing fields from a default value.
    ///
    /// An archive that an earlier version of a program wrote lacks the fields that came later:
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
    /// - What an object lacks comes from the default value's object at the same path. Elements of
    ///   arrays and sets have no such path; their fields come from ``DefaultInitializable``, if
    ///   their type is one.
    /// - A missing field of an optional type is nil, because an optional that is nil may have been
    ///   left out.
    /// - If the root is a structure or an enumeration, its object may be of any class. An object
    ///   that has fields, but none that the type asks for, is refused.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - archive: The archive.
    ///   - rootKey: The key of `$top` under which the value is, as in `decode(_:from:rootKey:)`.
    ///   - defaultValue: Has the missing fields. It is made when the first one is needed.
    /// - Throws: As `decode(_:from:rootKey:)`.
    public func decode<Value: Codable>(
        _ type: Value.Type, from archive: KeyedArchive, rootKey: String? = nil,
        missingFieldsFrom defaultValue: @escaping @autoclosure () -> Value
    ) throws -> Value {
        try decode(type, from: archive, rootKey: rootKey) {
            try KeyedArchiveEncoder().encode(defaultValue())
        }
    }

    /// Decodes the root of an archive.
    ///
    /// Missing fields come from the archive of a default value.
    ///
    /// - Parameter defaultArchive: Makes that archive, when the first field is missing; nil if
    ///   there is no default.
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
    /// If an object of `New` has exactly this version, `Old` is decoded from it, whatever the name
    /// of its class, and converted. Steps compose: if there is none for the object's version, the
    /// next later one is taken, if its old type can be reached from there. An object without such a
    /// step is decoded as it is. An object with a newer version than the type's is an error.
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

    /// The step from a version of a type to the next one that leads to it, if there is a way.
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

    /// A step from an old version of a type to the next.
    struct Migration: Sendable {
        let old: ObjectIdentifier
        let run: @Sendable (DecodingSession, DecodingPlace, DecodingLocation) throws -> Any
    }
}
