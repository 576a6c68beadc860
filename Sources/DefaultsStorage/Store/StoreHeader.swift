internal import Glibc
internal import SQLite

/// What a database says of itself: whose it is, and of which schema.
struct StoreHeader {
    /// Whether nothing was ever made in it.
    let isEmpty: Bool
    let applicationID: Int
    let version: Int

    /// Asks an open database.
    init(of connection: Connection) throws(SQLiteError) {
        isEmpty = try connection.number("schema_version") == 0
        applicationID = try connection.number("application_id")
        version = try connection.number("user_version")
    }

    /// Reads the file of a database that another process may have open; nil where there is none.
    ///
    /// What stands in the write-ahead log only is not seen.
    ///
    /// See [the database header](https://www.sqlite.org/fileformat2.html#the_database_header).
    ///
    /// - Throws: `.cannotOpen` where it cannot be opened for writing, `.damagedDatabase` where it
    ///   is no database at all.
    init?(inFile path: String) throws(StorageError) {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try File.regular(path, O_RDWR).read(StoreHeader.size, at: 0)
        } catch {
            if error.number == ENOENT { return nil }
            throw .cannotOpen(path, error)
        }
        // A file without a byte is a database that is to be made.
        if bytes.isEmpty { return nil }
        guard bytes.count == StoreHeader.size, bytes.starts(with: StoreHeader.magic) else {
            throw .noDatabase(path)
        }
        isEmpty = StoreHeader.number(in: bytes, at: 40) == 0
        version = StoreHeader.number(in: bytes, at: 60)
        applicationID = StoreHeader.number(in: bytes, at: 68)
    }

    /// Whether this program has made it, or is to.
    var isOurs: Bool {
        isEmpty
            ? version == 0
            : applicationID == Schema.applicationID && (1...Schema.lastVersion).contains(version)
    }

    /// The number of migrations that the database at a path has had; 0 for an empty one.
    ///
    /// - Throws: `.notOurDatabase` or `.newerSchema` where it is not ours to touch.
    func migrations(at path: String) throws(StorageError) -> Int {
        guard isOurs else { throw .notOurDatabase(path) }
        guard version <= Schema.version else { throw .newerSchema(path, version: version) }
        return version
    }

    private static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// A number of 32 bits with a sign, the highest byte first.
    private static func number(in header: [UInt8], at offset: Int) -> Int {
        Int(Int32(bitPattern: header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }))
    }
}

extension Connection {
    /// A pragma whose answer is a number.
    fileprivate func number(_ pragma: String) throws(SQLiteError) -> Int {
        try self.pragma(pragma).flatMap { Int($0) } ?? 0
    }
}
