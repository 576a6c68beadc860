internal import DefaultsTerms

/// Why bytes are not a GVDB file, or why a file cannot be written.
///
/// The description is a sentence, and never contains a value.
package enum GVDBError: Error, Hashable, Sendable {
    /// The file does not begin as GVDB files do.
    case signature
    /// The file was written on a machine with the other byte order.
    case byteOrder
    /// The file has a version that is not known.
    case version(UInt32)
    /// Something is not within the file, or not at a multiple of its alignment.
    case place(String, at: Int)
    /// A table has a wrong size.
    case table(at: Int)
    /// Tables are inside each other, or a name has parents, without an end.
    case depth
    /// A name is empty, too long, not UTF-8, or not that of its hash.
    case name(item: Int)
    /// An item does not have the kind of content that is asked for.
    case kind(item: Int)
    /// A value cannot be read or written.
    case value(GVariantError)
    /// The contents of items overlap, or are larger than the limit.
    case tooLarge
    /// A file to be written has a name twice.
    case repeatedName(String)
}

extension GVDBError: CustomStringConvertible {
    /// A sentence that says what is wrong.
    package var description: String {
        switch self {
        case .signature: "The file is not a GVDB file."
        case .byteOrder: "The file is from a machine with the other byte order."
        case .version(let version): "The file has version \(version) of GVDB; only 0 is known."
        case .place(let what, let offset):
            "The place of \(what) in the file, byte \(offset), is not possible."
        case .table(let offset): "The table at byte \(offset) has a wrong size."
        case .depth: "The tables or names of the file are nested too deeply."
        case .name(let item):
            "The name of item \(item) is empty, too long, not UTF-8, or not whole."
        case .kind(let item): "Item \(item) does not have the expected kind of content."
        case .value(let error): error.description
        case .tooLarge: "The contents of the file overlap, or are too large."
        case .repeatedName(let name): "The name \(name.quotedForMessage) is given twice."
        }
    }
}
