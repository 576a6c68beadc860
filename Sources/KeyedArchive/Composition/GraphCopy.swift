internal import PropertyList

/// Copies values of an archive into the `$objects` of a new one, with everything that they refer to.
///
/// 1. The order is that of ``ArchiveWriter``, so the copy of an archive of that writer has the same
///    bytes.
/// 2. What is shared in the archive is copied once, so it is shared in the copy, too. Equal scalars
///    and class records become one, wherever they come from, and so does NSNull. The stack is an
///    array.
/// 3. What is copied is paid for from a budget, because an archive can be divided into many parts
///    that share most of it.
struct GraphCopy {
    /// A step that is left to do.
    ///
    /// It adds one property list object to `results`.
    private enum Step {
        case copy(ObjectIndex)
        /// Ends an inline collection, whose contents were copied.
        case endInline(ObjectIndex, count: Int)
        /// Ends a collection of the property list that is an object itself.
        case endCollection(uid: UInt64)
        case endObject(uid: UInt64, Fields)
    }

    /// The cost of an archive without its objects, in bytes of memory.
    private static let archiveCost = 384

    private let source: KeyedArchive
    private let list: PropertyList
    /// The bytes that may still be copied: those of strings and data, and eight for each reference.
    private(set) var budget: Int
    private let limit: Int
    /// The copies of inline values.
    private var copies: [ObjectIndex: ObjectIndex] = [:]
    /// The new UIDs of objects.
    private var uids: [UInt64: UInt64] = [:]
    private var classes: [UInt64: ObjectTable.ClassNumber] = [:]
    private var steps: [Step] = []
    private var results: [ObjectIndex] = []

    /// - Parameter budget: The bytes that may be copied, of a limit of `limit`.
    init(of source: KeyedArchive, budget: Int = .max, of limit: Int = .max) {
        self.source = source
        list = source.list
        self.budget = budget
        self.limit = limit
    }

    /// Copies a value as an object, and returns the reference to it.
    ///
    /// An inline value becomes an object.
    mutating func copyObject(
        _ index: ObjectIndex, into table: inout ObjectTable
    ) throws(ArchiveError) -> ObjectIndex {
        try spend(Self.archiveCost, at: index)
        switch list.value(at: index) {
        case .uid:
            return try copy([index], into: &table)[0]
        case .array, .set, .orderedSet:
            let uid = table.reserve()
            table.define(uid, try copy([index], into: &table)[0])
            return table.reference(to: uid)
        case .dictionary(let keys, let values):
            return try copyDictionary(Fields(keys: keys, values: values), into: &table)
        case .boolean, .integer, .real, .singleReal, .date, .data, .string:
            return try copyScalarObject(index, into: &table)
        }
    }

    /// Copies an inline dictionary as an NSDictionary.
    private mutating func copyDictionary(
        _ entries: Fields, into table: inout ObjectTable
    ) throws(ArchiveError) -> ObjectIndex {
        let uid = table.reserve()
        let positions = 0..<entries.count
        var keys: [ObjectIndex] = []
        for position in positions {
            keys.append(try copyScalarObject(entries.key(at: position, in: list), into: &table))
        }
        let values = try copy(positions.map { entries.value(at: $0, in: list) }, into: &table)
        let lists = [table.elements(keys), table.elements(values)]
        table.define(
            uid, chain: ClassChain.of(FoundationClass.dictionary.className),
            names: ["NS.keys", "NS.objects"], values: lists)
        return table.reference(to: uid)
    }

    /// Copies values, which stay references or inline.
    private mutating func copy(
        _ values: [ObjectIndex], into table: inout ObjectTable
    ) throws(ArchiveError) -> [ObjectIndex] {
        steps = values.reversed().map { .copy($0) }
        while let step = steps.popLast() { try perform(step, into: &table) }
        defer { results = [] }
        return results
    }

    private mutating func spend(_ size: Int, at index: ObjectIndex) throws(ArchiveError) {
        guard size + 8 <= budget else {
            throw .outputTooLarge(limit: limit, at: list.byteOffset(of: index))
        }
        budget -= size + 8
    }
}

// MARK: Steps

extension GraphCopy {
    private mutating func perform(
        _ step: Step, into table: inout ObjectTable
    ) throws(ArchiveError) {
        switch step {
        case .copy(let index):
            try copy(index, into: &table)
        case .endInline(let index, let count):
            let contents = Array(results.suffix(count))
            results.removeLast(count)
            let copy = table.addCollection(like: list.value(at: index), contents)
            copies[index] = copy
            results.append(copy)
        case .endCollection(let uid):
            table.define(uid, results.removeLast())
            results.append(table.reference(to: uid))
        case .endObject(let uid, let fields):
            try endObject(uid, fields, into: &table)
        }
    }

    private mutating func copy(
        _ index: ObjectIndex, into table: inout ObjectTable
    ) throws(ArchiveError) {
        try spend(0, at: index)
        if let copy = copies[index] { return results.append(copy) }
        switch list.value(at: index) {
        case .uid(let uid):
            try refer(to: uid, into: &table)
        case .array(let contents), .set(let contents), .orderedSet(let contents):
            begin(index, list.elements(of: contents))
        case .dictionary(let keys, let values):
            let contents =
                list.elements(of: keys) + list.elements(of: values)
            begin(index, contents)
        case .boolean, .integer, .real, .singleReal, .date, .data, .string:
            let copy = try copyScalar(index, into: &table)
            copies[index] = copy
            results.append(copy)
        }
    }

    private mutating func copyScalar(
        _ index: ObjectIndex, into table: inout ObjectTable
    ) throws(ArchiveError) -> ObjectIndex {
        switch list.value(at: index) {
        case .string(let range): try spend(range.count, at: index)
        case .data(let range): try spend(range.count, at: index)
        default: break
        }
        return table.list.add(copyOf: index, in: list)
    }

    /// Copies a scalar as an object, and returns the reference to it.
    private mutating func copyScalarObject(
        _ index: ObjectIndex, into table: inout ObjectTable
    ) throws(ArchiveError) -> ObjectIndex {
        _ = try copyScalar(index, into: &table)
        return table.reference(toCopyOf: index, in: list)
    }

    private mutating func begin(_ collection: ObjectIndex, _ contents: [ObjectIndex]) {
        steps.append(.endInline(collection, count: contents.count))
        steps += contents.reversed().lazy.map { .copy($0) }
    }

    /// Refers to an object.
    ///
    /// It is copied now if this was not done before.
    private mutating func refer(
        to uid: UInt64, into table: inout ObjectTable
    ) throws(ArchiveError) {
        guard !source.isNil(uid) else { return results.append(table.reference(to: .null)) }
        if let known = uids[uid] { return results.append(table.reference(to: known)) }
        let index = source.object(uid)
        switch list.value(at: index) {
        case .dictionary(let keys, let values):
            let fields = Fields(keys: keys, values: values)
            // A class record that is used as a value has no class.
            guard fields["$class", in: list] != nil else { fallthrough }
            try beginObject(uid, fields, into: &table)
        case .array, .set, .orderedSet:
            let new = table.reserve()
            uids[uid] = new
            steps += [.endCollection(uid: new), .copy(index)]
        case .boolean, .integer, .real, .singleReal, .date, .data, .string, .uid:
            results.append(try copyScalarObject(index, into: &table))
        }
    }
}

// MARK: Objects

extension GraphCopy {
    /// Begins an object, which gets its UID before its fields are copied.
    private mutating func beginObject(
        _ uid: UInt64, _ fields: Fields, into table: inout ObjectTable
    ) throws(ArchiveError) {
        guard fields.count > 1 || source.knownClass(of: fields) != .null else {
            return results.append(table.nullObject())
        }
        let new = table.reserve()
        uids[uid] = new
        steps.append(.endObject(uid: new, fields))
        let classField = fields.position(of: "$class", in: list)
        for position in (0..<fields.count).reversed() where position != classField {
            steps.append(.copy(fields.value(at: position, in: list)))
        }
    }

    private mutating func endObject(
        _ uid: UInt64, _ fields: Fields, into table: inout ObjectTable
    ) throws(ArchiveError) {
        let classField = fields.position(of: "$class", in: list)
        var keys: [ObjectIndex] = []
        for position in 0..<fields.count where position != classField {
            let key = fields.key(at: position, in: list)
            try spend(0, at: key)
            if copies[key] == nil {
                table.writeClassKey()
                copies[key] = try copyScalar(key, into: &table)
            }
            keys.append(copies[key] ?? key)
        }
        let number = try classNumber(of: fields, in: &table)
        table.define(uid, number, keys: keys[...], values: results.suffix(keys.count))
        results.removeLast(keys.count)
        results.append(table.reference(to: uid))
    }

    /// The class of an object, with its superclasses.
    private mutating func classNumber(
        of fields: Fields, in table: inout ObjectTable
    ) throws(ArchiveError) -> ObjectTable.ClassNumber {
        guard let field = fields["$class", in: list], case .uid(let uid) = list.value(at: field),
            let record = Fields(of: list, at: source.object(uid))
        else { preconditionFailure("The $class of an object is not a class record.") }
        if let known = classes[uid] { return known }
        let number = table.classNumber(of: try chain(of: record))
        classes[uid] = number
        return number
    }

    private mutating func chain(of record: Fields) throws(ArchiveError) -> [Text] {
        var names = record["$classname", in: list].map { [$0] } ?? []
        if let classes = record["$classes", in: list],
            case .array(let references) = list.value(at: classes)
        {
            names += list.elements(of: references)
        }
        var chain: [Text] = []
        for name in names {
            try spend(list.string(at: name)?.count ?? 0, at: name)
            chain.append(list.text(at: name) ?? "")
        }
        // Its own name is usually the first of the chain, too.
        if chain.count > 1, chain[0] == chain[1] { chain.removeFirst() }
        return chain
    }
}
