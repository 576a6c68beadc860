package import PropertyList

/// The `$objects` of an archive that is being written, and the property list around it.
///
/// 1. `$objects` begins with `$null`, so that UID 0 is nil.
/// 2. Equal strings, numbers, data and dates are one object, and so are the records of one class.
///    Objects of classes are shared only by who reserves one UID and refers to it twice.
/// 3. The UIDs, and so the bytes, follow from the order of the calls alone.
package struct ObjectTable {
    private(set) var list = PropertyListWriter()
    /// The entries of `$objects`.
    private var objects: [ObjectIndex]
    /// The UIDs of the scalars.
    private var uids: [ObjectIndex: UInt64] = [:]
    private var classUIDs: [[Text]: UInt64] = [:]

    package init() {
        objects = [list.add(string: "$null")]
    }

    /// Takes the next UID, for an object that is defined later.
    package mutating func reserve() -> UInt64 {
        objects.append(objects[0])
        return UInt64(objects.count - 1)
    }

    /// Says what the object is whose UID was reserved: its class with the superclasses, and its
    /// fields, which come from the functions below.
    ///
    /// The record of the class takes a UID here where it is new.
    package mutating func define(
        _ uid: UInt64, chain: [Text], names: [Text], values: [ObjectIndex]
    ) {
        objects[Int(uid)] = object(chain: chain, names: names, values: values)
    }
}

// MARK: What fields hold

extension ObjectTable {
    /// A reference to an object.
    package mutating func reference(to uid: UInt64) -> ObjectIndex {
        list.add(uid: uid)
    }

    /// A reference to the one object that the scalar is; for null, to nothing.
    package mutating func reference(to scalar: Scalar) -> ObjectIndex {
        if case .null = scalar { return list.add(uid: 0) }
        let index = add(scalar)
        let uid = uids[index] ?? newUID(of: index)
        return list.add(uid: uid)
    }

    /// A number or a boolean itself; a reference to all else, as `encodeObject:` writes it.
    package mutating func field(_ scalar: Scalar) -> ObjectIndex {
        switch scalar {
        case .boolean, .integer, .real: add(scalar)
        case .null, .string, .data, .date: reference(to: scalar)
        }
    }

    /// A string that stands inline.
    package mutating func inlineString(_ string: Text) -> ObjectIndex {
        list.add(string: string)
    }

    /// Bytes that stand inline.
    package mutating func inlineBytes(_ bytes: ArraySlice<UInt8>) -> ObjectIndex {
        list.add(data: bytes)
    }

    /// The list of a collection's elements, which stands inline.
    package mutating func elements(_ elements: [ObjectIndex]) -> ObjectIndex {
        list.add(array: elements)
    }
}

// MARK: The end

extension ObjectTable {
    /// The archive whose `$top` has these entries.
    package consuming func finish(top names: [Text], _ values: [ObjectIndex]) -> KeyedArchive {
        let topKeys = names.map { list.add(string: $0) }
        let entries: KeyValuePairs<Text, ObjectIndex> = [
            "$version": list.add(integer: KeyedArchive.version),
            "$archiver": list.add(string: "NSKeyedArchiver"),
            "$top": list.add(keys: topKeys, values: values),
            "$objects": list.add(array: objects),
        ]
        let archive = list.add(
            keys: entries.map { list.add(string: $0.key) }, values: entries.map(\.value))
        return validated(list.finish(root: archive))
    }

    /// Reads what was written; the limits on what is read do not hold for it.
    private func validated(_ bytes: [UInt8]) -> KeyedArchive {
        let limits = KeyedArchive.Limits(
            byteCount: .max, objectCount: .max, depth: KeyedArchive.Limits.standard.depth)
        do {
            return try KeyedArchive(validating: bytes, limits: limits)
        } catch {
            preconditionFailure("The archive that was written is not valid: \(error)")
        }
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
        case .data(let value): list.add(data: value)
        case .date(let value): list.add(date: value)
        }
    }

    private mutating func newUID(of scalar: ObjectIndex) -> UInt64 {
        let uid = UInt64(objects.count)
        uids[scalar] = uid
        objects.append(scalar)
        if scalar == objects[0] {
            // A reference to the plain string `$null` is nil, so this one has to be an object.
            objects[Int(uid)] = object(
                chain: ClassChain.of("NSString"), names: ["NS.string"], values: [scalar])
        }
        return uid
    }

    private mutating func object(
        chain: [Text], names: [Text], values: [ObjectIndex]
    ) -> ObjectIndex {
        let keys = [list.add(string: "$class")] + names.map { list.add(string: $0) }
        return list.add(keys: keys, values: [list.add(uid: classUID(of: chain))] + values)
    }

    private mutating func classUID(of chain: [Text]) -> UInt64 {
        if let uid = classUIDs[chain] { return uid }
        let names = chain.map { list.add(string: $0) }
        let record = list.add(
            keys: [list.add(string: "$classname"), list.add(string: "$classes")],
            values: [names[0], list.add(array: names)])
        objects.append(record)
        let uid = UInt64(objects.count - 1)
        classUIDs[chain] = uid
        return uid
    }
}
