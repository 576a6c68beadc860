/// Scalars, which are spelled as they will be written, and found again by their spelling.
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

    /// Adds a string: as ASCII where it is that, else as UTF-16.
    public mutating func add(string: Text) -> ObjectIndex {
        let start = content.count
        content.append(text: string)
        return addScalar(from: start)
    }

    /// Adds a string that is given in UTF-8, and well-formed.
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
    /// Adds the scalar that was just spelled at the end of `content`, or finds the same one.
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

    /// A hash that is seeded anew in each process, so that nobody can make strings that collide.
    private func hash(from start: Int) -> UInt32 {
        var hasher = Hasher()
        // All bytes go in at once; the pointer stays in the closure and within the content.
        content.withUnsafeBytes {
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[start...]))
        }
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Whether a scalar is spelled as the `count` bytes from `start` are.
    private func isSpelled(_ number: Int, from start: Int, count: Int) -> Bool {
        let entry = entries[number]
        guard entry.count == count else { return false }
        let content = content.span
        for offset in 0..<count where content[entry.start + offset] != content[start + offset] {
            return false
        }
        return true
    }

    mutating func growSlots() {
        var grown = [Slot](repeating: Slot(), count: slots.count * 2)
        for slot in slots where slot.number != 0 {
            var position = Int(slot.hash) & (grown.count - 1)
            while grown[position].number != 0 { position = (position + 1) & (grown.count - 1) }
            grown[position] = slot
        }
        slots = grown
    }
}
