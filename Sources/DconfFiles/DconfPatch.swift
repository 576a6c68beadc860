package import DefaultsProtocol

// Invariants
//
// 1. Only values are replaced. The keys of the file stay the same.
// 2. A new value is appended, and its item leads to it. The old one stays in the file, which grows until
//    it is made again.

/// A file of dconf in which some values are replaced, whatever number of others it has.
package struct DconfPatch {
    /// What became of a value.
    package enum Outcome: Sendable {
        /// The file had the same value.
        case same
        /// The file has the new value.
        case replaced
        /// The file has no value of this key, or is too large.
        case impossible
    }

    private let table: GVDBTable
    /// The file with the new values.
    package private(set) var bytes: [UInt8]

    /// - Parameter bytes: A file.
    /// - Throws: ``GVDBError`` if it is no GVDB file, or if defaultsd has not written it.
    package init(_ bytes: [UInt8]) throws(GVDBError) {
        table = try GVDBTable(bytes)
        guard table.item(named: DconfImage.signature) != nil else { throw .signature }
        self.bytes = bytes
    }

    /// Replaces a value.
    package mutating func set(_ path: String, to value: ExactValue) -> Outcome {
        guard let item = table.item(named: path), let old = try? table.bytes(of: item),
            let new = try? ExactValue(.variant, .variant(value)).gvariant()
        else { return .impossible }
        if old.elementsEqual(new) { return .same }
        let start = bytes.count.aligned(to: 8)
        guard start + new.count <= GVDBTable.maximumSize else { return .impossible }
        bytes += Array(repeating: 0, count: start - bytes.count)
        bytes += new
        set(UInt32(start), at: table.placeOfContent(of: item))
        set(UInt32(start + new.count), at: table.placeOfContent(of: item) + 4)
        return .replaced
    }

    private mutating func set(_ number: UInt32, at offset: Int) {
        for position in 0..<4 {
            bytes[offset + position] = UInt8(truncatingIfNeeded: number >> (8 * UInt32(position)))
        }
    }
}
