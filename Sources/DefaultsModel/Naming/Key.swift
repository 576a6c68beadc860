import DefaultsTerms

/// The name of a value in a domain: 1 to 1024 bytes of UTF-8 without NUL.
///
/// Two keys are equal if their bytes are equal. Swift's strings also treat different spellings of a
/// character as equal ("é" as one scalar or as two). Keys do not, because neither D-Bus nor the
/// database does.
package struct Key: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The key's text.
    package let name: String

    /// Makes a key from a text.
    ///
    /// - Throws: `ModelError` with code `.invalidKey` if it is empty, too long or contains a NUL.
    package init(_ name: String) throws(ModelError) {
        let utf8 = name.utf8
        guard !utf8.isEmpty else { throw .emptyKey }
        guard utf8.count <= KeyRule.maximumLength else { throw .overlongKey(name) }
        if let nul = utf8.firstIndex(of: 0) {
            throw .nulInKey(name, offset: utf8.distance(from: utf8.startIndex, to: nul))
        }
        self.name = name
    }

    /// Makes a key from what the database has: a key that callers may name, or ``fileRecord``.
    ///
    /// - Throws: `ModelError` with code `.invalidKey` if it is too long or contains a NUL.
    package init(stored name: String) throws(ModelError) {
        if name.isEmpty { self = .fileRecord } else { try self.init(name) }
    }

    private init(unchecked name: String) {
        self.name = name
    }

    /// The key under which a layer that is made of files stores its record of these files.
    ///
    /// It is empty. So no caller can name it, and no read of a domain lists it.
    package static let fileRecord = Key(unchecked: "")

    /// The length in bytes.
    package var length: Int { name.utf8.count }

    /// The key's text.
    package var description: String { name }

    /// The key in quotes for a message or a log.
    ///
    /// `fileRecord`, which has no name, is described in words.
    package var quotedForMessage: String {
        self == .fileRecord ? "the record of the files" : name.quotedForMessage
    }

    /// Whether both have the same bytes.
    package static func == (one: Key, other: Key) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8)
    }

    /// Compares by bytes, as the database does.
    package static func < (one: Key, other: Key) -> Bool {
        // Buffers are compared much faster, and are used only during the calls.
        let precedes = one.name.utf8.withContiguousStorageIfAvailable { one in
            other.name.utf8.withContiguousStorageIfAvailable { one.lexicographicallyPrecedes($0) }
        }
        return precedes.flatMap { $0 } ?? one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }

    /// Hashes the bytes, so that keys that differ only in their spelling get different hashes.
    package func hash(into hasher: inout Hasher) {
        var name = name
        // The buffer is used only during the call.
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
