internal import Glibc
internal import SystemCalls
internal import Wording

/// What is known about the files of a store before SQLite opens them.
///
/// SQLite removes a log without a database, and drops the rest of a log after a damaged frame. So
/// these cases are checked first.
struct StoreCondition {
    /// Why the store must not be opened as it is; nil if there is no reason.
    let damage: String?
    /// Whether the previous process left a log that is now missing, or that SQLite would not read.
    let lacksLog: Bool

    /// - Parameters:
    ///   - wasLeftOpen: Whether the previous process left a log.
    ///   - hasTraces: Whether there are other signs that there was a database here.
    ///   - mayBeTorn: See `WriteAheadLog`.
    /// - Throws: `.cannotOpen`.
    init(
        of path: String, wasLeftOpen: Bool, hasTraces: @autoclosure () -> Bool, mayBeTorn: Bool
    ) throws(StorageError) {
        let (log, size) = try StoreCondition.files(of: path, mayBeTorn: mayBeTorn)
        lacksLog = wasLeftOpen ? try StoreCondition.hasNoUsableLog(path) : false
        let isNew = size == 0 && log == nil && !hasTraces()
        let isOthers = try StoreCondition.isForeign(path)
        damage =
            isNew || isOthers ? nil : try StoreCondition.damage(of: path, size: size, log)
    }

    /// Whether the log is missing, or does not begin with the header of a log.
    private static func hasNoUsableLog(_ path: String) throws(StorageError) -> Bool {
        do throws(SystemError) {
            guard try FileStatus.exists("\(path)-wal") else { return true }
            return try WriteAheadLog.isUnusable(of: path)
        } catch {
            throw .cannotOpen(path, error)
        }
    }

    private static func files(
        of path: String, mayBeTorn: Bool
    ) throws(StorageError) -> (log: WriteAheadLog?, size: Int) {
        do throws(SystemError) {
            return (try WriteAheadLog.open(of: path, mayBeTorn: mayBeTorn), try size(of: path))
        } catch {
            throw .cannotOpen(path, error)
        }
    }

    private static func damage(
        of path: String, size: Int, _ log: WriteAheadLog?
    ) throws(StorageError) -> String? {
        do throws(SystemError) {
            // The creation of the database was interrupted. SQLite rolls it back.
            if try StoreCondition.size(of: "\(path)-journal") > 0 {
                // SQLite would not say which file it is that cannot be read.
                _ = try File.regular("\(path)-journal", O_RDWR)
                return nil
            }
            if size == 0 { return "The database \(path) was missing or empty." }
            if log?.isDamaged == true { return "The write-ahead log of \(path) was damaged." }
            let header = try File.regular(path, O_RDONLY).readable(100, at: 0) ?? []
            return damage(in: header, of: path, size: size, log)
        } catch {
            throw .cannotOpen(path, error)
        }
    }

    private static func damage(
        in header: [UInt8], of path: String, size: Int, _ log: WriteAheadLog?
    ) -> String? {
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)),
            let pageSize = header.uint16(at: 16).flatMap(PageSize.init(claimed:)),
            let claimed = header.uint32(at: 28)
        else { return "The file \(path) was damaged at its beginning." }
        // If the two differ, the number of pages in the header is not valid.
        guard header[24..<28].elementsEqual(header[92..<96]) else { return nil }
        // If the power failed after the file was truncated, its header may be the old one. The log
        // has the new one.
        let pages = log?.databaseSize ?? claimed
        let present = size / pageSize.whole
        // Pages at the end may be in the log only.
        let isCut = (present..<max(present, pages)).contains {
            log?.versions(of: $0 + 1).isEmpty ?? true
        }
        return isCut
            ? "The file \(path) was cut off: of \(counted(pages, "page")) it had \(present)." : nil
    }

    /// Whether another program, or a later version of this one, has made the database.
    ///
    /// SQLite reports that error, because it also reads the log.
    private static func isForeign(_ path: String) throws(StorageError) -> Bool {
        do throws(StorageError) {
            guard let header = try StoreHeader(inFile: path) else { return false }
            return !header.isOurs || header.version > Schema.version
        } catch {
            guard error.code == .damagedDatabase else { throw error }
            return false
        }
    }

    /// The size of a file; 0 if there is none.
    static func size(of path: String) throws(SystemError) -> Int {
        do throws(SystemError) {
            return try FileStatus(of: path).size
        } catch {
            guard error.number == ENOENT else { throw error }
            return 0
        }
    }
}
