internal import Glibc

/// The pages of a store as they stand on disk: those of the file, and over them those of the
/// write-ahead log.
///
/// Nothing here believes what the header of the file says, but for the size of a page.
final class StorePages {
    let pageSize: PageSize
    /// The highest number that a page has.
    let count: Int
    private let file: File?
    private let log: WriteAheadLog?

    /// Opens what there is of a store.
    ///
    /// - Parameter mayBeTorn: As `WriteAheadLog` takes it.
    init(of path: String, mayBeTorn: Bool) throws(SystemError) {
        log = try WriteAheadLog.open(of: path, mayBeTorn: mayBeTorn)
        file = access(path, F_OK) == 0 ? try File.regular(path, O_RDONLY) : nil
        let claimed = try file?.read(18, at: 0).uint16(at: 16) ?? 0
        pageSize = log?.pageSize ?? PageSize(claimed: claimed) ?? .ours
        let size = try file?.size() ?? 0
        // The last page of a file that was cut may be there in part.
        let pages = size / pageSize.whole + (size % pageSize.whole > 0 ? 1 : 0)
        count = max(pages, log?.lastPage ?? 0)
    }

    /// How many versions of a page there are.
    func versions(of page: Int) -> Int {
        (log?.versions(of: page).count ?? 0) + 1
    }

    /// Reads a version of a page; nil where there is none.
    ///
    /// What is missing of it is zero.
    ///
    /// - Parameters:
    ///   - page: Its number; the first is 1.
    ///   - age: 0 for the newest version, 1 for the one before it, and so on.
    func read(_ page: Int, age: Int = 0) throws(SystemError) -> (bytes: [UInt8], isWhole: Bool)? {
        if let frames = log?.versions(of: page), frames.count > age {
            let frame = frames[frames.count - 1 - age]
            guard let bytes = try log?.read(frame) else { return nil }
            return (bytes, frame.isWhole)
        }
        guard page > 0,
            let bytes = try file?.read(pageSize.whole, at: (page - 1) * pageSize.whole),
            !bytes.isEmpty
        else { return nil }
        let missing = pageSize.whole - bytes.count
        return (bytes + [UInt8](repeating: 0, count: missing), missing == 0)
    }
}
