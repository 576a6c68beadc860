import CSQLite
import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage
@testable import SQLite

/// What failed transactions leave in the write-ahead log.
///
/// The numbers in the names are those of the invariants of `DurableWriter`.
@Suite struct LeftoverTests {
    @Test(
        "4: a transaction whose commit the disk refuses is not taken for a later one",
        arguments: 0..<2
    )
    func refusedEnd(_ flushesBefore: Int) async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for number in 0..<flushesBefore {
            try database.set(["before\(number)": [1]])
            try await database.flush(by: writer)
        }
        let large = [UInt8](repeating: 7, count: 50_000)
        try database.set(["large": large, "key": [1]])
        try await writer.refuseNextSync()
        await #expect(throws: StorageError.self) { try await database.flush(by: writer) }
        try database.remove("large")
        try database.set(["key": [2]])
        try await database.flush(by: writer)
        let copy = try scratch.copyAll()
        let found = try #require(try WriteAheadLog.open(of: copy.store, mayBeTorn: false))
        #expect(!found.isDamaged)
        let next = try copy.open()
        #expect(copy.repair == nil)
        #expect(try next.archive("large") == nil)
        #expect(try next.archive("key") == [2])
        await writer.close()
        database.close()
    }

    @Test("4: nor is a step of tidying whose commit the disk refuses")
    func refusedTidying() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        let values = (0..<80).map { ("key\($0)", [UInt8](repeating: 7, count: 50_000)) }
        for (key, value) in values { try database.set([key: value], in: "org.example.Large") }
        try await database.flush(by: writer)
        for (key, value) in values.prefix(20) { try database.set([key: value]) }
        try await database.flush(by: writer)
        // A read keeps the log from being folded back whole, and so from beginning again.
        let read = try database.snapshot()
        try database.clear("org.example.Large")
        try await database.flush(by: writer)
        try await writer.refuseNextSync()
        #expect(try await writer.tidy())
        read.close()
        try database.set(["small": [1]])
        try await database.flush(by: writer)
        let copy = try scratch.copyAll()
        #expect(try WriteAheadLog.open(of: copy.store, mayBeTorn: false)?.isDamaged != true)
        let next = try copy.open()
        #expect(copy.repair == nil)
        #expect(try next.archive("small") == [1])
        await writer.close()
        database.close()
    }

    @Test("4: nor is a transaction that the previous process has not written completely")
    func processBefore() async throws {
        let scratch = try Scratch()
        do {
            let database = try scratch.open()
            let writer = try database.makeWriter()
            try database.set(["before": [1]])
            try await database.flush(by: writer)
            try database.set(["large": [UInt8](repeating: 7, count: 50_000)])
            try await database.flush(by: writer)
            let copy = try scratch.copyAll()
            await writer.close()
            database.close()
            try FileManager.default.removeItem(atPath: scratch.root)
            try FileManager.default.moveItem(atPath: copy.root, toPath: scratch.root)
        }
        // The first frame of the second transaction has not reached the disk.
        let log = scratch.store + "-wal"
        var bytes = try scratch.bytes(log)
        let step = WriteAheadLog.frameHeaderSize + PageSize.ours.whole
        let frames = stride(from: WriteAheadLog.headerSize, to: bytes.count, by: step)
        let ends = frames.filter { bytes[$0 + 4..<$0 + 8].contains { $0 != 0 } }
        let torn = ends[ends.count - 2] + step
        for index in torn..<torn + step { bytes[index] = 0 }
        try Data(bytes).write(to: URL(fileURLWithPath: log))
        let boot = UniqueID.random()
        let database = try scratch.open(boot: boot)
        try database.set(["key": [1]])
        try await database.flush()
        let copy = try scratch.copyAll()
        #expect(
            try WriteAheadLog.open(of: copy.store, mayBeTorn: false)?.isDamaged != true)
        #expect(try copy.open(boot: boot).archive("key") == [1])
        #expect(copy.repair == nil)
        database.close()
    }
}

extension DurableWriter {
    /// Has the disk refuse to synchronize the write-ahead log once.
    fileprivate func refuseNextSync() throws {
        // The log is opened by the first read.
        try openConnection.pragma("user_version")
        var found: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(
            openConnection.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &found)
        let file = try #require(found)
        let sound = try #require(file.pointee.pMethods)
        // What SQLite calls for this file; the next one is that which it has called so far.
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 2)
        methods.initialize(repeating: sound.pointee, count: 2)
        methods.pointee.xSync = { file, _ in
            if let file, let methods = file.pointee.pMethods { file.pointee.pMethods = methods + 1 }
            return SQLITE_IOERR
        }
        // Never freed: SQLite has it until the file is closed.
        file.pointee.pMethods = UnsafePointer(methods)
    }
}
