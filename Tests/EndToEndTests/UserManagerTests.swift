import Foundation
import Glibc
import TestTiers
import Testing
import TestSupport

/// The installed unit under a real systemd --user.
@Suite(
    .startsPrograms, .serialized,
    .enabled(if: UserManager.canRun, "systemd is not the init here, or may not run as this user"))
struct UserManagerTests {
    let manager: UserManager

    init() throws { manager = try UserManager() }

    @Test func `A first call starts the service, and stopping it flushes`() throws {
        #expect(manager.unit("is-active") == "inactive")
        #expect(try manager.set("Key", "<'kept'>") == "(uint64 2,)\n")
        #expect(manager.unit("is-active") == "active")
        #expect(manager.unit("show", "--property=Type", "--value") == "notify")
        #expect(manager.unit("show", "--property=StatusText", "--value").contains("defaults.db"))
        #expect(manager.unit("stop", "--quiet") == "")
        #expect(manager.unit("show", "--property=Result", "--value") == "success")
        #expect(manager.unit("show", "--property=ExecMainStatus", "--value") == "0")
        try manager.removeJournal()
        #expect(try manager.get("Key") == "(<'kept'>, uint64 2)\n")
    }

    @Test func `The status says how much is stored, and that it is on disk`() throws {
        _ = try manager.set("Key", "<'kept'>")
        // After the reply, everything is on disk.
        #expect(manager.tool("sync").status == 0)
        let status = /1 key in 1 domain, generation 2, all on disk; last flush at \S+Z\./
        try wait {
            manager.unit("show", "--property=StatusText", "--value").contains(status)
        }
    }

    @Test func `After SIGKILL the next call has everything that was acknowledged`() throws {
        for number in 1...10 { _ = try manager.set("Key\(number)", "<\(number)>") }
        let killed = manager.unit("show", "--property=MainPID", "--value")
        kill(try #require(pid_t(killed)), SIGKILL)
        for number in 1...10 {
            #expect(
                try manager.get("Key\(number)") == "(<int64 \(number)>, uint64 \(number + 1))\n")
        }
        #expect(manager.unit("show", "--property=MainPID", "--value") != killed)
    }

    @Test func `A service that was killed seven times in a row serves the next call`() throws {
        for number in 1...7 {
            _ = try manager.set("Key", "<\(number)>")
            let daemon = manager.unit("show", "--property=MainPID", "--value")
            kill(try #require(pid_t(daemon)), SIGKILL)
        }
        #expect(try manager.get("Key").hasPrefix("(<int64 7>, "))
        #expect(manager.unit("is-active") == "active")
    }

    @Test
    func `The service's own confinement lets it see that a caller has none, and share the page`()
        throws
    {
        _ = try manager.set("Key", "<1>")
        let answer = try manager.attach()
        #expect(answer.hasPrefix("(handle 0, [('org.example.App', "))
        #expect(answer.hasSuffix("@as [], @as [])], uint64 2)\n"))
    }

    @Test func `A mapped page goes on over a daemon that is killed, and nobody can cut it`() throws
    {
        let output = manager.python(
            """
            import errno, fcntl, mmap, os, signal, struct, subprocess
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
            def call(method, signature, *arguments):
                return bus.call_sync(name, path, name, method, GLib.Variant(signature, arguments), None,
                                     0, -1, None).unpack()
            def attach():
                answer, files = bus.call_with_unix_fd_list_sync(
                    name, path, name, "Attach", GLib.Variant("(as)", (["org.example.App"],)), None, 0,
                    -1, None, None)
                index, entries, generation = answer.unpack()
                file = files.steal_fds()[index]
                return file, mmap.mmap(file, 32768, mmap.MAP_SHARED, mmap.PROT_READ), entries[0][1]
            def word(words, number): return struct.unpack_from("=Q", words, 8 * number)[0]
            def set_value(number):
                while True:
                    try:
                        return call("SetValue", "(ssv)", "org.example.App", "Key",
                                    GLib.Variant("i", number))[0]
                    # It was killed a moment ago, and the bus has not seen it yet.
                    except GLib.Error as error: assert "NoReply" in error.message, error
            def daemon():
                return int(subprocess.check_output(
                    ["systemctl", "--user", "show", "--property=MainPID", "--value",
                     "defaultsd.service"]))
            set_value(0)
            file, words, slot = attach()
            for attempt in range(3):
                killed = daemon()
                os.kill(killed, signal.SIGKILL)
                generation = set_value(attempt + 1)
                assert word(words, slot) == generation and daemon() != killed
            assert os.fstat(attach()[0]).st_ino == os.fstat(file).st_ino
            # F_GET_SEALS: it can neither shrink nor grow.
            assert fcntl.fcntl(file, 1034) & 6 == 6
            try:
                os.truncate(f"/proc/self/fd/{file}", 0)
                print("was cut")
            except OSError as error: assert error.errno in (errno.EPERM, errno.EACCES), error
            runtime = os.environ["XDG_RUNTIME_DIR"]
            assert "counters" not in sum((names for _, _, names in os.walk(runtime)), [])
            # An end in order leaves nobody who would go on with it.
            subprocess.check_call(["systemctl", "--user", "stop", "defaultsd.service"])
            assert word(words, slot) == 2**64 - 1
            generation = set_value(100)
            file, words, slot = attach()
            assert word(words, slot) == generation
            print("done")
            """)
        #expect(output.output == "done\n", "\(output)")
    }

    @Test func `A first connection to the socket starts the service, and a restart keeps it`()
        throws
    {
        #expect(manager.unit("is-active") == "inactive")
        let output = manager.python(
            """
            import os, subprocess
            from gi.repository import Gio, GLib
            name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
            def connect():
                return Gio.DBusConnection.new_for_address_sync(
                    "unix:path=" + os.environ["XDG_RUNTIME_DIR"] + "/defaultsd/direct",
                    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
            def call(connection, method, signature, *arguments):
                return connection.call_sync(
                    None, path, name, method, GLib.Variant(signature, arguments), None, 0, -1, None).unpack()
            first = connect()
            first.set_exit_on_close(False)
            assert call(first, "SetValue", "(ssv)", "a.b", "key", GLib.Variant("i", 5)) == (2,)
            for _ in range(3):
                subprocess.check_call(["systemctl", "--user", "restart", "defaultsd.service"])
                assert call(connect(), "GetValue", "(ss)", "a.b", "key") == (5, 2)
            subprocess.check_call(["systemctl", "--user", "stop", "defaultsd.service"])
            assert call(connect(), "GetValue", "(ss)", "a.b", "key") == (5, 2)
            print("done")
            """)
        #expect(output.output == "done\n", "\(output)")
        #expect(manager.unit("is-active") == "active")
    }

    @Test func `The unit lets the daemon confine itself to its own directories`() throws {
        _ = try manager.set("Key", "<1>")
        #expect(manager.tool("sync").status == 0)
        let store = manager.path + "/config/defaultsd/defaults.db"
        let outside = manager.path + "/outside"
        try FileManager.default.createDirectory(
            atPath: outside, withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: store, toPath: store + ".moved")
        #expect(symlink(outside + "/file", store) == 0)
        _ = try manager.set("Key", "<2>")
        #expect(manager.tool("sync").status != 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
        #expect(unlink(store) == 0)
        #expect(manager.tool("sync").status == 0)
    }

    @Test func `Its directories are made again as often as somebody removes them`() throws {
        _ = try manager.set("Key", "<0>")
        let daemon = manager.unit("show", "--property=MainPID", "--value")
        for number in 1...3 {
            for directory in ["/config/defaultsd", "/runtime/defaultsd"] {
                try FileManager.default.removeItem(atPath: manager.path + directory)
            }
            _ = try manager.set("Key", "<\(number)>")
            #expect(manager.tool("sync").status == 0)
        }
        #expect(manager.unit("show", "--property=MainPID", "--value") == daemon)
        kill(try #require(pid_t(daemon)), SIGKILL)
        #expect(try manager.get("Key").hasPrefix("(<int64 3>, "))
    }

    @Test func `A reload leaves it running`() throws {
        _ = try manager.set("Key", "<1>")
        let daemon = manager.unit("show", "--property=MainPID", "--value")
        #expect(manager.unit("reload") == "")
        #expect(try manager.get("Key") == "(<int64 1>, uint64 2)\n")
        #expect(manager.unit("show", "--property=MainPID", "--value") == daemon)
    }
}

/// A service manager of the test's own, with the programs installed where it looks.
final class UserManager {
    private let directory: TemporaryDirectory
    let environment: [String: String]
    private let process: ChildProcess
    /// What runs a program as the user whose manager this is.
    private let asUser: [String]

    /// Whether all tests of the unit are to confine it further.
    static let isHardened =
        ProcessInfo.processInfo.environment["DEFAULTSD_TESTS_HARDENED"] != nil

    /// Whether a manager may make namespaces here.
    static var canHarden: Bool {
        canRun && ProgramResult.run(["unshare", "--user", "--mount", "true"]).status == 0
    }

    static var canRun: Bool {
        FileManager.default.fileExists(atPath: "/run/systemd/system")
            && FileManager.default.isExecutableFile(atPath: "/lib/systemd/systemd")
            && mayMakeGroups
    }

    /// Whether this user may make control groups, as a manager has to: root may, and who has logged in by
    /// systemd.
    private static var mayMakeGroups: Bool {
        guard geteuid() != 0 else { return true }
        let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        return lines.split(separator: "\n").contains { line in
            // NUMBER:CONTROLLERS:PATH, where systemd's own hierarchy has no controllers.
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, ["", "name=systemd"].contains(parts[1]) else { return false }
            return ["", "/unified", "/systemd"].contains {
                access("/sys/fs/cgroup\($0)\(parts[2])", W_OK) == 0
            }
        }
    }

    /// - Parameter isHardened: Whether the unit is confined further, by namespaces. They have temporary
    ///   files of their own, so the test has its files elsewhere.
    /// - Parameter user: Whose manager it is, if that is another user than that of the tests, root.
    init(isHardened: Bool = UserManager.isHardened, of user: uid_t? = nil) throws {
        let parent = user == nil ? NSHomeDirectory() : "/run"
        directory = try TemporaryDirectory(in: isHardened ? parent : nil)
        asUser =
            user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
        let path = directory.path
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = path
        environment["XDG_CONFIG_HOME"] = path + "/config"
        environment["XDG_DATA_HOME"] = path + "/.local/share"
        environment["XDG_RUNTIME_DIR"] = path + "/runtime"
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(path)/runtime/bus"
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(path)/no-system-bus"
        self.environment = environment
        try FileManager.default.createDirectory(
            atPath: path + "/runtime", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        _ = try ProgramResult.run(
            [
                "make", "-C", Desktop.packageDirectory, "install", "PREFIX=\(path)/.local",
                "HOME=\(path)", "HARDENED=\(isHardened ? "yes" : "")",
            ],
            environment: environment
        ).requireOutput()
        if let user {
            _ = try ProgramResult.run(["chown", "--recursive", "\(user)", path]).requireOutput()
        }
        process = try Self.start(environment, of: user, log: path + "/manager.log")
    }

    /// Starts a manager, again if the machine has no inotify instance or control group left for it at the
    /// moment: other tests use them, too, and the next start waits until there is an instance.
    private static func start(
        _ environment: [String: String], of user: uid_t?, log: String
    ) throws -> ChildProcess {
        var endings: [String] = []
        while true {
            let process = try ChildProcess(
                [Desktop.packageDirectory + "Tests/Torture/user-manager"]
                    + (user.map { ["\($0)"] } ?? []), environment: environment,
                error: .file(log))
            var isUp = false
            try wait {
                let asUser = user.map { ["setpriv", "--reuid=\($0)", "--clear-groups"] } ?? []
                let socket = asUser + ["systemctl", "--user", "is-active", "dbus.socket"]
                isUp = ProgramResult.run(socket, environment: environment).output == "active\n"
                return isUp || !process.isRunning
            }
            if isUp { return process }
            endings.append((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
            try #require(endings.count < 10, "The manager does not start: \(endings)")
            try wait { hasInotifyInstance(for: user) }
        }
    }

    /// Whether the system lets a user watch files once more.
    private static func hasInotifyInstance(for user: uid_t?) -> Bool {
        let asUser = user.map { ["setpriv", "--reuid=\($0)", "--clear-groups"] } ?? []
        let program = "import ctypes; exit(ctypes.CDLL(None).inotify_init() < 0)"
        return ProgramResult.run(asUser + ["/usr/bin/python3", "-c", program]).status == 0
    }

    deinit {
        // It stops its services, the bus among them, before it ends.
        run("systemctl", "--user", "exit")
        process.waitUntilExit()
    }
}

extension UserManager {
    /// The directory with everything of this desktop.
    var path: String { directory.path }

    @discardableResult
    func run(_ command: String...) -> ProgramResult {
        ProgramResult.run(asUser + command, environment: environment)
    }

    /// Runs a verb of systemctl on the service, and gives what it says.
    func unit(_ verb: String, _ options: String...) -> String {
        let result = ProgramResult.run(
            asUser + ["systemctl", "--user", verb, "defaultsd.service"] + options,
            environment: environment)
        return (result.output + result.error).trimmingCharacters(in: .newlines)
    }

    private func call(_ method: String, _ arguments: String...) throws -> String {
        try ProgramResult.run(
            asUser + [
                "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1",
                "--object-path", "/org/defaultsd/Defaults1", "--method", method, "--",
            ] + arguments, environment: environment
        ).requireOutput()
    }

    func set(_ key: String, _ value: String) throws -> String {
        try call("org.defaultsd.Defaults1.SetValue", "org.example.App", key, value)
    }

    func get(_ key: String) throws -> String {
        try call("org.defaultsd.Defaults1.GetValue", "org.example.App", key)
    }

    func attach() throws -> String {
        try call("org.defaultsd.Defaults1.Attach", "['org.example.App']")
    }

    /// Runs the installed tool.
    func tool(_ words: [String]) -> ProgramResult {
        ProgramResult.run(
            asUser + [directory.path + "/.local/bin/defaultsctl"] + words,
            environment: environment)
    }

    func tool(_ words: String...) -> ProgramResult { tool(words) }

    func python(_ program: String) -> ProgramResult { run("/usr/bin/python3", "-c", program) }

    /// Runs one of the example programs.
    func example(_ name: String) -> ProgramResult { run(Desktop.builtProgram(name)) }

    /// Runs a program of the client library.
    func client(_ words: String...) -> ProgramResult {
        ProgramResult.run(
            HangGuard.command + [ClientProcess.program] + words, environment: environment)
    }

    /// A call that the bus starts the service for, and that waits.
    func startCall() throws -> ChildProcess {
        try ChildProcess(
            [
                "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1",
                "--object-path", "/org/defaultsd/Defaults1", "--method",
                "org.defaultsd.Defaults1.ListDomains", "--timeout", "3600",
            ], environment: environment)
    }

    /// Gives the database another version of the schema.
    ///
    /// - Returns: The version that it had.
    @discardableResult
    func setSchemaVersion(_ version: Int) throws -> Int {
        let program = """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            print(store.execute("PRAGMA user_version").fetchone()[0])
            store.execute("PRAGMA user_version = " + sys.argv[2])
            """
        let old = try ProgramResult.run(
            [
                "/usr/bin/python3", "-c", program,
                directory.path + "/config/defaultsd/defaults.db", "\(version)",
            ], environment: environment
        ).requireOutput()
        return try #require(Int(old.trimmingCharacters(in: .newlines)))
    }

    func removeDaemon() throws {
        try FileManager.default.removeItem(atPath: directory.path + "/.local/bin/defaultsd")
    }

    func removeJournal() throws {
        try FileManager.default.removeItem(atPath: directory.path + "/runtime/defaultsd")
    }
}
