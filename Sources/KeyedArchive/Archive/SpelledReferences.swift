package import PropertyList

/// References of a keyed archive that a binary property list spells as XML does.
///
/// XML has no references, so a dictionary with the single key `CF$UID` and an integer stands for one. A
/// program that does not know that, and converts such a document to a binary list, leaves the dictionaries
/// in it. They cannot mean anything else there, and an archive with them would be stored as another object.
extension PropertyList {
    /// The number of the reference that a dictionary spells; nil if it is another dictionary.
    package func spelledReference(keys: References, values: References) -> Int128? {
        guard keys.count == 1, let object = value(ofKey: "CF$UID", keys: keys, values: values),
            case .integer(let number) = value(at: object)
        else { return nil }
        return number
    }

    /// The first dictionary that spells a reference; nil if there is none.
    package var firstSpelledReference: ObjectIndex? {
        indices.first { index in
            guard case .dictionary(let keys, let values) = value(at: index) else { return false }
            return spelledReference(keys: keys, values: values) != nil
        }
    }
}

extension KeyedArchive {
    /// Validates bytes from outside that are to be stored.
    ///
    /// What is stored already is read by ``init(validating:limits:)``.
    ///
    /// - Throws: ``ArchiveError`` with the offset of the first fault, which may be a reference that is
    ///   spelled as in XML.
    package init(storing bytes: [UInt8]) throws(ArchiveError) {
        // Such an archive has other faults, too, which would say less.
        if let list = try? PropertyList(bytes), let dictionary = list.firstSpelledReference {
            throw .spelledReference(at: list.byteOffset(of: dictionary))
        }
        try self.init(validating: bytes)
    }
}
