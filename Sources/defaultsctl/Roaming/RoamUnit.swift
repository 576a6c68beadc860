import DBus
import DefaultsClient

/// The roaming service as systemd runs it.
struct RoamUnit {
    static let name = "defaultsd-roam.service"
    private let connection: Connection

    /// - Returns: Nil if no manager is on the bus.
    init?(on connection: Connection) async throws {
        guard try await connection.hasOwner(of: SystemdManager.name) else { return nil }
        self.connection = connection
    }

    /// Starts the service now and at each log-in.
    ///
    /// - Throws: `ToolError` if there is no such unit.
    func enable() async throws {
        do {
            try await call(
                "EnableUnitFiles",
                [.array(of: "s", [.string(Self.name)]), .boolean(false), .boolean(true)])
            try await call("Reload")
            try await call("StartUnit", [.string(Self.name), .string("replace")])
        } catch let error as DBusError {
            throw ToolError.roamingDoesNotStart(error)
        }
    }

    /// Ends the service, and does not start it any more.
    func disable() async throws {
        try await call(
            "DisableUnitFiles", [.array(of: "s", [.string(Self.name)]), .boolean(false)])
        try await call("Reload")
        do {
            try await call("StopUnit", [.string(Self.name), .string("replace")])
        } catch let error as DBusError where error.name == Self.noSuchUnit {
            // It was never started.
        }
    }

    private static let noSuchUnit: ErrorName = "org.freedesktop.systemd1.NoSuchUnit"

    private func call(_ member: MemberName, _ arguments: [Value] = []) async throws {
        _ = try await connection.call(
            SystemdManager.name, SystemdManager.path, SystemdManager.interface, member, arguments)
    }
}
