internal import PropertyList

/// The order of what has none of its own: elements of sets, and keys of dictionaries.
extension EncodingSession {
    /// How many references deep an element is looked at.
    private static let referenceLimit = 4

    /// Sorts the members of a set or of pairs by the bytes that spell them; strings so come by their
    /// code points, numbers by size.
    ///
    /// - Returns: Whether all of them, or all keys, are different.
    @discardableResult
    func sortMembers(of node: Node) -> Bool {
        let isPairs = if case .pairs = graph[node].value { true } else { false }
        let members = Array(graph.members(of: node))
        let stride = isPairs ? 2 : 1
        var spellings: [(bytes: [UInt8], start: Int)] = []
        for start in Swift.stride(from: 0, to: members.count, by: stride) {
            var bytes: [UInt8] = []
            spell(members[start], references: 0, to: &bytes)
            spellings.append((bytes, start))
        }
        spellings.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        let sorted = spellings.flatMap { members[$0.start..<$0.start + stride] }
        graph.setMembers(sorted, of: node)
        return !zip(spellings, spellings.dropFirst()).contains { $0.bytes == $1.bytes }
    }

    /// Appends bytes that differ for different values, and are ordered as those are.
    private func spell(_ node: Node, references: Int, to bytes: inout [UInt8]) {
        switch graph[node].value {
        case .pending, .null:
            bytes.append(0x01)
        case .boolean(let value):
            bytes += [0x02, value ? 1 : 0]
        case .integer(let value):
            spell(Int128(value), to: &bytes)
        case .wideInteger(let number):
            spell(graph.wideIntegers[Int(number)], to: &bytes)
        case .real(let value):
            // Negative numbers have their bits turned, so that the larger comes later.
            let bits = value.bitPattern
            let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
            bytes.append(0x04)
            withUnsafeBytes(of: ordered.bigEndian) { bytes += $0 }
        case .text(let start, let count):
            spell(graph.content[start..<start + count], marker: 0x05, to: &bytes)
        case .data(let start, let count), .bytes(let start, let count):
            spell(graph.content[start..<start + count], marker: 0x06, to: &bytes)
        case .array:
            spellMembers(of: node, marker: 0x07, references: references, to: &bytes)
        case .set:
            spellMembers(of: node, marker: 0x08, references: references, to: &bytes)
        case .pairs:
            spellMembers(of: node, marker: 0x09, references: references, to: &bytes)
        case .dictionary:
            spellFields(of: node, marker: 0x0A, references: references, to: &bytes)
        case .object(let classNumber):
            let className = classes[Int(classNumber)].chain[0]
            spell(Array(className.description.utf8)[...], marker: 0x0B, to: &bytes)
            spellFields(of: node, marker: 0x0C, references: references, to: &bytes)
        case .reference(let target):
            // Instances can go around in circles.
            guard references < Self.referenceLimit else { return bytes.append(0x0D) }
            spell(target, references: references + 1, to: &bytes)
        }
    }

    private func spell(_ integer: Int128, to bytes: inout [UInt8]) {
        bytes.append(0x03)
        withUnsafeBytes(of: (UInt128(bitPattern: integer) ^ 1 << 127).bigEndian) { bytes += $0 }
    }

    /// Text and data end with two zeros, and no zero in them is followed by another.
    private func spell(_ content: ArraySlice<UInt8>, marker: UInt8, to bytes: inout [UInt8]) {
        bytes.append(marker)
        for byte in content {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
        bytes += [0, 0]
    }

    private func spellMembers(
        of node: Node, marker: UInt8, references: Int, to bytes: inout [UInt8]
    ) {
        bytes.append(marker)
        for member in graph.members(of: node) {
            spell(member, references: references, to: &bytes)
        }
        bytes.append(0)
    }

    private func spellFields(
        of node: Node, marker: UInt8, references: Int, to bytes: inout [UInt8]
    ) {
        bytes.append(marker)
        let members = graph.members(of: node).sorted {
            names[graph[$0].name].utf8.lexicographicallyPrecedes(names[graph[$1].name].utf8)
        }
        for member in members {
            spell(Array(names[graph[member].name].utf8)[...], marker: 0x05, to: &bytes)
            spell(member, references: references, to: &bytes)
        }
        bytes.append(0)
    }
}
