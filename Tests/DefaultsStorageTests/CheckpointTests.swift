import CSQLite
import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage
@testable import SQLite

/// The first flush of a process, which empties the write-ahead log during reads.
@Suite(.startsPrograms) struct CheckpointTests {
    @Test("The first flush waits for a read in progress, and does not fail")
    func readUnderWay() async throws {
        let scratch = try Scratch()
        do {
            let database = try scratch.open()
            try database.set(["before": [1]])
            try await database.flush()
            // A process that is killed leaves a log, which the reader is to read.
            let copy = try scratch.copyAll()
            database.close()
            try FileManager.default.removeItem(atPath: scratch.root)
            try FileManager.default.moveItem(atPath: copy.root, toPath: scratch.root)
        }
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["key": [1]])
        let batch = try #require(database.beginFlush())
        let reading = try LongRead(of: scratch.store)
        defer { reading.end() }
        try await writer.write(batch)
        database.finishFlush(batch, .success(()))
        #expect(try database.keys() == ["before", "key"])
        await writer.close()
        database.close()
    }
}

/// A read that ends as soon as SQLite waits for it.
private final class LongRead {
    private let reader: Reader

    init(of path: String) throws {
        reader = Reader(try StoreFile(path: path).connect())
        try reader.begin()
        let thread = Thread { [reader] in
            SleepWatch.shared.waitForSleep()
            reader.end()
        }
        SleepWatch.shared.begin()
        thread.start()
    }

    /// Ends it in any case; SQLite has not waited if it is still open.
    func end() {
        SleepWatch.shared.end()
    }

    /// A connection that one thread hands to another, and does not use after that.
    private final class Reader: @unchecked Sendable {
        private let connection: Connection

        init(_ connection: Connection) { self.connection = connection }

        func begin() throws {
            try connection.execute("BEGIN; SELECT count(*) FROM entries")
        }

        func end() {
            try? connection.execute("COMMIT")
        }
    }
}

/// Tells when SQLite sleeps, which it does only to wait for a lock.
private final class SleepWatch: @unchecked Sendable {
    static let shared = SleepWatch()

    private let slept = DispatchSemaphore(value: 0)
    private let system = sqlite3_vfs_find("unix-excl")
    private let sleep: (@convention(c) (UnsafeMutablePointer<sqlite3_vfs>?, Int32) -> Int32)?

    private init() {
        sleep = system?.pointee.xSleep
    }

    func begin() {
        system?.pointee.xSleep = { system, microseconds in
            SleepWatch.shared.slept.signal()
            return SleepWatch.shared.sleep?(system, microseconds) ?? 0
        }
    }

    func waitForSleep() {
        slept.wait()
    }

    func end() {
        system?.pointee.xSleep = sleep
        slept.signal()
    }
}
