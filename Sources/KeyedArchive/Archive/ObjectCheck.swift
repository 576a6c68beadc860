internal import PropertyList

/// Validates everything in `$objects` (invariants 2, 3 and 4 of ``KeyedArchive``).
///
/// Each object of the property list is validated once, even if `$objects` has it several times.
struct ObjectCheck {
    /// The most entries that a class record may have.
    ///
    /// Three entries are in use.
    ///
    /// Each object that refers to a record searches its entries for the name.
    private static let classRecordLimit = 16

    private enum Kind {
        case unknown
        case plain
        case classRecord
        case object
    }

    private let list: PropertyList
    private let objects: PropertyList.References
    private var kinds: [Kind]
    /// The string `$class` that was found last; most objects share it.
    private var classKey: ObjectIndex?

    init(of objects: PropertyList.References, in list: PropertyList) {
        self.list = list
        self.objects = objects
        kinds = Array(repeating: .unknown, count: list.objectCount)
    }

    mutating func run() throws(ArchiveError) {
        try checkReferences()
        for position in 0..<objects.count {
            let index = list.element(position, of: objects)
            guard kinds[index.position] == .unknown else { continue }
            kinds[index.position] = try kind(of: index)
        }
    }

    /// Validates every UID of the property list, including those in objects that nothing refers to.
    private func checkReferences() throws(ArchiveError) {
        let count = objects.count
        guard let largest = list.largestUID, largest >= count else { return }
        for index in list.indices {
            if case .uid(let uid) = list.value(at: index), uid >= count {
                throw .uidOutOfRange(uid, count: count, at: list.byteOffset(of: index))
            }
        }
    }

    private mutating func kind(of index: ObjectIndex) throws(ArchiveError) -> Kind {
        switch list.value(at: index) {
        case .uid:
            throw .objectIsReference(at: list.byteOffset(of: index))
        case .dictionary(let keys, let values):
            let fields = Fields(keys: keys, values: values)
            guard let reference = classReference(of: fields) else {
                try checkClassRecord(fields, at: list.byteOffset(of: index))
                return .classRecord
            }
            guard case .uid(let uid) = list.value(at: reference) else {
                throw .classIsNoReference(at: list.byteOffset(of: index))
            }
            try checkClass(uid, of: index)
            return .object
        case .boolean, .integer, .real, .singleReal, .date, .data, .string, .array, .orderedSet,
            .set:
            return .plain
        }
    }

    /// The value of the field `$class`, if there is one.
    private mutating func classReference(of fields: Fields) -> ObjectIndex? {
        if let classKey, let position = list.position(of: classKey, in: fields.keys) {
            return fields.value(at: position, in: list)
        }
        guard let position = fields.position(of: "$class", in: list) else { return nil }
        classKey = fields.key(at: position, in: list)
        return fields.value(at: position, in: list)
    }

    /// Validates that the class of an object is a class record.
    ///
    /// If that record comes later, it is validated here, too.
    private mutating func checkClass(
        _ uid: UInt64, of index: ObjectIndex
    ) throws(ArchiveError) {
        let record = list.element(Int(uid), of: objects)
        if kinds[record.position] == .unknown {
            guard let fields = Fields(of: list, at: record), fields["$class", in: list] == nil
            else {
                throw .notClassRecord(uid, at: list.byteOffset(of: index))
            }
            try checkClassRecord(fields, at: list.byteOffset(of: record))
            kinds[record.position] = .classRecord
        }
        guard kinds[record.position] == .classRecord else {
            throw .notClassRecord(uid, at: list.byteOffset(of: index))
        }
    }

    private func checkClassRecord(_ fields: Fields, at offset: Int) throws(ArchiveError) {
        guard let name = fields["$classname", in: list] else { throw .noClass(at: offset) }
        guard fields.count <= Self.classRecordLimit else {
            throw .badClassRecord("it has more than 16 entries", at: offset)
        }
        guard case .string(let range) = list.value(at: name), range.count > 0 else {
            throw .badClassRecord("its $classname is not a name", at: offset)
        }
        guard let classes = fields["$classes", in: list], areStrings(classes) else {
            throw .badClassRecord("its $classes is not an array of names", at: offset)
        }
        if let hints = fields["$classhints", in: list], !areStrings(hints) {
            throw .badClassRecord("its $classhints is not an array of names", at: offset)
        }
    }

    private func areStrings(_ index: ObjectIndex) -> Bool {
        guard case .array(let references) = list.value(at: index) else { return false }
        return (0..<references.count).allSatisfy { position in
            list.string(at: list.element(position, of: references)) != nil
        }
    }
}
