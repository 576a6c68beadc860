import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

extension DefaultsObject {
    /// Ends the service: nothing that was acknowledged is left off the disk, and no call that
    /// has reached the service is left without an answer.
    ///
    /// The disk comes first, so that little is left to do when the name goes and the bus begins to
    /// keep calls for the next daemon, which waits for the lock. What came before that is answered;
    /// what it changed is written when no call can come any more, and then the lock is given up.
    ///
    /// - Throws: ``StorageError`` where the disk refuses. The crash journal keeps the changes.
    public func stop() async throws {
        _ = await durability()
        // Where the bus is gone there is no name to give back.
        _ = try? await connection.releaseName(Contract.busName)
        await connection.flush()
        await connection.close()
        let outcome = await durability()
        flushTimer?.cancel()
        flushTimer = nil
        await writer.close()
        database.close()
        _ = try outcome.get()
    }

    private func durability() async -> Result<Generation, StorageError> {
        await withCheckedContinuation { continuation in
            waitUntilDurable { continuation.resume(returning: $0) }
        }
    }
}
