import DefaultsModel
import Foundation
import SQLite
import Synchronization
import Testing

@testable import DefaultsStorage

/// Putting a new store in place of an earlier one, on a disk that refuses.
///
/// The numbers in the names are those of the invariants of `StoreReplacement`.
@Suite struct ReplacementTests {
    private let scratch: Scratch
    private var directory: String { scratch.location.directory }

    init() throws {
        scratch = try Scratch()
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    /// Whether nothing is left of a new store that is not in use.
    private func leavesNothing() throws -> Bool {
        try !names().contains { $0.contains(".unfinished") || $0.contains(".renewed") }
    }

    private func database() async throws -> Database {
        let database = try scratch.open()
        try database.set(["early": [1]])
        try await database.flush()
        return database
    }

    @Test("1: a repair whose commit the disk refuses did not happen, and later writes stay")
    func refused() async throws {
        let database = try await database()
        let (place, ready) = (directory, scratch.store + ".renewed")
        let watch = SyncWatch(below: place) { path in
            path != place || access(ready, F_OK) != 0
        }
        let error = await #expect(throws: StorageError.self) { try await database.repair() }
        #expect(error?.code == .cannotOpen)
        #expect(try leavesNothing())
        try database.set(["late": [2]])
        try await database.flush()
        watch.stop()
        database.close()
        #expect(try scratch.copyWithoutRuntime().open().keys() == ["early", "late"])
    }

    @Test(
        "1: nothing is written to a new store before the disk has confirmed it"
    )
    func undecided() async throws {
        let database = try await database()
        let place = directory
        let watch = SyncWatch(below: place) { $0 != place }
        let error = await #expect(throws: StorageError.self) { try await database.repair() }
        #expect(error?.code == .replacementUndecided)
        try database.set(["late": [2]])
        let refusal = await #expect(throws: StorageError.self) { try await database.flush() }
        #expect(refusal?.code == .replacementUndecided)
        #expect(database.pendingChanges == 1)
        watch.stop()
        try await database.flush()
        #expect(database.pendingChanges == 0)
        #expect(try leavesNothing())
        database.close()
        #expect(try scratch.copyWithoutRuntime().open().keys() == ["early", "late"])
    }

    @Test("1: a new store that cannot be made leaves no file, and its error contains no SQL")
    func impossible() async throws {
        let database = try await database()
        let place = directory
        let watch = SyncWatch(below: place) { !$0.hasSuffix(".unfinished") }
        await #expect(throws: StorageError.self) { try await database.repair() }
        #expect(try leavesNothing())
        watch.stop()
        let cause = SQLiteError(
            extendedCode: .full, message: "full", sql: "CREATE TABLE state (id INTEGER)")
        #expect(!StorageError.repairFailed(scratch.store, cause).description.contains("CREATE"))
        #expect(!StorageError.storeLost(scratch.store, cause).description.contains("CREATE"))
        database.close()
    }

    @Test("2: the old log is gone for good when the new store gets its name")
    func order() async throws {
        try await database().close()
        let files = FileManager.default
        try files.moveItem(atPath: scratch.store, toPath: scratch.store + ".renewed")
        for suffix in ["", "-wal"] {
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: scratch.store + suffix))
        }
        let (place, store) = (directory, scratch.store)
        let seen = Mutex<[Bool]>([])
        let watch = SyncWatch(below: place) { path in
            guard path == place, access(store + ".renewed", F_OK) == 0 else { return true }
            seen.withLock { $0.append(access(store + "-wal", F_OK) != 0) }
            return true
        }
        try scratch.open().close()
        watch.stop()
        #expect(seen.withLock { $0 } == [true])
    }

    @Test("3: an interrupted replacement keeps the old files under one name")
    func oneName() async throws {
        try await database().close()
        let files = FileManager.default
        let ready = scratch.store + ".renewed"
        try files.moveItem(atPath: scratch.store, toPath: ready)
        try files.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_795_290_000)], ofItemAtPath: ready)
        for name in [scratch.store, scratch.store + ".aside-2026-11-21T194000Z.000000000-wal"] {
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: name))
        }
        try scratch.open().close()
        #expect(
            try scratch.damagedFiles() == [
                "defaults.db.aside-2026-11-21T194000Z.000000000",
                "defaults.db.aside-2026-11-21T194000Z.000000000-wal",
            ])
    }
}
