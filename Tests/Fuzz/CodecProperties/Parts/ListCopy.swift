import PropertyList

/// Writes what the root of a property list reaches once more, and may turn its dictionaries around
/// and number its UIDs anew, which changes no archive's value.
///
/// The writer has neither sets nor reals of 32 bits: they become arrays and reals.
struct ListCopy {
    private let list: PropertyList
    /// For each UID that there may be, in order, the new one; nil where they stay as they are.
    private let uids: [UInt64]?
    private let turnsDictionaries: Bool
    private var writer = PropertyListWriter()
    private var copies: [ObjectIndex: ObjectIndex] = [:]
    /// Whether all has the type that it had.
    private(set) var isExact = true

    init(
        of list: PropertyList, uids: [UInt64]? = nil, turnsDictionaries: Bool = false
    ) throws(Violation) {
        self.list = list
        self.uids = uids
        self.turnsDictionaries = turnsDictionaries
        for index in try list.elementsFirst() { copies[index] = copy(index) }
    }

    /// The bytes of the copy.
    var bytes: [UInt8] { writer.finish(root: copy(of: list.root)) }

    /// The bytes of the archive, its objects in the order that the new UIDs ask for.
    func bytes(of archive: ArchiveParts) -> [UInt8] {
        var writer = writer
        var objects = list.elements(of: archive.objects).map { copy(of: $0) }
        if let uids {
            let old = objects
            for (uid, new) in uids.enumerated() { objects[Int(new)] = old[uid] }
        }
        let entries = archive.entries.map { entry in
            let isObjects = entry.value == archive.objectsIndex
            return (
                key: copy(of: entry.key),
                value: isObjects ? writer.add(array: objects) : copy(of: entry.value)
            )
        }
        let root = writer.add(keys: entries.map(\.key), values: entries.map(\.value))
        return writer.finish(root: root)
    }

    private func copy(of index: ObjectIndex) -> ObjectIndex {
        guard let copy = copies[index] else {
            preconditionFailure("The root does not reach an object that it refers to.")
        }
        return copy
    }

    private mutating func copy(_ index: ObjectIndex) -> ObjectIndex {
        let value = list.value(at: index)
        switch value {
        case .boolean(let value): return writer.add(boolean: value)
        case .integer(let value): return writer.add(integer: value)
        case .real(let value): return writer.add(real: value)
        case .date(let value): return writer.add(date: value)
        case .data(let range): return writer.add(data: list.data(of: range))
        case .string(let range): return writer.add(string: list.text(of: range))
        case .uid(let uid): return writer.add(uid: uids?[Int(uid)] ?? uid)
        case .singleReal(let value):
            isExact = false
            return writer.add(real: Double(value))
        case .array, .set, .orderedSet:
            if case .array = value {} else { isExact = false }
            return writer.add(array: list.children(of: value).map { copy(of: $0) })
        case .dictionary(let keys, let values):
            let keys = list.elements(of: keys).map { copy(of: $0) }
            let values = list.elements(of: values).map { copy(of: $0) }
            return turnsDictionaries
                ? writer.add(keys: keys.reversed(), values: values.reversed())
                : writer.add(keys: keys, values: values)
        }
    }
}
