import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// `defaultsctl` without a service: it runs a private daemon.
@Suite(.startsPrograms, .serialized) struct OwnDaemonTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// The one line that says what is done.
    private static func isNotice(_ line: Substring) -> Bool {
        line.hasPrefix("defaultsctl: No service can be reached (")
            && line.hasSuffix("). defaultsd runs for this command only.")
    }

    @Test func `It has the same results, and says once on standard error what it does`() {
        let written = desktop.toolAlone("write", "org.example.App", "Key", "-int", "42")
        #expect(written.status == 0 && written.output == "", "\(written)")
        let read = desktop.toolAlone("read", "org.example.App", "Key")
        #expect(read.status == 0 && read.output == "42\n")
        #expect(read.error.split(separator: "\n").map(Self.isNotice) == [true])
        #expect(desktop.toolAlone("domains").output == "org.example.App\n")
        #expect(desktop.toolAlone("sync").status == 0)
        #expect(desktop.toolAlone("status").output.contains(desktop.databasePath))
        #expect(desktop.toolAlone("inspect", "org.example.App", "Key").status == 0)
        #expect(desktop.toolAlone("backup", "now").output.contains("manual"))
        #expect(desktop.toolAlone("delete", "org.example.App", "Key").status == 0)
        let missing = desktop.toolAlone("read", "org.example.App", "Key")
        #expect(missing.status == 1 && missing.output == "")
        #expect(missing.error.split(separator: "\n").count == 2, "\(missing.error)")
        #expect(missing.error.contains("Key"))
    }

    @Test func `When it ends, its changes are on disk, and its daemon is gone`() throws {
        #expect(desktop.toolAlone("write", "org.example.App", "Key", "-int", "1").status == 0)
        let folder = desktop.directory.path + "/config/defaultsd"
        #expect(desktop.run("flock", "--nonblock", folder + "/lock", "true").status == 0)
        let keys = try desktop.python(
            """
            import sqlite3, sys
            store = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
            print(*store.execute("SELECT key FROM entries WHERE archive IS NOT NULL"))
            """, desktop.databasePath
        ).requireOutput()
        #expect(keys == "('Key',)\n")
        // And the service, once there is one, goes on with it.
        #expect(desktop.call("GetValue", "org.example.App", "Key").output.contains("(<int64 1>, "))
    }

    @Test func `Several at once wait for one another`() throws {
        let script = """
            for number in 1 2 3 4 5 6; do "$0" write a.b "key$number" -int $number & done
            wait
            """
        let written = desktop.run(
            ["sh", "-c", script, Desktop.programs + "/defaultsctl"],
            environment: desktop.environmentWithoutBus)
        #expect(written.error.split(separator: "\n").allSatisfy(Self.isNotice))
        let stored = desktop.toolAlone("read", "a.b", "--json").output
        #expect(stored == #"{"key1":1,"key2":2,"key3":3,"key4":4,"key5":5,"key6":6}"# + "\n")
    }

    @Test func `A bus without the service is treated as no bus`() throws {
        let bus = try PrivateBus()
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let tool = Desktop.programs + "/defaultsctl"
        let written = desktop.run(
            [tool, "write", "org.example.App", "Key", "-int", "1"], environment: environment)
        #expect(written.status == 0)
        #expect(written.error.split(separator: "\n").map(Self.isNotice) == [true])
        #expect(
            written.error.contains("no process on the session bus owns org.defaultsd.Defaults1"))
    }

    @Test func `A service that does not start is reported, and not replaced`() throws {
        let services = desktop.directory.path + "/broken"
        try FileManager.default.createDirectory(
            atPath: services, withIntermediateDirectories: false)
        try "[D-BUS Service]\nName=org.defaultsd.Defaults1\nExec=/bin/false\n".write(
            toFile: services + "/org.defaultsd.Defaults1.service", atomically: true,
            encoding: .utf8)
        let bus = try PrivateBus(serviceDirectory: services, environment: desktop.environment)
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let answer = desktop.run(
            [Desktop.programs + "/defaultsctl", "domains"], environment: environment)
        #expect(answer.status == 69 && answer.error.split(separator: "\n").count == 1)
        #expect(answer.error.contains("'defaultsctl doctor'"), "\(answer.error)")
        #expect(!FileManager.default.fileExists(atPath: desktop.databasePath))
    }

    @Test func `A database that another daemon has is refused, with its process`() throws {
        desktop.toolAlone("domains")
        // It has no bus, so that nobody reaches it.
        let holder = try ChildProcess(
            [
                "/usr/bin/python3", "-c",
                """
                import fcntl, os, signal, sys
                lock = open(sys.argv[1], "w")
                fcntl.flock(lock, fcntl.LOCK_EX)
                print(os.uname().nodename, os.getpid(), file=lock, flush=True)
                print(os.getpid(), flush=True)
                signal.pause()
                """, desktop.directory.path + "/config/defaultsd/lock",
            ], environment: ["PATH": "/usr/bin:/bin"], output: .lines)
        let process = try #require(holder.lines?.next())
        let answer = desktop.toolAlone("domains")
        #expect(answer.status == 69 && answer.output == "")
        let lines = answer.error.split(separator: "\n")
        #expect(lines.count == 2, "\(answer.error)")
        #expect(lines.last?.contains("in use by process \(process) on host ") == true)
        #expect(!answer.error.contains("Stop"))
        holder.send(SIGTERM)
        holder.waitUntilExit()
    }

    @Test
    func `The daemon beside it is used, or the one in PATH; without one there is an error`()
        throws
    {
        let bin = desktop.directory.path + "/bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
        try Program.copy(Desktop.programs + "/defaultsctl", to: bin + "/defaultsctl")
        var environment = desktop.environmentWithoutBus
        environment["PATH"] = "/usr/bin:/bin"
        let none = desktop.run([bin + "/defaultsctl", "domains"], environment: environment)
        #expect(none.status == 69 && none.error.split(separator: "\n").count == 1)
        #expect(none.error.contains("there is no program defaultsd beside this one or in PATH"))
        environment["PATH"] = "/usr/bin:/bin:" + Desktop.programs
        let found = desktop.run([bin + "/defaultsctl", "domains"], environment: environment)
        #expect(found.status == 0)
    }

    /// A program in the place of the daemon takes its time to end, and says when it has.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `A signal ends the daemon before the tool`(signal: Int32) throws {
        let bin = desktop.directory.path + "/bin"
        let tool = try toolBeside(
            daemon: """
                #!/usr/bin/python3
                import os, signal
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
                open("\(bin)/begun", "w").close()
                signal.sigwait([signal.SIGTERM])
                for _ in range(1000): os.stat("\(bin)")
                open("\(bin)/ended", "w").close()
                os._exit(0)
                """)
        let child = try ChildProcess(
            [tool, "domains"], environment: desktop.environmentWithoutBus)
        try wait { FileManager.default.fileExists(atPath: bin + "/begun") }
        child.send(signal)
        #expect(child.waitUntilExit() == signal + 128)
        #expect(FileManager.default.fileExists(atPath: bin + "/ended"))
    }

    @Test
    func `A daemon that cannot write, or not even start, is reported with its message`() throws {
        let complaint = "echo '<6>Serving.' >&2; echo '<3>The disk is full.' >&2; exit 74"
        let full = try toolBeside(
            daemon: "#!/bin/sh\n\(Desktop.programs)/defaultsd \"$@\"; \(complaint)\n")
        let environment = desktop.environmentWithoutBus
        let written = desktop.run(
            [full, "write", "a.b", "key", "-int", "1"], environment: environment)
        #expect(written.status == 74)
        #expect(written.error.hasSuffix("\ndefaultsctl: The disk is full.\n"), "\(written)")
        let missing = desktop.run([full, "read", "a.b", "absent"], environment: environment)
        #expect(missing.status == 1 && missing.error.contains("absent"), "\(missing)")
        let broken = try toolBeside(daemon: "#!/bin/sh\n\(complaint)\n")
        let refused = desktop.run([broken, "domains"], environment: environment)
        #expect(refused.status == 69)
        #expect(refused.error.hasSuffix("\ndefaultsctl: The disk is full.\n"), "\(refused)")
    }

    @Test func `Killed, it leaves a daemon that writes everything and ends by itself`() throws {
        #expect(desktop.toolAlone("write", "org.example.App", "Key", "-int", "1").status == 0)
        let child = try ChildProcess(
            [
                "sh", "-c", "\"$0\" read org.example.App Key & kill -9 $!",
                "\(Desktop.programs)/defaultsctl",
            ],
            environment: desktop.environmentWithoutBus)
        child.waitUntilExit()
        #expect(
            desktop.run("flock", desktop.directory.path + "/config/defaultsd/lock", "true").status
                == 0)
        #expect(desktop.toolAlone("read", "org.example.App", "Key").output == "1\n")
    }

    @Test func `Damage that its daemon has repaired is reported`() throws {
        desktop.toolAlone("write", "a.b", "key", "-int", "1")
        let file = try FileHandle(forUpdating: URL(filePath: desktop.databasePath))
        try file.write(contentsOf: Data("no database at all".utf8))
        try file.close()
        let mended = desktop.toolAlone("read", "a.b", "key")
        #expect(mended.status == 0 && mended.output == "1\n", "\(mended)")
        #expect(
            mended.error.contains("\ndefaultsctl: The file \(desktop.databasePath) was damaged"))
        #expect(desktop.toolAlone("sync").error.split(separator: "\n").map(Self.isNotice) == [true])
        try FileManager.default.removeItem(atPath: desktop.databasePath)
        #expect(desktop.toolAlone("read", "a.b").error.contains("was missing or empty"))
    }

    @Test(arguments: [["apply", "-f", "/nonexistent"], ["import", "a.b", "/nonexistent"]])
    func `A file that cannot be read starts no daemon`(words: [String]) {
        let answer = desktop.run(
            [Desktop.programs + "/defaultsctl"] + words,
            environment: desktop.environmentWithoutBus)
        #expect(answer.status == 1 && answer.error.split(separator: "\n").count == 1, "\(answer)")
        #expect(answer.error.contains("No such file"))
        #expect(!FileManager.default.fileExists(atPath: desktop.databasePath))
    }

    /// - Returns: A copy of the tool, beside a program that it takes for the daemon.
    private func toolBeside(daemon script: String) throws -> String {
        let bin = desktop.directory.path + "/bin"
        if !FileManager.default.fileExists(atPath: bin) {
            try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
            try Program.copy(Desktop.programs + "/defaultsctl", to: bin + "/defaultsctl")
        }
        try Program.make(script, at: bin + "/defaultsd")
        return bin + "/defaultsctl"
    }
}
