/// Builds a binary property list, object by object: elements first, then what holds them.
///
/// The bytes follow from the calls alone. Scalars are written once however often they are added,
/// every number takes the fewest bytes, and the root stands first.
///
/// ```swift
/// var writer = PropertyListWriter()
/// let title = writer.add(string: "Dune")
/// let list = writer.add(array: [title, title])
/// let bytes = writer.finish(root: list)
/// ```
public struct PropertyListWriter {
    /// What scalars are told apart by: their type and content, reals and dates by their bits.
    private enum Scalar: Hashable {
        case boolean(Bool)
        case integer(Int128)
        case real(UInt64)
        case singleReal(UInt32)
        case date(UInt64)
        case data([UInt8])
        case string(Text)
        case uid(UInt64)
    }

    /// An object, its content a range of `content` or of `references`.
    private struct Entry {
        enum Kind { case scalar, array, orderedSet, set, dictionary }
        let kind: Kind
        let start: Int
        let count: Int
    }

    private var entries: [Entry] = []
    private var content: [UInt8] = []
    private var references: [ObjectIndex] = []
    private var scalars: [Scalar: ObjectIndex] = [:]

    /// Makes a writer that has no object yet.
    public init() {}

    /// Adds a boolean.
    public mutating func add(boolean: Bool) -> ObjectIndex {
        add(.boolean(boolean)) { $0.append(boolean ? 0x09 : 0x08) }
    }

    /// Adds an integer.
    public mutating func add(integer: Int128) -> ObjectIndex {
        add(.integer(integer)) { $0.append(integer: integer) }
    }

    /// Adds a real of 64 bits.
    public mutating func add(real: Double) -> ObjectIndex {
        add(.real(real.bitPattern)) { $0.append(marker: 0x23, bits: real.bitPattern) }
    }

    /// Adds a real of 32 bits.
    package mutating func add(singleReal: Float) -> ObjectIndex {
        add(.singleReal(singleReal.bitPattern)) {
            $0.append(0x22)
            $0.append(bigEndian: singleReal.bitPattern, width: 4)
        }
    }

    /// Adds a date, in seconds since 2001-01-01 00:00:00 UTC.
    public mutating func add(date: Double) -> ObjectIndex {
        add(.date(date.bitPattern)) { $0.append(marker: 0x33, bits: date.bitPattern) }
    }

    /// Adds bytes.
    public mutating func add(data: some Sequence<UInt8>) -> ObjectIndex {
        let data = Array(data)
        return add(.data(data)) {
            $0.append(type: 0x4, count: data.count)
            $0.append(contentsOf: data)
        }
    }

    /// Adds a string: as ASCII where it is that, else as UTF-16.
    public mutating func add(string: Text) -> ObjectIndex {
        add(.string(string)) { $0.append(text: string) }
    }

    /// Adds a reference of a keyed archive.
    public mutating func add(uid: UInt64) -> ObjectIndex {
        add(.uid(uid)) {
            let width = uid.byteWidth
            $0.append(0x80 | UInt8(width - 1))
            $0.append(bigEndian: uid, width: width)
        }
    }

    /// Adds an array of objects that were added before.
    public mutating func add(array elements: [ObjectIndex]) -> ObjectIndex {
        add(Entry(kind: .array, start: references.count, count: elements.count), elements)
    }

    /// Adds a set of objects that were added before, in the order in which it is to be written.
    package mutating func add(set elements: [ObjectIndex]) -> ObjectIndex {
        add(Entry(kind: .set, start: references.count, count: elements.count), elements)
    }

    /// Adds an ordered set of objects that were added before.
    package mutating func add(orderedSet elements: [ObjectIndex]) -> ObjectIndex {
        add(Entry(kind: .orderedSet, start: references.count, count: elements.count), elements)
    }

    /// Adds a dictionary of objects that were added before: as many values as keys, in this order;
    /// the keys are strings, all different.
    public mutating func add(keys: [ObjectIndex], values: [ObjectIndex]) -> ObjectIndex {
        precondition(keys.count == values.count, "A dictionary has as many values as keys.")
        return add(
            Entry(kind: .dictionary, start: references.count, count: keys.count), keys + values)
    }

    private mutating func add(_ entry: Entry, _ elements: [ObjectIndex]) -> ObjectIndex {
        references += elements
        entries.append(entry)
        return ObjectIndex(number: UInt32(entries.count - 1))
    }

    private mutating func add(
        _ scalar: Scalar, encode: (inout [UInt8]) -> Void
    ) -> ObjectIndex {
        if let known = scalars[scalar] { return known }
        let start = content.count
        encode(&content)
        let entry = Entry(kind: .scalar, start: start, count: content.count - start)
        let index = add(entry, [])
        scalars[scalar] = index
        return index
    }

    /// The bytes of the property list whose root is `root`.
    public func finish(root: ObjectIndex) -> [UInt8] {
        precondition(root.position < entries.count, "The root is no object of this writer.")
        let referenceWidth = UInt64(entries.count).byteWidth
        var bytes = Trailer.header
        bytes.reserveCapacity(content.count + references.count * referenceWidth + 64)
        var offsets: [Int] = []
        offsets.reserveCapacity(entries.count)
        let others = entries.indices.lazy.filter { $0 != root.position }
        for position in [[root.position], Array(others)].joined() {
            offsets.append(bytes.count)
            append(entries[position], root: root, referenceWidth: referenceWidth, to: &bytes)
        }
        let table = bytes.count
        let offsetWidth = UInt64(table).byteWidth
        for offset in offsets { bytes.append(bigEndian: UInt64(offset), width: offsetWidth) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)]
        bytes.append(bigEndian: UInt64(entries.count), width: 8)
        bytes.append(bigEndian: 0, width: 8)
        bytes.append(bigEndian: UInt64(table), width: 8)
        return bytes
    }

    private func append(
        _ entry: Entry, root: ObjectIndex, referenceWidth: Int, to bytes: inout [UInt8]
    ) {
        switch entry.kind {
        case .scalar:
            bytes += content[entry.start..<entry.start + entry.count]
            return
        case .array:
            bytes.append(type: 0xA, count: entry.count)
        case .orderedSet:
            bytes.append(type: 0xB, count: entry.count)
        case .set:
            bytes.append(type: 0xC, count: entry.count)
        case .dictionary:
            bytes.append(type: 0xD, count: entry.count)
        }
        let count = entry.kind == .dictionary ? 2 * entry.count : entry.count
        for reference in references[entry.start..<entry.start + count] {
            // The root moves to the front, and those before it one place back.
            let number =
                reference == root
                ? 0 : reference.number + (reference.number < root.number ? 1 : 0)
            bytes.append(bigEndian: UInt64(number), width: referenceWidth)
        }
    }
}
