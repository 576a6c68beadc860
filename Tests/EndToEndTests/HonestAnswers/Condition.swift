import Foundation
import Glibc
import TestSupport

/// What may be in the way between a program and its settings, as the table of `guarantees.md` names it.
enum Condition: String, CaseIterable {
    case running = "the service runs"
    case otherBus = "the program is on another bus of the user"
    case otherRuntime = "it has another bus and no runtime directory"
    case withoutBus = "there is no bus, and the service runs"
    case nothingRuns = "there is no bus, and no service runs"
    case notInstalled = "there is no bus, and no service is installed"
    case cannotStart = "the service cannot start"
    case silentBus = "the bus does not answer, and no service runs"
    case stopped = "the service does not answer"
}

/// A desktop with a key whose value is 5, in a condition.
final class ConditionedDesktop {
    let desktop: Desktop
    /// What programs run with.
    private(set) var environment: [String: String]
    /// Whether programs have a daemon beside them.
    let hasDaemonBeside: Bool
    private var otherBus: PrivateBus?
    private var stopped: [pid_t] = []

    private let key: String

    init(_ condition: Condition, of key: String) throws {
        self.key = key
        desktop = try Desktop(launcher: condition == .cannotStart ? "false #" : "")
        environment = desktop.environment
        hasDaemonBeside = condition != .notInstalled
        if condition == .cannotStart {
            let daemon = try desktop.startDaemon()
            try desktop.setNumber(5, forKey: key, in: "org.example.App")
            daemon.send(SIGTERM)
            daemon.waitUntilExit()
        } else {
            try desktop.setNumber(5, forKey: key, in: "org.example.App")
        }
        try stage(condition)
    }

    deinit { lift() }

    private func stage(_ condition: Condition) throws {
        switch condition {
        case .running, .cannotStart: break
        case .otherBus, .otherRuntime:
            let services = desktop.directory.path + "/no-services"
            try FileManager.default.createDirectory(
                atPath: services, withIntermediateDirectories: false)
            let bus = try PrivateBus(
                serviceDirectory: services, isOpenToAll: false, environment: desktop.environment)
            environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
            if condition == .otherRuntime { environment["XDG_RUNTIME_DIR"] = nil }
            otherBus = bus
        case .withoutBus: environment = desktop.environmentWithoutBus
        case .nothingRuns, .notInstalled:
            try desktop.stopDaemon()
            environment = desktop.environmentWithoutBus
        case .silentBus:
            try desktop.stopDaemon()
            stop(desktop.bus.processIdentifier)
        case .stopped: stop(try desktop.daemonPID())
        }
    }

    private func stop(_ process: pid_t) {
        kill(process, SIGSTOP)
        stopped.append(process)
    }

    /// Ends the condition.
    func lift() {
        for process in stopped { kill(process, SIGCONT) }
        stopped = []
        otherBus?.stop()
        otherBus = nil
    }

    /// The value that the service has when nothing is in the way.
    ///
    /// - Parameter condition: What was in the way.
    func value(after condition: Condition) throws -> Int {
        lift()
        let daemon = condition == .cannotStart ? try desktop.startDaemon() : nil
        defer {
            daemon?.send(SIGTERM)
            daemon?.waitUntilExit()
        }
        return try desktop.number(forKey: key, in: "org.example.App")
    }
}
