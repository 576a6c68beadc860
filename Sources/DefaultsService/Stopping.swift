import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

extension DefaultsObject {
    /// How long each step waits for the bus.
    private static let patience = Duration.seconds(5)

    /// Ends the service.
    ///
    /// Everything that was acknowledged is on disk after that, and every call that has reached the
    /// service has an answer.
    ///
    /// The disk comes first. So little is left to do when the name is released and the bus begins
    /// to queue calls for the next daemon. Then the calls that came before are answered. Their
    /// changes are written when no more calls are carried out, and then the database lock is
    /// released. The bus connection is closed last, because the next daemon waits for that.
    ///
    /// - Throws: ``StorageError`` if the disk refuses. The crash journal keeps the changes.
    package func stop() async throws {
        await endUpkeep()
        if case .success = await durability() { await tidyAtEnd() }
        // Programs that follow the name's owner no longer hear this daemon when the name is gone.
        await patiently { _ in await signalsSent() }
        await patiently { connection in
            // If the bus is gone, or there is none, there is no name to release.
            _ = try? await releaseNames()
        }
        await patiently { await $0.callsCarriedOut() }
        // Meanwhile, callers that use our unique bus name, as GLib's proxies do, learn of the
        // change.
        _ = await durability()
        await patiently { _ in await signalsSent() }
        await patiently { _ in await settingsPublished() }
        await connection.refuseCalls(with: Self.hasEnded)
        // If the bus is gone, nothing above has waited for the snapshots.
        await lanes.snapshotsClosed()
        let outcome = await durabilityAtRest()
        disk.end(with: outcome)
        memory.end()
        signals.stopTimer()
        layerSchedule.end()
        flushAlarm.stop()
        for timer in [dconf?.timer, dconf?.askTimer] { timer?.cancel() }
        await writer.close()
        database.close()
        await patiently { await $0.flush() }
        await connection.close()
        _ = try outcome.get()
    }

    /// Ends at once, because the database can no longer be used.
    func abandon(because error: StorageError) {
        disk.end(with: .failure(error))
        layerSchedule.end()
        connection.assumeIsolated { $0.refuseCalls(with: Self.hasEnded) }
        database.leavePage()
        abandon(error)
    }

    /// The same answer as that of the bus for a service that has gone: nothing was done.
    static let hasEnded = DBusError(
        .serviceUnknown,
        "This daemon has ended, and the call was not carried out. Call \(Contract.busName) again: "
            + "another daemon answers, or the bus starts one.")

    /// Does a step that depends on the bus.
    ///
    /// It does not wait for a bus that hangs. It does wait for the disk.
    private func patiently(_ step: (Connection) async -> Void) async {
        limitPatience()
        await step(connection)
        patienceAlarm.stop()
    }

    private func limitPatience() {
        patienceAlarm.set(after: Self.patience) { [weak self] in
            self?.assumeIsolated { object in
                let isBusy = object.disk.isWorking || object.lanes.isAnyBusy
                if isBusy { return object.limitPatience() }
                object.connection.assumeIsolated { $0.close() }
                object.signals.giveUp()
            }
        }
    }

    /// Flushes, and waits until every change is on disk, or the disk has refused it, and no work on
    /// the store is in progress.
    private func durabilityAtRest() async -> DiskKeeper.Outcome {
        var outcome = await durability()
        // Other work of the loop may have run since that outcome.
        while !disk.isAtRest { outcome = await durability() }
        return outcome
    }
}
