package import DBus
import DefaultsTerms

/// Types that several calls write.
extension MessageWriter {
    /// Writes an `as`.
    package mutating func writeStrings(_ strings: some Sequence<String>) throws {
        try writeArray(of: "s") { for string in strings { try $0.writeString(string) } }
    }

    /// Writes an `a{say}`.
    ///
    /// The closure writes each entry with ``writeArchive(_:forKey:)``.
    package mutating func writeArchives(
        _ entries: (inout MessageWriter) throws -> Void
    ) throws {
        try writeDictionary(key: "s", value: "ay", entries)
    }

    /// Writes one entry of an `a{say}`.
    package mutating func writeArchive(_ archive: [UInt8], forKey key: String) throws {
        try writeEntry {
            try $0.writeString(key)
            try $0.writeBytes(archive)
        }
    }

    /// Writes an `a{sv}`.
    ///
    /// The closure writes each entry with ``writeVariant(_:forKey:)``.
    package mutating func writeVariants(
        _ entries: (inout MessageWriter) throws -> Void
    ) throws {
        try writeDictionary(key: "s", value: "v", entries)
    }

    /// Writes one entry of an `a{sv}`.
    package mutating func writeVariant(_ value: Value, forKey key: String) throws {
        try writeEntry {
            try $0.writeString(key)
            try $0.writeValue(.variant(value))
        }
    }

    /// Writes an array of structures.
    ///
    /// The closure writes the fields of each.
    mutating func writeStructures<Rows: Sequence>(
        of type: Signature, _ rows: Rows,
        _ fields: (inout MessageWriter, Rows.Element) throws -> Void
    ) throws {
        try writeArray(of: type) { array in
            for row in rows { try array.writeStructure { try fields(&$0, row) } }
        }
    }
}

extension MessageReader {
    /// Reads an `as`.
    package mutating func readStrings() throws -> [String] {
        try readArray { try $0.readString() }
    }

    /// Reads an `a{say}`.
    mutating func readArchives() throws -> [(String, [UInt8])] {
        try readDictionary { (try $0.readString(), try $0.readBytes()) }
    }

    /// Reads an `a{sv}`.
    mutating func readVariants() throws -> [(String, Value)] {
        try readDictionary { (try $0.readString(), try $0.readVariant { try $0.readValue() }) }
    }

    /// Reads an archive that is to be stored.
    ///
    /// The size is checked first, so that an archive that is too large is not copied.
    mutating func readStorableArchive() throws -> [UInt8] {
        try withBytes { bytes in
            guard bytes.count <= ContractLimits.maximumValueSize else {
                throw ContractError(tooLargeArchive: bytes.count)
            }
            return bytes.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// Reads an array of structures.
    ///
    /// The closure reads the fields of each.
    mutating func readStructures<Row>(
        _ fields: (inout MessageReader) throws -> Row
    ) throws -> [Row] {
        try readArray { try $0.readStructure(fields) }
    }

    /// Reads an `a{sv}` of options, each of which may come once.
    ///
    /// The closure reads the value of one by its name.
    mutating func readOptions(
        _ read: (String, inout MessageReader) throws -> Void
    ) throws {
        var names: Set<String> = []
        _ = try readDictionary { entry in
            let name = try entry.readString()
            guard names.insert(name).inserted else { throw ContractError(optionTwice: name) }
            return (name, try entry.readVariant { try read(name, &$0) })
        }
    }
}
