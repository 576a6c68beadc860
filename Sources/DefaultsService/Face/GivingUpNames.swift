import DBus
import DefaultsCore
import DefaultsProtocol

/// Gives the name to another daemon, which takes over.
extension BusFace {
    /// Gives the name to the caller.
    ///
    /// After that, the daemon ends as after any loss of the name.
    func handOver(_ call: MethodCall) throws {
        guard let successor = call.sender else { throw ContractError.noNameToHandOver }
        // The call stays on this thread.
        nonisolated(unsafe) let call = call
        start { service in
            do {
                try await service.face.releaseName(to: successor)
                try call.reply()
            } catch {
                call.fail(error)
            }
        }
    }

    /// Gives the name up when everything is on disk, so that callers do not wait long for the next
    /// daemon.
    ///
    /// If the disk refuses changes, the journal has them for that daemon.
    private nonisolated(nonsending) func releaseName(to successor: BusName) async throws {
        try await checkQueue(for: successor)
        _ = await store.durability()
        await signalsSent()
        try await checkQueue(for: successor)
        try await releaseNames()
    }

    /// Releases all names.
    ///
    /// Those of desktops come first: a daemon that takes over has been waiting for them longer than
    /// for the service's own.
    nonisolated(nonsending) func releaseNames() async throws {
        for door in doors {
            _ = try? await connection.releaseName(type(of: door).busName)
        }
        try await connection.releaseName(Contract.busName)
    }

    private nonisolated(nonsending) func checkQueue(for successor: BusName) async throws {
        let owners = try await connection.queuedOwners(of: Contract.busName)
        let waiting = owners.filter { $0 != connection.uniqueName?.string }
        guard waiting.first == successor.string else {
            throw ContractError(notNext: successor, waiting: waiting)
        }
    }
}
