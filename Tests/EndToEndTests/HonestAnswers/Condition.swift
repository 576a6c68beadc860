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
    case ending = "the last service is still ending"
    case refusing = "the service has no room for calls"
    case locked = "an administrator has locked the key"
    case unreadable = "the database cannot be read"
    case readOnly = "the home is read-only"
    case diskFull = "the disk is full"
    case allFull = "the disk and the runtime directory are full"
    case otherType = "the value has another type"

    /// The conditions that this user can make.
    static var possible: [Condition] {
        let mounting: [Condition] = [.readOnly, .diskFull, .allFull]
        return allCases.filter { condition in
            (ReadOnlyMount.isAvailable || !mounting.contains(condition))
                && (condition != .unreadable || PlantedSession.canLoseCapabilities)
        }
    }

    /// The value that the key has, as the tool prints it.
    var storedText: String { self == .otherType ? "five" : "5" }
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
    private var lastDaemon: ChildProcess?
    private var refusing: RefusingService?
    private var readOnly: ReadOnlyMount?
    private var mounted: [String] = []

    private let key: String

    init(_ condition: Condition, of key: String) async throws {
        self.key = key
        let launcher =
            switch condition {
            case .cannotStart: "false #"
            // Root's daemon, too, may read only what permissions allow.
            case .unreadable where geteuid() == 0:
                "setpriv --bounding-set=-dac_override,-dac_read_search"
            default: ""
            }
        desktop = try Desktop(launcher: launcher)
        environment = desktop.environment
        hasDaemonBeside = condition != .notInstalled
        if condition == .diskFull || condition == .allFull {
            for folder in ["config", "runtime"] { try mountSmallDisk(folder) }
        }
        if condition == .cannotStart {
            let daemon = try desktop.startDaemon()
            try desktop.setNumber(5, forKey: key, in: "org.example.App")
            daemon.send(SIGTERM)
            daemon.waitUntilExit()
        } else {
            try desktop.setNumber(5, forKey: key, in: "org.example.App")
        }
        try await stage(condition)
    }

    deinit {
        lift()
        guard !mounted.isEmpty else { return }
        desktop.end()
        for place in mounted { desktop.run("umount", "--lazy", place) }
    }

    private func stage(_ condition: Condition) async throws {
        let app = "org.example.App"
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
        case .ending:
            try desktop.stopDaemon()
            let lock = desktop.directory.path + "/config/defaultsd/lock"
            // The next daemon waits for the lock, and its callers wait for that daemon.
            lastDaemon = try desktop.start("flock", lock, "sleep", "0.5")
        case .refusing:
            try desktop.stopDaemon()
            refusing = try await RefusingService(on: desktop, refusing: .max)
        case .locked:
            try desktop.write(
                #"{"\#(key)": 5}"#, to: "\(app).json", in: .managed)
            try desktop.awaitLock(of: key, in: app)
        case .unreadable:
            try desktop.stopDaemon()
            chmod(desktop.directory.path + "/config/defaultsd", 0)
        case .readOnly:
            try desktop.stopDaemon()
            readOnly = try ReadOnlyMount(over: desktop.directory.path + "/config")
            // A start takes longer than a program waits if the machine is busy.
            _ = try desktop.daemonPID()
        case .diskFull: fill("config")
        case .allFull:
            fill("config")
            fill("runtime")
            // There is room in the last page of a file.
            var number = 0
            while desktop.call("SetValue", "a", "b", "<\(number)>").status == 0 { number += 1 }
        case .otherType:
            try desktop.tool("write", app, key, "-string", condition.storedText).requireOutput()
        }
    }

    /// A file system that is full soon.
    private func mountSmallDisk(_ folder: String) throws {
        let place = desktop.directory.path + "/" + folder
        try desktop.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", place)
            .requireOutput()
        mounted.append(place)
    }

    private func fill(_ folder: String) {
        let file = "\(desktop.directory.path)/\(folder)/filler"
        desktop.run("sh", "-c", "cat /dev/zero > '\(file)' 2>/dev/null")
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
        lastDaemon?.waitUntilExit()
        refusing = nil
        readOnly = nil
        chmod(desktop.directory.path + "/config/defaultsd", 0o700)
        for place in mounted { unlink(place + "/filler") }
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
