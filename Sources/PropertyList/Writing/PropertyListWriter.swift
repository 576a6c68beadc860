/// Builds a binary property list, object by object: elements first, then the collections with them.
///
/// The same calls always give the same bytes. Equal scalars are written once, every number takes
/// the fewest bytes, and the root comes first.
///
/// ```swift
/// var writer = PropertyListWriter()
/// let title = writer.add(string: "Dune")
/// let list = writer.add(array: [title, title])
/// let bytes = writer.finish(root: list)
/// ```
public struct PropertyListWriter {
    /// An object.
    ///
    /// Its content is a range of `content` or of `references`.
    private struct Entry {
        /// What an object is; of collections, the type in its marker.
        enum Kind: UInt8 {
            case scalar = 0
            case array = 0xA
            case orderedSet = 0xB
            case set = 0xC
            case dictionary = 0xD
        }
        let kind: Kind
        let start: Int
        let count: Int
    }

    /// A slot of the hash table.
    private struct Slot {
        var hash: UInt32 = 0
        /// The number of the scalar plus 1; 0 if the slot is free.
        var number: UInt32 = 0
    }

    private var entries: [Entry] = []
    /// The scalars in the form in which they will be written.
    var content: [UInt8] = []
    private var references: [ObjectIndex] = []
    /// Finds the scalars by their bytes: a hash table with a power of two of slots, at most half
    /// full.
    private var slots = [Slot](repeating: Slot(), count: 64)
    private var scalarCount = 0
    private var largestUID: UInt64?
    /// The total size of the markers and counts of the collections, in bytes.
    private var markerSize = 0

    /// Makes a writer that has no object yet.
    public init() {
        entries.reserveCapacity(32)
        content.reserveCapacity(256)
    }

    /// Reserves memory for a number of objects.
    package mutating func reserveCapacity(_ count: Int) {
        entries.reserveCapacity(count)
        while slots.count < 2 * count { growSlots() }
    }

    /// Adds an array of objects that were added before.
    public mutating func add(array elements: [ObjectIndex]) -> ObjectIndex {
        add(elements: elements[...])
    }

    /// Adds an array of objects that were added before.
    package mutating func add(elements: ArraySlice<ObjectIndex>) -> ObjectIndex {
        add(elements, kind: .array)
    }

    /// Adds a set of objects that were added before, in the order in which it is to be written.
    package mutating func add(set elements: [ObjectIndex]) -> ObjectIndex {
        add(elements[...], kind: .set)
    }

    /// Adds an ordered set of objects that were added before.
    package mutating func add(orderedSet elements: [ObjectIndex]) -> ObjectIndex {
        add(elements[...], kind: .orderedSet)
    }

    /// Adds a dictionary of objects that were added before.
    ///
    /// There are as many values as keys, in the same order. The keys are distinct strings.
    public mutating func add(keys: [ObjectIndex], values: [ObjectIndex]) -> ObjectIndex {
        precondition(keys.count == values.count, "A dictionary has as many values as keys.")
        let start = references.count
        append(keys[...])
        append(values[...])
        return add(Entry(kind: .dictionary, start: start, count: keys.count))
    }

    /// Adds a dictionary whose first key and value are given separately.
    package mutating func add(
        firstKey: ObjectIndex, _ keys: ArraySlice<ObjectIndex>,
        firstValue: ObjectIndex, _ values: ArraySlice<ObjectIndex>
    ) -> ObjectIndex {
        precondition(keys.count == values.count, "A dictionary has as many values as keys.")
        let start = references.count
        append([firstKey])
        append(keys)
        append([firstValue])
        append(values)
        return add(Entry(kind: .dictionary, start: start, count: keys.count + 1))
    }

    private mutating func add(
        _ elements: ArraySlice<ObjectIndex>, kind: Entry.Kind
    ) -> ObjectIndex {
        let start = references.count
        append(elements)
        return add(Entry(kind: kind, start: start, count: elements.count))
    }

    /// Appends references.
    ///
    /// An object can only contain earlier objects, so no object contains itself.
    private mutating func append(_ elements: ArraySlice<ObjectIndex>) {
        for element in elements {
            precondition(element.position < entries.count, "The element is of another writer.")
            references.append(element)
        }
    }

    private mutating func add(_ entry: Entry) -> ObjectIndex {
        if entry.kind != .scalar { markerSize += Output.markerSize(count: entry.count) }
        entries.append(entry)
        return ObjectIndex(number: UInt32(entries.count - 1))
    }
}

// MARK: The end

extension PropertyListWriter {
    /// Finishes the list, and returns its bytes.
    public func finish(root: ObjectIndex) -> [UInt8] {
        finishList(root: root).bytes
    }

    /// Finishes the list, and returns what reading its bytes would return.
    ///
    /// The bytes are not read. The writer ensures the invariants of ``PropertyList``, except two: the
    /// caller is responsible for the depth, and for keys that are distinct strings. Memory safety does
    /// not depend on these two.
    package func finishList(root: ObjectIndex) -> PropertyList {
        precondition(root.position < entries.count, "The root is not an object of this writer.")
        let referenceWidth = UInt64(entries.count).byteWidth
        let table =
            Trailer.header.count + content.count + markerSize + references.count * referenceWidth
        let offsetWidth = UInt64(table).byteWidth
        let size = table + entries.count * offsetWidth + Trailer.size
        var output = Output(size: size, table: table, offsetWidth: offsetWidth)
        append(entries[root.position], root: root, referenceWidth: referenceWidth, to: &output)
        for position in entries.indices where position != root.position {
            append(entries[position], root: root, referenceWidth: referenceWidth, to: &output)
        }
        let trailer = Trailer(
            offsetWidth: offsetWidth, referenceWidth: referenceWidth, objectCount: entries.count,
            offsetTable: table)
        return PropertyList(
            written: output.finish(trailer), trailer: trailer, largestUID: largestUID)
    }

    private func append(
        _ entry: Entry, root: ObjectIndex, referenceWidth: Int, to output: inout Output
    ) {
        output.beginObject()
        guard entry.kind != .scalar else {
            return output.append(content, entry.start..<entry.start + entry.count)
        }
        output.append(type: entry.kind.rawValue, count: entry.count)
        let count = entry.kind == .dictionary ? 2 * entry.count : entry.count
        for position in entry.start..<entry.start + count {
            // The root moves to the front, and the objects before it one position back.
            let number = references[position].number
            output.append(
                number == root.number ? 0 : number + (number < root.number ? 1 : 0),
                width: referenceWidth)
        }
    }
}

/// Scalars, which are stored as they will be written, so that equal ones are found by their bytes.
extension PropertyListWriter {
    /// Adds a boolean.
    public mutating func add(boolean: Bool) -> ObjectIndex {
        let start = content.count
        content.append(boolean ? 0x09 : 0x08)
        return addScalar(from: start)
    }

    /// Adds an integer.
    public mutating func add(integer: Int128) -> ObjectIndex {
        let start = content.count
        content.append(integer: integer)
        return addScalar(from: start)
    }

    /// Adds a real of 64 bits.
    public mutating func add(real: Double) -> ObjectIndex {
        let start = content.count
        content.append(marker: 0x23, bits: real.bitPattern)
        return addScalar(from: start)
    }

    /// Adds a real of 32 bits.
    package mutating func add(singleReal: Float) -> ObjectIndex {
        let start = content.count
        content.append(0x22)
        content.append(bigEndian: singleReal.bitPattern, width: 4)
        return addScalar(from: start)
    }

    /// Adds a date, in seconds since 2001-01-01 00:00:00 UTC.
    public mutating func add(date: Double) -> ObjectIndex {
        let start = content.count
        content.append(marker: 0x33, bits: date.bitPattern)
        return addScalar(from: start)
    }

    /// Adds bytes.
    public mutating func add(data: some Sequence<UInt8>) -> ObjectIndex {
        add(bytes: Array(data)[...])
    }

    /// Adds bytes of an array.
    package mutating func add(bytes: ArraySlice<UInt8>) -> ObjectIndex {
        let start = content.count
        content.append(type: 0x4, count: bytes.count)
        content += bytes
        return addScalar(from: start)
    }

    /// Adds a string, as ASCII if possible, otherwise as UTF-16.
    public mutating func add(string: Text) -> ObjectIndex {
        let start = content.count
        content.append(text: string)
        return addScalar(from: start)
    }

    /// Adds a string that is given as well-formed UTF-8.
    package mutating func add(utf8: ArraySlice<UInt8>) -> ObjectIndex {
        let start = content.count
        content.append(utf8: utf8)
        return addScalar(from: start)
    }

    /// Adds a reference of a keyed archive.
    public mutating func add(uid: UInt64) -> ObjectIndex {
        let start = content.count
        let width = uid.byteWidth
        content.append(0x80 | UInt8(width - 1))
        content.append(bigEndian: uid, width: width)
        largestUID = max(uid, largestUID ?? 0)
        return addScalar(from: start)
    }
}

// MARK: The hash table

extension PropertyListWriter {
    /// Adds the scalar whose bytes are at the end of `content`, unless an equal one exists.
    private mutating func addScalar(from start: Int) -> ObjectIndex {
        let count = content.count - start
        let hash = hash(from: start)
        var position = Int(hash) & (slots.count - 1)
        while slots[position].number != 0 {
            let slot = slots[position]
            if slot.hash == hash, isSpelled(Int(slot.number - 1), from: start, count: count) {
                content.removeLast(count)
                return ObjectIndex(number: slot.number - 1)
            }
            position = (position + 1) & (slots.count - 1)
        }
        let index = add(Entry(kind: .scalar, start: start, count: count))
        slots[position] = Slot(hash: hash, number: index.number + 1)
        scalarCount += 1
        if scalarCount * 2 > slots.count { growSlots() }
        return index
    }

    /// A hash with a new seed in each process, so nobody can make strings that collide.
    private func hash(from start: Int) -> UInt32 {
        var hasher = Hasher()
        // One call hashes all bytes. The pointer stays in the closure and within the content.
        content.withUnsafeBytes {
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[start...]))
        }
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Whether the bytes of a scalar equal the `count` bytes from `start`.
    private func isSpelled(_ number: Int, from start: Int, count: Int) -> Bool {
        let entry = entries[number]
        guard entry.count == count else { return false }
        let content = content.span
        for offset in 0..<count where content[entry.start + offset] != content[start + offset] {
            return false
        }
        return true
    }

    private mutating func growSlots() {
        var grown = [Slot](repeating: Slot(), count: slots.count * 2)
        for slot in slots where slot.number != 0 {
            var position = Int(slot.hash) & (grown.count - 1)
            while grown[position].number != 0 { position = (position + 1) & (grown.count - 1) }
            grown[position] = slot
        }
        slots = grown
    }
}

/// What a writer can copy from another property list.
extension PropertyListWriter {
    /// Adds a scalar of another list, with the same type and content.
    ///
    /// A 32-bit real stays one.
    package mutating func add(copyOf index: ObjectIndex, in list: PropertyList) -> ObjectIndex {
        switch list.value(at: index) {
        case .boolean(let value): add(boolean: value)
        case .integer(let value): add(integer: value)
        case .real(let value): add(real: value)
        case .singleReal(let value): add(singleReal: value)
        case .date(let value): add(date: value)
        case .data(let range): add(data: list.data(of: range))
        case .string(let range): add(string: list.text(of: range))
        case .uid, .array, .orderedSet, .set, .dictionary:
            preconditionFailure("Only scalars can be copied.")
        }
    }
}
