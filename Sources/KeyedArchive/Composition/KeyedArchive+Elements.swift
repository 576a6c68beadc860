public import PropertyList

/// Archives of arrays and dictionaries, made from the archives of their elements.
///
/// ```swift
/// let shelf = try KeyedArchive(array: [archiveOfMomo, archiveOfDune])
/// for book in try shelf.elements() { show(book) }
/// ```
///
/// An element keeps its objects, their classes, and what they share. Two elements share only equal
/// strings, numbers, data and dates, NSNull, and the records of classes. The same elements give the
/// same bytes. If ``KeyedArchiveEncoder`` makes the elements, their array has the same bytes as the
/// archive that it makes of the whole array, unless elements share an instance, or have sets of
/// objects.
extension KeyedArchive {
    /// Makes the archive of an array.
    ///
    /// - Parameters:
    ///   - elements: Archives with the elements as their roots. Nil becomes NSNull.
    ///   - limits: How large the archive may be.
    /// - Throws: ``ArchiveError`` if it would be larger, and `DecodingError` if an element has
    ///   several roots.
    public init(array elements: [KeyedArchive], limits: Limits = .standard) throws {
        var table = ObjectTable()
        let uid = table.reserve()
        let list = table.elements(try elements.map { try $0.copyRoot(into: &table) })
        table.define(
            uid, chain: ClassChain.of(FoundationClass.array.className), names: ["NS.objects"],
            values: [list])
        try self.init(table, root: uid, limits: limits)
    }

    /// Makes the archive of a dictionary.
    ///
    /// - Parameters:
    ///   - entries: Archives with the values as their roots. Nil becomes NSNull.
    ///   - limits: How large the archive may be.
    /// - Throws: The same errors as ``init(array:limits:)``.
    public init(dictionary entries: [String: KeyedArchive], limits: Limits = .standard) throws {
        var table = ObjectTable()
        let uid = table.reserve()
        let sorted = entries.map { (key: Text($0), value: $1) }.sorted { $0.key < $1.key }
        let keys = table.elements(sorted.map { table.reference(to: .string($0.key)) })
        let values = table.elements(try sorted.map { try $0.value.copyRoot(into: &table) })
        table.define(
            uid, chain: ClassChain.of(FoundationClass.dictionary.className),
            names: ["NS.keys", "NS.objects"], values: [keys, values])
        try self.init(table, root: uid, limits: limits)
    }

    /// The elements of the array or set that is the root, each as the root of an archive.
    ///
    /// An object that several elements share is in each of their archives.
    ///
    /// - Parameter sizeLimit: The most bytes, with each shared object at each of its places: those
    ///   of strings and data, and eight for each value.
    /// - Throws: `DecodingError` if the root is not an array or a set, and ``ArchiveError`` if the
    ///   archive is larger.
    public func elements(sizeLimit: Int = 64 << 20) throws -> [KeyedArchive] {
        let session = DecodingSession(KeyedArchiveDecoder(), self)
        let elements = try session.elements(of: session.root(nil), .root)
        let values = (0..<elements.count).map { elements.element($0, in: list) }
        return try parts(values, sizeLimit: sizeLimit)
    }

    /// The entries of the dictionary that is the root, each value as the root of an archive.
    ///
    /// - Parameter sizeLimit: The limit, as with ``elements(sizeLimit:)``.
    /// - Throws: `DecodingError` if the root is not a dictionary whose keys are different strings,
    ///   and ``ArchiveError`` if the archive is larger than the limit.
    public func entries(sizeLimit: Int = 64 << 20) throws -> [String: KeyedArchive] {
        let session = DecodingSession(KeyedArchiveDecoder(), self)
        let (names, values) = try session.dictionary(at: session.root(nil))
        return Dictionary(uniqueKeysWithValues: zip(names, try parts(values, sizeLimit: sizeLimit)))
    }
}

// MARK: Parts

extension KeyedArchive {
    /// Makes the archive of a table.
    private init(_ table: consuming ObjectTable, root uid: UInt64, limits: Limits) throws {
        let root = table.reference(to: uid)
        try self.init(validating: table.finishList(top: ["root"], [root]).bytes, limits: limits)
    }

    /// Copies the root as an element of a collection.
    private func copyRoot(into table: inout ObjectTable) throws -> ObjectIndex {
        let root = try rootReference()
        if case .uid(let uid) = list.value(at: root), isNil(uid) { return table.nullObject() }
        var copy = GraphCopy(of: self)
        return try copy.copyObject(root, into: &table)
    }

    /// The value of the only key of `$top`.
    ///
    /// An archive with other roots beside `root` would lose them.
    private func rootReference() throws -> ObjectIndex {
        let top = Fields(keys: topKeys, values: topValues)
        guard top.count == 1 else { throw DecodingError.noRoot(nil, count: top.count) }
        return top.value(at: 0, in: list)
    }

    /// Archives with these values as their roots.
    private func parts(_ values: [ObjectIndex], sizeLimit: Int) throws -> [KeyedArchive] {
        // The parts are decoded later, each with a limit of its own.
        try checkSizeWithoutSharing(upTo: sizeLimit)
        // Each part repeats its class records and the names of its fields.
        let limit = max(sizeLimit, 8 * bytes.count)
        var budget = limit
        return try values.map { value in
            var table = ObjectTable()
            var copy = GraphCopy(of: self, budget: budget, of: limit)
            let root = try copy.copyObject(value, into: &table)
            budget = copy.budget
            // It is nested as deep as this archive, which was made with limits of its own.
            return try KeyedArchive(
                validating: table.finishList(top: ["root"], [root]).bytes, limits: .none)
        }
    }
}

extension KeyedArchive.Limits {
    fileprivate static let none = KeyedArchive.Limits(
        byteCount: .max, objectCount: .max, depth: .max)
}

extension DecodingLocation {
    fileprivate static var root: DecodingLocation { DecodingLocation(parent: nil, key: .none) }
}

extension DecodingSession {
    /// The keys of a dictionary and its values.
    fileprivate func dictionary(
        at place: DecodingPlace
    ) throws -> (keys: [String], values: [ObjectIndex]) {
        let decoder = ValueDecoder(self, place, .root, type: nil)
        guard try decoder.findEntries(), let entries = decoder.entries, entries.style != .object
        else { throw mismatch([String: Any].self, "a dictionary", place, .root) }
        var names: Set<String> = []
        let keys = try (0..<entries.count).map { position in
            guard let text = entries.name(at: position, in: self) else {
                throw error(DecodingError.keyIsNoString, place, .root)
            }
            guard let name = text.string else {
                throw error(DecodingError.unpairedSurrogate, place, .root)
            }
            // Names that are canonically equivalent are one key of a Swift dictionary.
            guard names.insert(name).inserted else {
                throw error(DecodingError.duplicateKey, place, .root)
            }
            return name
        }
        return (keys, (0..<entries.count).map { entries.value(at: $0, in: list) })
    }
}
