package import PropertyList

/// A value that is neither a collection nor an object of a class.
package enum Scalar {
    case null
    case boolean(Bool)
    case integer(Int128)
    case real(Double)
    case string(Text)
    case data(ArraySlice<UInt8>)
    case date(Double)
}

/// The `$objects` of an archive that is being written, and the property list around them.
///
/// 1. `$objects` begins with `$null`, so that UID 0 is nil.
/// 2. Equal strings, numbers, data and dates are one object, and so are the records of one class.
///    An object of a class is shared only if the caller refers to its UID twice.
/// 3. The UIDs, and so the bytes, depend only on the order of the calls.
/// 4. The result has the invariants of ``KeyedArchive``: every UID in a reference was reserved or
///    given here, every dictionary in `$objects` comes from `define` or is a class record, and no
///    scalar is a UID. Callers must give different names to the fields of an object.
package struct ObjectTable {
    /// The number of a class in the table.
    typealias ClassNumber = Int

    private struct ClassRecord {
        let chain: [Text]
        /// The property list object that refers to the record, after it was written.
        var reference: ObjectIndex?
    }

    /// Up to this number, classes are searched linearly.
    private static let searchLimit = 8

    var list = PropertyListWriter()
    /// The entries of `$objects`.
    private var objects: [ObjectIndex]
    /// For each scalar of `$objects`, by its property list object: the object that refers to it.
    private var references: [ObjectIndex?] = []
    private var classes: [ClassRecord] = []
    private var classNumbers: [[Text]: ClassNumber] = [:]
    private var classKey: ObjectIndex?

    package init() {
        objects = [list.add(string: "$null")]
    }

    /// Reserves memory for this many objects.
    mutating func reserveCapacity(_ count: Int) {
        list.reserveCapacity(count)
    }

    /// Reserves the next UID, for an object that is defined later.
    package mutating func reserve() -> UInt64 {
        objects.append(objects[0])
        return UInt64(objects.count - 1)
    }

    /// Defines the object of a reserved UID: its class with the superclasses, and its fields, which
    /// come from the functions below.
    ///
    /// A new class also gets a UID for its record.
    package mutating func define(
        _ uid: UInt64, chain: [Text], names: [Text], values: [ObjectIndex]
    ) {
        objects[Int(uid)] = object(chain: chain, names: names, values: values)
    }

    /// The same for a class by its number, and names from ``key(_:)``.
    mutating func define(
        _ uid: UInt64, _ number: ClassNumber, keys: ArraySlice<ObjectIndex>,
        values: ArraySlice<ObjectIndex>
    ) {
        objects[Int(uid)] = object(number, keys: keys, values: values)
    }

    /// The number of a class with its superclasses.
    ///
    /// Nothing is written for it yet.
    mutating func classNumber(of chain: [Text]) -> ClassNumber {
        if classes.count <= Self.searchLimit {
            if let number = classes.firstIndex(where: { $0.chain == chain }) { return number }
        } else {
            if classNumbers.isEmpty {
                for (number, known) in classes.enumerated() { classNumbers[known.chain] = number }
            }
            if let number = classNumbers[chain] { return number }
            classNumbers[chain] = classes.count
        }
        classes.append(ClassRecord(chain: chain))
        return classes.count - 1
    }

    /// The name of a field, for the object that is defined next.
    mutating func key(_ name: Text) -> ObjectIndex {
        writeClassKey()
        return list.add(string: name)
    }
}

// MARK: Values of fields

extension ObjectTable {
    /// A reference to an object.
    package mutating func reference(to uid: UInt64) -> ObjectIndex {
        list.add(uid: uid)
    }

    /// A reference to the single object of the scalar.
    ///
    /// Null becomes a reference to nothing.
    package mutating func reference(to scalar: Scalar) -> ObjectIndex {
        if case .null = scalar { return list.add(uid: 0) }
        return reference(toScalar: add(scalar))
    }

    /// A reference to the single object of a string, which is given in UTF-8.
    mutating func reference(toText utf8: ArraySlice<UInt8>) -> ObjectIndex {
        reference(toScalar: list.add(utf8: utf8))
    }

    /// A number or a boolean itself, or a reference to any other scalar, as `encodeObject:` writes
    /// it.
    package mutating func field(_ scalar: Scalar) -> ObjectIndex {
        switch scalar {
        case .boolean, .integer, .real: add(scalar)
        case .null, .string, .data, .date: reference(to: scalar)
        }
    }

    /// An inline string.
    package mutating func inlineString(_ string: Text) -> ObjectIndex {
        list.add(string: string)
    }

    /// Inline bytes.
    package mutating func inlineBytes(_ bytes: ArraySlice<UInt8>) -> ObjectIndex {
        list.add(bytes: bytes)
    }

    /// The inline list of a collection's elements.
    package mutating func elements(_ elements: [ObjectIndex]) -> ObjectIndex {
        list.add(elements: elements[...])
    }

    /// The inline list of a part of a larger list.
    package mutating func elements(_ elements: ArraySlice<ObjectIndex>) -> ObjectIndex {
        list.add(elements: elements)
    }
}

// MARK: Copies

extension ObjectTable {
    /// A reference to the single object of a scalar that is copied from another list.
    mutating func reference(toCopyOf index: ObjectIndex, in source: PropertyList) -> ObjectIndex {
        reference(toScalar: list.add(copyOf: index, in: source))
    }

    /// Defines the object of a reserved UID as an object of the property list, which is not an
    /// object of a class.
    mutating func define(_ uid: UInt64, _ object: ObjectIndex) {
        objects[Int(uid)] = object
    }

    /// An inline collection of the same kind as another one.
    ///
    /// Keys come before values.
    mutating func addCollection(
        like value: PropertyList.Value, _ contents: [ObjectIndex]
    ) -> ObjectIndex {
        switch value {
        case .set: return list.add(set: contents)
        case .orderedSet: return list.add(orderedSet: contents)
        case .dictionary(let keys, _):
            return list.add(
                keys: Array(contents[..<keys.count]), values: Array(contents[keys.count...]))
        default: return list.add(array: contents)
        }
    }

    /// Writes the name that all objects have, which comes before their other names.
    mutating func writeClassKey() {
        _ = keyOfClass()
    }
}

// MARK: The end

extension ObjectTable {
    /// The archive whose `$top` has these entries.
    package consuming func finish(top names: [Text], _ values: [ObjectIndex]) -> KeyedArchive {
        KeyedArchive(written: finishList(top: names, values))
    }

    /// The property list of that archive.
    consuming func finishList(top names: [Text], _ values: [ObjectIndex]) -> PropertyList {
        // The order of these calls determines the bytes.
        let topKeys = names.map { list.add(string: $0) }
        let version = list.add(integer: KeyedArchive.version)
        let archiver = list.add(string: "NSKeyedArchiver")
        let top = list.add(keys: topKeys, values: values)
        let values = [version, archiver, top, list.add(array: objects)]
        let keys = [
            list.add(string: "$version"), list.add(string: "$archiver"), list.add(string: "$top"),
            list.add(string: "$objects"),
        ]
        let archive = list.add(keys: keys, values: values)
        return list.finishList(root: archive)
    }
}

// MARK: Objects

extension ObjectTable {
    private mutating func add(_ scalar: Scalar) -> ObjectIndex {
        switch scalar {
        case .null: objects[0]
        case .boolean(let value): list.add(boolean: value)
        case .integer(let value): list.add(integer: value)
        case .real(let value): list.add(real: value)
        case .string(let value): list.add(string: value)
        case .data(let value): list.add(bytes: value)
        case .date(let value): list.add(date: value)
        }
    }

    private mutating func reference(toScalar index: ObjectIndex) -> ObjectIndex {
        let position = index.position
        if position < references.count {
            if let known = references[position] { return known }
        } else {
            references += repeatElement(nil, count: position + 1 - references.count)
        }
        let reference = list.add(uid: newUID(of: index))
        references[position] = reference
        return reference
    }

    private mutating func newUID(of scalar: ObjectIndex) -> UInt64 {
        let uid = UInt64(objects.count)
        objects.append(scalar)
        if scalar == objects[0] {
            // A reference to the plain string `$null` means nil, so this string must be an object.
            objects[Int(uid)] = object(
                chain: ClassChain.of("NSString"), names: ["NS.string"], values: [scalar])
        }
        return uid
    }

    private mutating func object(
        chain: [Text], names: [Text], values: [ObjectIndex]
    ) -> ObjectIndex {
        _ = keyOfClass()
        let keys = names.map { list.add(string: $0) }
        return object(classNumber(of: chain), keys: keys[...], values: values[...])
    }

    private mutating func object(
        _ number: ClassNumber, keys: ArraySlice<ObjectIndex>, values: ArraySlice<ObjectIndex>
    ) -> ObjectIndex {
        let key = keyOfClass()
        let reference = reference(toClass: number)
        return list.add(firstKey: key, keys, firstValue: reference, values)
    }

    private mutating func keyOfClass() -> ObjectIndex {
        if let classKey { return classKey }
        let key = list.add(string: "$class")
        classKey = key
        return key
    }

    private mutating func reference(toClass number: ClassNumber) -> ObjectIndex {
        if let reference = classes[number].reference { return reference }
        let names = classes[number].chain.map { list.add(string: $0) }
        let record = list.add(
            keys: [list.add(string: "$classname"), list.add(string: "$classes")],
            values: [names[0], list.add(array: names)])
        objects.append(record)
        let reference = list.add(uid: UInt64(objects.count - 1))
        classes[number].reference = reference
        return reference
    }
}

extension KeyedArchive {
    /// Makes an archive from the output of one of this module's writers.
    ///
    /// It is not validated again: ``PropertyListWriter`` ensures the invariants of
    /// ``PropertyList``, and ``ObjectTable`` those of an archive. Debug builds check this. A broken
    /// invariant would not break memory safety.
    init(written list: PropertyList) {
        do {
            let root = try RootEntries(of: list)
            self.init(list: list, root: root)
        } catch {
            preconditionFailure("The archive that was written has no root: \(error)")
        }
        assert(isValid, "The archive that was written is not valid.")
    }

    private var isValid: Bool {
        let limits = Limits(
            byteCount: .max, objectCount: .max, depth: Limits.standard.depth)
        do {
            _ = try KeyedArchive(validating: bytes, limits: limits)
            return true
        } catch {
            return false
        }
    }
}
