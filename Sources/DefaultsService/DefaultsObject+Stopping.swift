import DBus
import DefaultsProtocol
import DefaultsStorage

extension DefaultsObject {
    /// Ends the service: nothing that was acknowledged is left off the disk, and no call that
    /// has reached the service is left without an answer.
    ///
    /// The name goes first, so that the bus keeps later calls for the next daemon; what came
    /// before is answered while that is under way. Then the disk, then the lock.
    ///
    /// - Throws: ``StorageError`` where the disk refuses. The crash journal keeps the changes.
    public func stop() async throws {
        // Where the bus is gone there is no name to give back.
        _ = try? await connection.releaseName(Contract.busName)
        let outcome = await withCheckedContinuation { continuation in
            waitUntilDurable { continuation.resume(returning: $0) }
        }
        flushTimer?.cancel()
        flushTimer = nil
        await connection.flush()
        await connection.close()
        await writer.close()
        database.close()
        _ = try outcome.get()
    }
}
