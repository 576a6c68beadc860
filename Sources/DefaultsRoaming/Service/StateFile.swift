import Glibc
import SQLite

/// The file of ``RoamState``, which may be damaged.
struct StateFile {
    let path: String

    /// Whether SQLite finds that the file is damaged, or is not a database.
    ///
    /// If it cannot be read for another reason, that reason may pass.
    var isDamaged: Bool {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, flags: [.readWrite])
            try connection.pragma("busy_timeout", "10000")
            return try connection.pragma("quick_check(1)") != "ok"
        } catch {
            return [.notADatabase, .corrupt].contains(error.code)
        }
    }

    /// Gives the file another name, so that a new one can be made.
    ///
    /// - Returns: The new path.
    /// - Throws: ``RoamError`` if that fails.
    func setAside() throws(RoamError) -> String {
        var number = 1
        while access("\(path).damaged-\(number)", F_OK) == 0 { number += 1 }
        let new = "\(path).damaged-\(number)"
        // The log comes first: it must never be taken for that of a new file.
        for suffix in ["-wal", "-shm", ""] {
            guard rename(path + suffix, new + suffix) == 0 || errno == ENOENT else {
                throw RoamError(
                    "'\(path)' is damaged, and cannot be renamed: \(String(cString: strerror(errno)))"
                )
            }
        }
        return new
    }
}
