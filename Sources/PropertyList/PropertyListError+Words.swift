/// What this module says when it refuses bytes.
extension PropertyListError {
    static let empty = PropertyListError(.empty, at: 0, "There are no bytes at all.")

    static let xml = PropertyListError(
        .xml, at: 0, "This is a property list in XML; a binary one is needed.")

    static func badHeader(at offset: Int) -> PropertyListError {
        PropertyListError(
            .badHeader, at: offset,
            "A binary property list begins with \"bplist00\"; these bytes do not.")
    }

    static func truncated(byteCount: Int) -> PropertyListError {
        PropertyListError(
            .truncated, at: byteCount,
            "The bytes end before the trailer: a binary property list has at least 42, "
                + "here are \(byteCount).")
    }

    static func badTrailer(at offset: Int, _ reason: String) -> PropertyListError {
        PropertyListError(.badTrailer, at: offset, "The trailer is wrong: \(reason).")
    }

    static func offsetOutOfRange(at entry: Int, of number: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: entry, "The offset of object \(number) lies outside of the objects.")
    }

    static func unknownType(_ marker: UInt8, at offset: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: offset,
            "No object of a property list begins with byte 0x\(String(marker, radix: 16)).")
    }

    static func cutShort(at offset: Int) -> PropertyListError {
        PropertyListError(
            .truncated, at: offset, "The object ends beyond the end of the objects.")
    }

    static func badCount(at offset: Int) -> PropertyListError {
        PropertyListError(.badObject, at: offset, "The object's size is not a number of its own.")
    }

    static func notASCII(at offset: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: offset, "A string that is said to be ASCII has another byte.")
    }

    static func overlap(at offset: Int) -> PropertyListError {
        PropertyListError(
            .badObject, at: offset, "The objects overlap: together they are larger than the file.")
    }

    static func referenceOutOfRange(_ reference: UInt64, count: Int, at offset: Int)
        -> PropertyListError
    {
        PropertyListError(
            .badReference, at: offset,
            "The object refers to object \(reference); there are only \(count).")
    }

    static func cycle(at offset: Int) -> PropertyListError {
        PropertyListError(.cycle, at: offset, "The collection contains itself.")
    }

    static func keyIsNoString(at offset: Int) -> PropertyListError {
        PropertyListError(.badKey, at: offset, "A key of the dictionary is no string.")
    }

    static func duplicateKey(at offset: Int) -> PropertyListError {
        PropertyListError(.badKey, at: offset, "The dictionary has the same key twice.")
    }

    static func tooLarge(byteCount: Int, limit: Int) -> PropertyListError {
        PropertyListError(
            .limitExceeded, at: limit,
            "The property list has \(byteCount) bytes; at most \(limit) are read.")
    }

    static func tooManyObjects(_ count: UInt64, limit: Int, at offset: Int) -> PropertyListError {
        PropertyListError(
            .limitExceeded, at: offset,
            "The property list has \(count) objects; at most \(limit) are read.")
    }

    static func tooDeep(limit: Int, at offset: Int) -> PropertyListError {
        PropertyListError(
            .limitExceeded, at: offset, "The collections are nested deeper than \(limit) levels.")
    }
}
