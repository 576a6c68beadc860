internal import Glibc

/// What can be told of the files of a store before SQLite opens them.
///
/// SQLite removes a log whose database it does not find, and drops what follows a damaged frame. So
/// these are looked for first.
struct StoreCondition {
    /// Why the store is not to be opened as it is; nil where nothing speaks against it.
    let damage: String?
    /// Whether the process before has not closed the store, and its log is not there.
    let lacksLog: Bool

    /// - Parameters:
    ///   - wasLeftOpen: Whether the process before has not closed the store.
    ///   - hasTraces: Whether there are other signs that there was a database here.
    ///   - mayBeTorn: As `WriteAheadLog` takes it.
    /// - Throws: `.cannotOpen`.
    init(
        of path: String, wasLeftOpen: Bool, hasTraces: @autoclosure () -> Bool, mayBeTorn: Bool
    ) throws(StorageError) {
        do throws(SystemError) {
            let log = try WriteAheadLog.open(of: path, mayBeTorn: mayBeTorn)
            let size = try StoreCondition.size(of: path)
            lacksLog = wasLeftOpen && log == nil
            let isNew = size == 0 && log == nil && !hasTraces()
            damage = isNew ? nil : try StoreCondition.damage(of: path, size: size, log)
        } catch {
            throw .cannotOpen(path, error)
        }
    }

    private static func damage(
        of path: String, size: Int, _ log: WriteAheadLog?
    ) throws(SystemError) -> String? {
        // A database whose making was interrupted, which SQLite takes back.
        if try StoreCondition.size(of: "\(path)-journal") > 0 { return nil }
        if size == 0 { return "The database \(path) was missing or empty." }
        if log?.isDamaged == true {
            return "The write-ahead log of \(path) was damaged."
        }
        let header = try File.regular(path, O_RDONLY).read(100, at: 0)
        guard header.starts(with: Array("SQLite format 3\0".utf8)),
            let pageSize = header.uint16(at: 16).flatMap(PageSize.init(claimed:)),
            let pages = header.uint32(at: 28), header.count == 100
        else { return "The file \(path) was damaged at its beginning." }
        // Where the two differ, the number of pages is none.
        guard header[24..<28].elementsEqual(header[92..<96]) else { return nil }
        let present = size / pageSize.whole
        // The log may hold pages that the file is yet to get.
        let isCut = (present..<max(present, pages)).contains {
            log?.versions(of: $0 + 1).isEmpty ?? true
        }
        return isCut ? "The file \(path) was cut off: of \(pages) pages it had \(present)." : nil
    }

    private static func size(of path: String) throws(SystemError) -> Int {
        var status = stat()
        if stat(path, &status) == 0 { return Int(status.st_size) }
        guard errno == ENOENT else { throw .last("stat", path) }
        return 0
    }
}
