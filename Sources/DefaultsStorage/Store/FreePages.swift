internal import SQLite

/// The free pages of a store, and how the disk gets them back.
///
/// A store of this program has a pointer map, so that its last page can be moved into a free one and
/// the file be cut: a little at a time, at the cost of what is moved. A store that was made without
/// such a map gets one when most of it is free.
///
/// See [PRAGMA auto_vacuum](https://www.sqlite.org/pragma.html#pragma_auto_vacuum).
///
/// Invariants:
/// 1. What was removed does not stay in the file or its log. With a pointer map the free pages are returned to
///    the disk: a few by the flush, the others in steps after it, at the end of the process, or after
///    the next start. Without one they are overwritten, which writes as much again as was removed.
/// 2. No step takes long, so that a flush waits for one step at most.
struct FreePages {
    private let connection: Connection

    /// How many pages a flush returns itself, which saves a transaction for them: 256 KiB.
    private static let mostInFlush = 64
    /// How many pages are returned at once: 4 MiB.
    private static let returnedAtOnce = 1024
    /// The same if the disk has hardly any space for the log: 256 KiB.
    private static let returnedInTightStep = 64
    /// From how many free pages on the log is not folded back before they are returned: 4 MiB.
    private static let manyFree = 1024
    /// How many pages may be in use in a store that is rebuilt in one step: 16 MiB, which are in memory
    /// meanwhile.
    private static let mostRebuilt = 4096
    /// How long the reads under way are waited for, in milliseconds: longer than all but long calls take.
    private static let longestWait = 100
    /// How many pages SQLite lets the log have before it folds it back, which is its own number.
    private static let pagesInLog = 1000

    init(of connection: Connection) {
        self.connection = connection
    }

    /// Has the pages of a new store, or of a copy that is made of one, be returnable.
    ///
    /// It writes nothing to a store: SQLite would, to one whose pages are returnable already.
    func beReturnable() throws(SQLiteError) {
        if try areReturnable() { return }
        try connection.pragma("auto_vacuum", "INCREMENTAL")
    }

    /// Chooses how what is removed is erased (invariant 1).
    ///
    /// See [PRAGMA secure_delete](https://www.sqlite.org/pragma.html#pragma_secure_delete).
    func chooseErasure() throws(SQLiteError) {
        try connection.pragma("secure_delete", try areReturnable() ? "FAST" : "ON")
    }

    /// How many there are.
    func count() throws(SQLiteError) -> Int {
        try number("freelist_count")
    }

    /// Whether the free pages contain no old data: there are none, or they were overwritten
    /// (invariant 1).
    func areErased() throws(SQLiteError) -> Bool {
        if try count() == 0 { return true }
        return try !areReturnable()
    }

    /// Returns a few in the transaction of a flush; if there are many, keeps these from being
    /// written into the file before they are returned.
    func prepareCommit() throws(SQLiteError) {
        let free = try count()
        guard free > 0, try areReturnable() else { return }
        if free <= FreePages.mostInFlush {
            try connection.execute("PRAGMA incremental_vacuum")
        } else if free >= FreePages.manyFree {
            // Once: if they are not returned before the next flush, the log must not grow on.
            let isPutOff = try number("wal_autocheckpoint") == 0
            try connection.pragma(
                "wal_autocheckpoint", isPutOff ? "\(FreePages.pagesInLog)" : "0")
        }
    }

    /// Returns some.
    ///
    /// - Parameters:
    ///   - isTight: Whether the disk has hardly any space for the log.
    ///   - space: The bytes that the disk has for us.
    /// - Returns: Whether some were returned; there may be more.
    func returnSome(isTight: Bool, space: () -> Int) throws(SQLiteError) -> Bool {
        let free = try count()
        guard free > 0 else { return false }
        guard try areReturnable() else { return try rebuild(free: free, space: space) }
        // Or pages that are about to be cut off would be written to the log first.
        try connection.pragma("cache_spill", "OFF")
        defer { _ = try? connection.pragma("cache_spill", "ON") }
        let most = isTight ? FreePages.returnedInTightStep : FreePages.returnedAtOnce
        try connection.execute("PRAGMA incremental_vacuum(\(most))")
        return true
    }

    /// Folds the log back, by which the file gets its new size, and empties it: it may still have what was
    /// removed.
    ///
    /// - Returns: Whether all of it is folded back: not if somebody goes on reading what was there before.
    func finish() throws(SQLiteError) -> Bool {
        try connection.pragma("wal_autocheckpoint", "\(FreePages.pagesInLog)")
        try connection.pragma("busy_timeout", "\(FreePages.longestWait)")
        defer { _ = try? connection.pragma("busy_timeout", "0") }
        return try connection.pragma("wal_checkpoint", "TRUNCATE") == "0"
    }

    /// Gives a store a pointer map, if most of it is free and the rest is small.
    private func rebuild(free: Int, space: () -> Int) throws(SQLiteError) -> Bool {
        let used = try number("page_count") - free
        guard free >= FreePages.returnedAtOnce, free >= used, used <= FreePages.mostRebuilt,
            space() / PageSize.ours.whole > 2 * used + FreePages.manyFree
        else { return false }
        try beReturnable()
        // Or the values would also be written to a file of another directory, and stay on that disk.
        try connection.pragma("temp_store", "MEMORY")
        defer { _ = try? connection.pragma("temp_store", "DEFAULT") }
        try connection.execute("VACUUM")
        try chooseErasure()
        return true
    }

    private func areReturnable() throws(SQLiteError) -> Bool {
        try number("auto_vacuum") == 2
    }

    private func number(_ pragma: String) throws(SQLiteError) -> Int {
        try connection.pragma(pragma).flatMap { Int($0) } ?? 0
    }
}
