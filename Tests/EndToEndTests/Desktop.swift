import Foundation
import Glibc
import Testing
import TestSupport

/// The shipped programs on a private bus that starts the daemon at the first call to it.
///
/// The database, the crash journal and the log are in a temporary directory. When the desktop
/// goes, its bus ends, and with it the daemon.
final class Desktop {
    let directory: TemporaryDirectory
    let bus: PrivateBus
    let environment: [String: String]

    /// Ends with a slash.
    static let packageDirectory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path(percentEncoded: false)

    /// Where `make build` puts the programs.
    static let programs = packageDirectory + ".build/release"
    static let contractFile =
        packageDirectory + "Sources/DefaultsProtocol/org.defaultsd.Defaults1.xml"

    var databasePath: String { directory.path + "/config/defaultsd/defaults.db" }

    /// - Parameters:
    ///   - daemonOptions: For the command line of the daemon that the bus starts.
    ///   - launcher: What runs that daemon, for a shell, such as `prlimit --nofile=16`.
    ///   - busIsOpenToAll: Whether other users may connect to the bus.
    /// - Throws: ``OutdatedPrograms`` if the programs are older than their sources.
    init(
        daemonOptions: String = "", launcher: String = "", busIsOpenToAll: Bool = false
    ) throws {
        try ShippedPrograms.requireNew()
        directory = try TemporaryDirectory()
        for folder in ["config", "runtime", "services"] {
            try FileManager.default.createDirectory(
                atPath: directory.path + "/" + folder, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = directory.path
        environment["XDG_CONFIG_HOME"] = directory.path + "/config"
        environment["XDG_CONFIG_DIRS"] = directory.path + "/xdg"
        environment["XDG_RUNTIME_DIR"] = directory.path + "/runtime"
        // The machine's own has no part in tests.
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(directory.path)/no-system-bus"
        let log = directory.path + "/log"
        let options = Desktop.layerOptions(in: directory.path) + " " + daemonOptions
        try """
        [D-BUS Service]
        Name=org.defaultsd.Defaults1
        Exec=/bin/sh -c 'umask 0; exec \(launcher) \(Desktop.programs)/defaultsd \
        \(options) 2>>\(log)'
        """.write(
            toFile: directory.path + "/services/org.defaultsd.Defaults1.service",
            atomically: true, encoding: .utf8)
        bus = try PrivateBus(
            serviceDirectory: directory.path + "/services", isOpenToAll: busIsOpenToAll,
            environment: environment)
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        self.environment = environment
    }

    deinit { end() }

    /// Ends the bus and all programs of this home, which would otherwise make its directories again.
    ///
    /// The daemon that has the database is waited for.
    func end() {
        bus.stop()
        waitForDaemon()
        killPrograms(ofHome: directory.path)
    }

    /// The file that the daemon locks while it has the database.
    fileprivate var lockPath: String { directory.path + "/config/defaultsd/lock" }

    private func waitForDaemon() {
        let lock = open(lockPath, O_RDONLY | O_CLOEXEC)
        guard lock >= 0 else { return }
        defer { close(lock) }
        guard flock(lock, LOCK_EX | LOCK_NB) != 0 else { return }
        Desktop.killIfStopped(holderOf: lockPath)
        flock(lock, LOCK_EX)
    }

    /// Kills the daemon that has a lock if a test has stopped it, as it would never end.
    private static func killIfStopped(holderOf lock: String) {
        guard let words = try? String(contentsOfFile: lock, encoding: .utf8).split(separator: /\s/),
            words.count > 1, let daemon = pid_t(words[1]),
            let status = try? String(contentsOfFile: "/proc/\(daemon)/stat", encoding: .utf8),
            status.split(separator: ") ").last?.first == "T"
        else { return }
        kill(daemon, SIGKILL)
    }
}

// MARK: Running programs

extension Desktop {
    @discardableResult
    func run(
        _ command: [String], environment: [String: String]? = nil, input: String = ""
    ) -> ProgramResult {
        ProgramResult.run(command, environment: environment ?? self.environment, input: input)
    }

    @discardableResult
    func run(_ command: String...) -> ProgramResult { run(command) }

    @discardableResult
    func tool(_ arguments: [String]) -> ProgramResult {
        run([Desktop.programs + "/defaultsctl"] + arguments)
    }

    @discardableResult
    func tool(_ arguments: String...) -> ProgramResult { tool(arguments) }

    /// Calls a method of the contract by gdbus, which takes arguments as GVariant text.
    @discardableResult
    func call(_ method: String, _ arguments: String...) -> ProgramResult {
        gdbus(method: "org.defaultsd.Defaults1.\(method)", arguments)
    }

    func gdbus(_ method: String, _ arguments: String...) -> ProgramResult {
        gdbus(method: method, arguments)
    }

    func gdbus(method: String, _ arguments: [String]) -> ProgramResult {
        run(
            [
                "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1",
                "--object-path", "/org/defaultsd/Defaults1", "--method", method, "--",
            ] + arguments)
    }

    func busctl(_ method: String, _ signature: String, _ arguments: String...) -> ProgramResult {
        run(
            [
                "busctl", "--address=\(bus.address)", "call", "org.defaultsd.Defaults1",
                "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1", method, signature,
            ] + arguments)
    }

    /// Debian's own interpreter, which is the one that has GLib.
    func python(_ program: String, _ arguments: String..., input: String = "") -> ProgramResult {
        run(["/usr/bin/python3", "-c", program] + arguments, input: input)
    }

    /// Begins a Python program with `service`, `bus`, `dumps`, and `archive`, an Account of ada.
    static let pythonArchive = """
        import plistlib
        from plistlib import UID
        from gi.repository import Gio, GLib
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        service = Gio.DBusProxy.new_sync(
            bus, Gio.DBusProxyFlags.NONE, None, "org.defaultsd.Defaults1",
            "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1")
        dumps = lambda contents: plistlib.dumps(contents, fmt=plistlib.FMT_BINARY)
        contents = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
            "$objects": ["$null", {"$class": UID(3), "username": UID(2)}, "ada",
                         {"$classname": "Account", "$classes": ["Account", "NSObject"]}]}
        archive = dumps(contents)
        """

    /// Starts a program that goes on, and whose lines are read as they come.
    func start(_ command: String...) throws -> ChildProcess {
        try ChildProcess(command, environment: environment, output: .lines)
    }
}

// MARK: The daemon

extension Desktop {
    /// Calls a method of the bus itself.
    func askBus(_ method: String, _ arguments: String...) throws -> String {
        try run(
            [
                "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
                "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.\(method)",
            ] + arguments
        ).requireOutput()
    }

    /// The process of the daemon, which is started where none runs.
    func daemonPID() throws -> pid_t {
        _ = try askBus("StartServiceByName", "org.defaultsd.Defaults1", "0")
        let answer = try askBus("GetConnectionUnixProcessID", "org.defaultsd.Defaults1")
        return try #require(pid_t(answer.split { !$0.isNumber }.last ?? ""))
    }

    /// The memory of the daemon that is its own, in kilobytes.
    func residentKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(daemonPID())/status", encoding: .utf8)
        return try #require(status.firstMatch(of: /RssAnon:\s+(\d+)/).flatMap { Int($0.1) })
    }

    /// The process of the daemon; nil while the bus knows none.
    private var runningDaemon: pid_t? {
        let answer = run(
            "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
            "/org/freedesktop/DBus", "--method",
            "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.defaultsd.Defaults1")
        return answer.status == 0 ? pid_t(answer.output.split { !$0.isNumber }.last ?? "") : nil
    }

    /// Sends a signal to the daemon and waits until the bus has seen it go.
    ///
    /// A program that runs may have another one started at once.
    @discardableResult
    func killDaemon(_ signal: Int32) throws -> pid_t {
        let daemon = try daemonPID()
        kill(daemon, signal)
        try wait { runningDaemon != daemon }
        return daemon
    }

    /// Ends the daemon in order, and waits until it has closed the database.
    func stopDaemon() throws { try withoutDaemon {} }

    /// Ends the daemon in order, and does something while no daemon has the database.
    ///
    /// A program that runs, such as the roaming service, may have another daemon started at any moment. That
    /// one waits for the lock, which the test has meanwhile.
    func withoutDaemon<Result>(_ body: () throws -> Result) throws -> Result {
        try killDaemon(SIGTERM)
        let lock = open(lockPath, O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        // The name goes before the lock does. A test may have taken the disk away.
        try wait {
            if lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0 { return true }
            if let next = runningDaemon { kill(next, SIGTERM) }
            return false
        }
        return try body()
    }

    /// Starts the daemon as a child of the tests, so that its end can be waited for.
    ///
    /// - Parameter command: A program that runs it.
    func startDaemon(by command: String...) throws -> ChildProcess {
        try startDaemon(by: command)
    }

    func startDaemon(by command: [String]) throws -> ChildProcess {
        let daemon = try ChildProcess(
            command + [Desktop.programs + "/defaultsd"], environment: environment)
        try wait {
            try #require(daemon.isRunning)
            return try askBus("NameHasOwner", "org.defaultsd.Defaults1") == "(true,)\n"
        }
        return daemon
    }

    /// A property of the daemon, as GVariant text.
    func property(_ name: String) throws -> String {
        let answer = try gdbus(
            "org.freedesktop.DBus.Properties.Get", "org.defaultsd.Defaults1", name
        ).requireOutput()
        return String(answer.dropFirst().dropLast(3))
    }

    func introspect(_ path: String) throws -> String {
        try run(
            "gdbus", "introspect", "--session", "--xml", "--dest", "org.defaultsd.Defaults1",
            "--object-path", path
        ).requireOutput()
    }

    func waitForMatchRule(containing text: String) throws {
        try wait {
            try run(
                "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
                "/org/freedesktop/DBus", "--method",
                "org.freedesktop.DBus.Debug.Stats.GetAllMatchRules"
            ).requireOutput().contains(text)
        }
    }
}

/// Asks again and again until something holds.
///
/// Between two questions others have the processor: what is waited for needs it, too.
///
/// - Throws: ``NeverCame`` after the limit of ``HangGuard``.
func wait(until holds: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + HangGuard.limit
    while try !holds() {
        guard ContinuousClock.now < deadline else { throw NeverCame() }
        usleep(10_000)
    }
}

/// What a test waited for has not come.
struct NeverCame: Error {}

extension ProgramResult {
    /// What it says on standard error, without the usage that follows where the line is wrong.
    var complaint: String {
        error.ranges(of: "\nusage: ").first.map { String(error[..<$0.lowerBound]) + "\n" } ?? error
    }

    /// The D-Bus error that gdbus reports.
    var errorName: String? {
        error.firstMatch(of: /GDBus\.Error:([\w.]+)/).map { String($0.1) }
    }
}
