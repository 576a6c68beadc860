import CSQLite
import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage
@testable import SQLite

/// The first flush of a process, which empties the write-ahead log while reads are under way.
@Suite struct CheckpointTests {
    @Test("The first flush waits for a read that is under way, and does not fail for it")
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
        let reading = try await LongRead(of: scratch.store, until: writer)
        try await writer.write(batch)
        database.finishFlush(batch, .success(()))
        reading.waitForEnd()
        #expect(try database.keys() == ["before", "key"])
        await writer.close()
        database.close()
    }
}

/// A read on a thread of its own, which ends after a writer has begun to empty the log.
private final class LongRead: @unchecked Sendable {
    /// The checkpoint has begun, and the read has ended.
    private let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    init(of path: String, until writer: DurableWriter) async throws {
        await writer.onCheckpoint(begun)
        let connection = try StoreFile(path: path).connect()
        try connection.execute("BEGIN")
        let select = try connection.prepare("SELECT count(*) FROM entries")
        _ = try select.step()
        let handedOver = HandedOver(connection)
        let thread = Thread { [begun, ended] in
            begun.wait()
            handedOver.end()
            ended.signal()
        }
        select.reset()
        thread.start()
    }

    func waitForEnd() {
        ended.wait()
    }

    /// A connection that one thread hands to another, and does not use after that.
    private final class HandedOver: @unchecked Sendable {
        private let connection: Connection

        init(_ connection: Connection) { self.connection = connection }

        func end() {
            try? connection.execute("COMMIT")
        }
    }
}

extension DurableWriter {
    /// Signals when the writer begins a checkpoint.
    fileprivate func onCheckpoint(_ semaphore: DispatchSemaphore) {
        // The semaphore outlives the writer's connection: nobody takes this reference back.
        sqlite3_trace_v2(
            openConnection.handle, UInt32(SQLITE_TRACE_STMT),
            { _, context, _, text in
                let sql = text.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
                guard let context, sql?.contains("wal_checkpoint") == true else { return 0 }
                Unmanaged<DispatchSemaphore>.fromOpaque(context).takeUnretainedValue().signal()
                return 0
            }, Unmanaged.passRetained(semaphore).toOpaque())
    }
}
