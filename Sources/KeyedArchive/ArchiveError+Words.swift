/// What this module says when it refuses an archive.
extension ArchiveError {
    static func rootIsNoDictionary(at offset: Int) -> ArchiveError {
        ArchiveError(
            .notKeyedArchive, at: offset,
            "This property list is no keyed archive: its root is no dictionary.")
    }

    static func missing(_ key: StaticString, at offset: Int) -> ArchiveError {
        ArchiveError(
            .notKeyedArchive, at: offset,
            "This property list is no keyed archive: it has no \(key).")
    }

    static func wrongEntry(_ key: StaticString, _ need: StaticString, at offset: Int)
        -> ArchiveError
    {
        ArchiveError(
            .notKeyedArchive, at: offset, "The archive's \(key) is wrong: it must be \(need).")
    }

    static func uidOutOfRange(_ uid: UInt64, count: Int, at offset: Int) -> ArchiveError {
        ArchiveError(
            .badReference, at: offset,
            "A reference has UID \(uid); the archive has only \(count) "
                + "\(count == 1 ? "object" : "objects").")
    }

    static func objectIsReference(at offset: Int) -> ArchiveError {
        ArchiveError(
            .badObject, at: offset, "An entry of $objects is a UID; it must be an object.")
    }

    static func noClass(at offset: Int) -> ArchiveError {
        ArchiveError(
            .badClass, at: offset, "An object has no $class, and is no class record either.")
    }

    static func classIsNoReference(at offset: Int) -> ArchiveError {
        ArchiveError(.badClass, at: offset, "The $class of an object is no UID.")
    }

    static func notClassRecord(_ uid: UInt64, at offset: Int) -> ArchiveError {
        ArchiveError(
            .badClass, at: offset,
            "The $class of an object is UID \(uid), which is no class record.")
    }

    static func badClassRecord(_ need: StaticString, at offset: Int) -> ArchiveError {
        ArchiveError(.badClass, at: offset, "A class record is wrong: \(need).")
    }

    package static func outputTooLarge(limit: Int, at offset: Int) -> ArchiveError {
        ArchiveError(
            .outputTooLarge, at: offset,
            "The archive, each shared object written out, is larger than \(limit) bytes.")
    }

    static func outputTooDeep(limit: Int, at offset: Int) -> ArchiveError {
        ArchiveError(
            .outputTooDeep, at: offset, "The archive is nested deeper than \(limit) levels.")
    }
}
