import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

extension DefaultsObject {
    /// How long each step of the end waits for the bus.
    private static let patience = Duration.seconds(5)

    /// Ends the service: nothing that was acknowledged is left off the disk, and no call that
    /// has reached the service is left without an answer.
    ///
    /// The disk comes first, so that little is left to do when the name goes and the bus begins to
    /// keep calls for the next daemon. What came before that is answered; what it changed is written
    /// when no call is carried out any more, and then the lock is given up. The bus is left last: the
    /// daemon that takes over waits for that.
    ///
    /// - Throws: ``StorageError`` if the disk refuses. The crash journal keeps the changes.
    package func stop() async throws {
        await endUpkeep()
        if case .success = await durability() { await tidyAtEnd() }
        await patiently { connection in
            // Where the bus is gone, or there is none, there is no name to give back.
            _ = try? await connection.releaseName(Contract.busName)
        }
        await patiently { await $0.callsCarriedOut() }
        // Meanwhile callers that use our own name on the bus, as GLib's proxies do, learn of it.
        _ = await durability()
        await connection.refuseCalls(with: Self.hasEnded)
        // If the bus is gone, nothing above has waited for them.
        await snapshotsClosed()
        let outcome = await durabilityAtRest()
        disk.end(with: outcome)
        for timer in [flushTimer, tidyTimer, layers.timer] { timer?.cancel() }
        (flushTimer, tidyTimer, layers.timer, layers.watch) = (nil, nil, nil, nil)
        await writer.close()
        database.close()
        await patiently { await $0.flush() }
        await connection.close()
        _ = try outcome.get()
    }

    /// Ends at once, as the database cannot be used any more.
    func abandon(because error: StorageError) {
        disk.end(with: .failure(error))
        connection.assumeIsolated { $0.refuseCalls(with: Self.hasEnded) }
        database.leavePage()
        abandon(error)
    }

    /// What the bus, too, says of a service that has gone: nothing has been done.
    static let hasEnded = DBusError(
        .serviceUnknown,
        "This daemon has ended, and the call was not carried out. Call \(Contract.busName) again, "
            + "which is another one or starts one.")

    /// Takes a step that the bus has a part in.
    ///
    /// A bus that does not answer, or takes nothing, is left; the disk may take its time.
    private func patiently(_ step: (Connection) async -> Void) async {
        limitPatience()
        await step(connection)
        patienceTimer?.cancel()
        patienceTimer = nil
    }

    private func limitPatience() {
        patienceTimer = connection.loop.schedule(after: Self.patience) {
            self.assumeIsolated { object in
                let isBusy = object.disk.isWorking || object.longCalls.isAnyBusy
                if isBusy { return object.limitPatience() }
                object.connection.assumeIsolated { $0.close() }
            }
        }
    }

    /// Flushes, and waits until every change is on disk, or the disk has refused, and nothing is done to
    /// the store any more.
    private func durabilityAtRest() async -> DiskKeeper.Outcome {
        var outcome = await durability()
        // Others of the loop may have had their turn since it came.
        while !disk.isAtRest { outcome = await durability() }
        return outcome
    }
}
