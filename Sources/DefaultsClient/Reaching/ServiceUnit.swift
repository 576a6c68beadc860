package import DBus
import DefaultsProtocol

/// The service as systemd runs it: the unit `defaultsd.service` of the manager that is on the same bus.
///
/// dbus-daemon waits two minutes for a unit that has failed long ago. The manager knows, so it is asked.
package struct ServiceUnit: Sendable {
    /// What the manager says about the unit.
    package struct State: Sendable {
        /// Whether there is a unit file: `loaded`, `masked`, `not-found`, `bad-setting` or `error`.
        package let loadState: String
        /// What the manager says about the unit's file, such as `static` or `masked-runtime`.
        let fileState: String
        /// Whether it runs: `active`, `activating`, `inactive`, `failed` and others.
        package let activeState: String
        /// Why it ended, such as `exit-code`; `success` if it did not fail.
        package let result: String
        /// The exit status of the program that ended last; nil if a signal ended it or none has.
        package let exitStatus: Int32?
        /// What the program said about itself last, in a sentence; empty if it said nothing.
        package let statusText: String
    }

    /// What to say if the bus wants the unit and the manager refuses.
    ///
    /// - Parameter error: The manager's.
    static func refused(because error: DBusError) -> String {
        guard error.name != SystemdManager.unitMasked else { return masked(option: "") }
        return
            "The service manager cannot start \(name): \(error.message) Reinstall it (make install), "
            + "then: systemctl --user daemon-reload"
    }

    /// - Parameter option: An option of `systemctl unmask`, with a space after it.
    fileprivate static func masked(option: String) -> String {
        "The unit \(name) is masked, so it cannot start. To allow it: systemctl --user unmask "
            + "\(option)\(name)"
    }

    /// What came of starting the unit.
    package enum Start: Sendable {
        case running
        /// The manager has no such unit.
        case unknown
        /// The unit does not start; a sentence says why and what to do.
        case failed(String)
    }

    package static let name = "defaultsd.service"
    private let connection: Connection

    /// Finds the manager.
    ///
    /// - Returns: Nil if no manager is on the bus.
    /// - Throws: `DBusError` if the bus cannot be asked.
    package init?(on connection: Connection) async throws {
        if try await !connection.hasOwner(of: SystemdManager.name) {
            // A manager that has just started the bus is not on it yet; dbus-daemon then waits for it. A
            // bus without a manager refuses at once.
            do { try await connection.startService(SystemdManager.name) } catch { return nil }
        }
        self.connection = connection
    }

    /// What the manager says about the unit; nil if it does not answer.
    package func state() async -> State? {
        do {
            let path = try await connection.call(
                SystemdManager.name, SystemdManager.path, SystemdManager.interface, "LoadUnit",
                [.string(Self.name)])
            guard case .objectPath(let unit) = path.first else { return nil }
            let facts = try await properties(of: unit, "org.freedesktop.systemd1.Unit")
                .merging(properties(of: unit, "org.freedesktop.systemd1.Service")) { one, _ in one }
            return State(facts)
        } catch {
            return nil
        }
    }

    /// Starts the unit, and waits until it runs or has failed.
    package func start(within limit: Duration) async throws -> Start {
        guard let before = await state(), before.loadState != "not-found" else { return .unknown }
        if let obstacle = before.obstacle { return .failed(obstacle) }
        let outcome = try await connection.startUnit(Self.name, within: limit)
        if outcome == "done" { return .running }
        // It may have been started and have failed since, so the newest words count.
        let state = await state() ?? before
        return .failed(state.obstacle ?? state.failure(job: outcome))
    }

    private func properties(
        of unit: ObjectPath, _ interface: String
    ) async throws -> [String: Value] {
        let answer = try await connection.call(
            SystemdManager.name, unit, "org.freedesktop.DBus.Properties", "GetAll",
            [.string(interface)])
        guard case .dictionary(_, _, let entries) = answer.first else { return [:] }
        var properties: [String: Value] = [:]
        for entry in entries {
            guard case .string(let name) = entry.key, case .variant(let value) = entry.value else {
                continue
            }
            properties[name] = value
        }
        return properties
    }
}

extension ServiceUnit.State {
    fileprivate init(_ facts: [String: Value]) {
        func text(_ name: String) -> String {
            if case .string(let text) = facts[name] { text } else { "" }
        }
        loadState = text("LoadState")
        fileState = text("UnitFileState")
        activeState = text("ActiveState")
        result = text("Result")
        statusText = text("StatusText")
        // 1 is CLD_EXITED.
        if facts["ExecMainCode"] == .int32(1), case .int32(let status) = facts["ExecMainStatus"] {
            exitStatus = status
        } else {
            exitStatus = nil
        }
    }

    /// Why the unit cannot be started at all, and what to do; nil if it can.
    package var obstacle: String? {
        let name = ServiceUnit.name
        switch loadState {
        case "masked":
            return ServiceUnit.masked(option: fileState == "masked-runtime" ? "--runtime " : "")
        case "bad-setting", "error":
            return
                "systemd cannot read the unit \(name). 'systemctl --user status \(name)' says why; "
                + "after the repair: systemctl --user daemon-reload"
        default: return nil
        }
    }

    /// Why the unit does not run, in a sentence that says what to do.
    ///
    /// - Parameter job: The manager's word for what came of the start.
    package func failure(job: String = "failed") -> String {
        let name = ServiceUnit.name
        let cause =
            switch (job, result) {
            case ("timeout", _), (_, "timeout"):
                activeState == "activating" ? "it is still starting" : "it did not start in time"
            case (_, "start-limit-hit"):
                "it failed several times in a row, so systemd has stopped trying to start it"
            case ("dependency", _): "another unit that it needs does not start"
            // See "Process Exit Codes" in systemd.exec(5).
            case (_, "exit-code") where exitStatus == 203:
                "its program is missing or cannot be run; reinstall it"
            case (_, "exit-code"): exitStatus.map { "it ended with status \($0)" } ?? "it ended"
            case (_, "signal"), (_, "core-dump"): "a signal ended it"
            case (_, ""), (_, "success"): "systemd says '\(job)'"
            default: "systemd says '\(result)'"
            }
        let words = statusText.isEmpty ? "" : " It said: \(statusText)"
        return
            "The unit \(name) does not start: \(cause).\(words) After the repair: systemctl --user "
            + "restart \(name)"
    }
}

/// systemd's manager; see org.freedesktop.systemd1(5).
package enum SystemdManager {
    /// Its name on the bus of the user.
    package static let name: BusName = "org.freedesktop.systemd1"
    /// Its object.
    package static let path: ObjectPath = "/org/freedesktop/systemd1"
    /// Its interface.
    package static let interface: InterfaceName = "org.freedesktop.systemd1.Manager"
    static let unitMasked: ErrorName = "org.freedesktop.systemd1.UnitMasked"
    static let alreadySubscribed: ErrorName = "org.freedesktop.systemd1.AlreadySubscribed"
}

extension Connection {
    /// Starts a unit and waits for the end of that job.
    ///
    /// - Returns: The manager's word for what came of it, such as `done` or `failed`; `timeout` if it has
    ///   not ended within the limit.
    fileprivate func startUnit(_ name: String, within limit: Duration) async throws -> String {
        let ends = try await signals(
            MatchRule(
                sender: SystemdManager.name, path: SystemdManager.path,
                interface: SystemdManager.interface,
                member: "JobRemoved"), limit: 256)
        // Without it the manager sends no such signals.
        do {
            try await call(
                SystemdManager.name, SystemdManager.path, SystemdManager.interface, "Subscribe")
        } catch let error as DBusError where error.name == SystemdManager.alreadySubscribed {
            // By an earlier start on this connection.
        }
        let answer = try await call(
            SystemdManager.name, SystemdManager.path, SystemdManager.interface, "StartUnit",
            [.string(name), .string("replace")])
        guard case .objectPath(let job) = answer.first else { return "failed" }
        let end = Task(executorPreference: loop) { await Self.result(of: job, in: ends) }
        let timer = loop.schedule(after: limit) { end.cancel() }
        defer { timer.cancel() }
        if let result = await end.value { return result }
        guard end.isCancelled else {
            throw DBusError(.disconnected, "The bus has ended while the service was started.")
        }
        return "timeout"
    }

    /// The result in the signal that announces the end of a job; nil if none comes.
    private static func result(of job: ObjectPath, in ends: SignalStream) async -> String? {
        for await case .signal(let end) in ends {
            guard end.arguments.count == 4, end.arguments[1] == .objectPath(job),
                case .string(let result) = end.arguments[3]
            else { continue }
            return result
        }
        return nil
    }
}
