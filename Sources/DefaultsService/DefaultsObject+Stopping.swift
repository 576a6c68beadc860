import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

extension DefaultsObject {
    /// How long the end waits for the bus.
    private static let patience = Duration.seconds(5)

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
        let connection = connection
        // A bus that does not answer, or takes nothing, holds up the end no longer than this.
        let patience = connection.loop.schedule(after: Self.patience) {
            connection.assumeIsolated { $0.close() }
        }
        // Where the bus is gone, or there is none, there is no name to give back.
        _ = try? await connection.releaseName(Contract.busName)
        await connection.callsCarriedOut()
        // Meanwhile callers that use our own name on the bus, as GLib's proxies do, learn of it.
        _ = await durability()
        await connection.flush()
        await connection.close()
        patience.cancel()
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
