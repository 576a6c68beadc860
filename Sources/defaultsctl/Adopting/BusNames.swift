import DBus
import DefaultsProtocol
@preconcurrency import Glibc

/// Who owns the names of settings services.
extension Connection {
    /// How long a service may take to write to disk and end.
    private static let patience = Duration.seconds(60)

    /// Has the bus read its activation files again.
    func reloadActivation() async throws {
        _ = try await call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    }

    /// The process that owns a name, if it is not defaultsd.
    func rival(for name: BusName) async throws -> UInt32? {
        guard let owner = try await owner(of: name),
            try await owner != self.owner(of: Contract.busName)
        else { return nil }
        return await processID(of: owner)
    }

    /// Ends the process that owns a name, which writes to disk before, and waits for its end.
    ///
    /// - Throws: `ToolError` if it does not end.
    func end(_ name: BusName) async throws {
        guard let owner = try await owner(of: name), let process = await processID(of: owner) else {
            return
        }
        kill(pid_t(process), SIGTERM)
        guard try await waitForDeparture(of: owner, within: Self.patience) else {
            throw ToolError.doesNotEnd(name.string, process)
        }
    }

    /// Waits until a name has an owner.
    ///
    /// - Throws: `ToolError` if it gets none.
    func waitForOwner(of name: BusName) async throws {
        let changes = try await ownerChanges(of: name, limit: 16)
        guard try await owner(of: name) == nil else { return }
        let arrival = Task(executorPreference: loop) {
            for await _ in changes where try await self.owner(of: name) != nil { return true }
            return false
        }
        let timer = loop.schedule(after: Self.patience) { arrival.cancel() }
        defer { timer.cancel() }
        guard try await arrival.value else { throw ToolError.noOwner(name.string) }
    }

    /// Ends the daemon, and has the bus start it again.
    func restartService() async throws {
        try await end(Contract.busName)
        try await startService(Contract.busName)
    }
}
