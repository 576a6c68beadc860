import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Programs in a session without a service: over ssh, in a container, from cron.
@Suite(.startsPrograms, .serialized) struct ReachingTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    // MARK: Without a bus

    /// A program of the client library that finds the shipped daemon, or none.
    private func client(
        _ words: String..., daemon: Bool = true, environment: [String: String]? = nil
    ) throws -> ProgramResult {
        desktop.run(
            HangGuard.command + [try installedClient(daemon: daemon)] + words,
            environment: environment ?? desktop.environmentWithoutBus)
    }

    private func installedClient(daemon: Bool) throws -> String {
        try desktop.installed(ClientProcess.program, daemon: daemon)
    }

    @Test func `An app without a bus keeps the values that it sets`() throws {
        let left = try client("leave", Self.app, "Key", "5")
        #expect(left.status == 0 && left.error == "", "\(left)")
        #expect(desktop.toolAlone("read", Self.app, "Key").output == "5\n")
    }

    @Test func `Apps without a bus wait for one another, and none loses its values`() throws {
        let script = """
            for number in 1 2 3 4 5 6; do "$0" leave a.b "key$number" $number & done
            wait
            """
        let left = desktop.run(
            ["sh", "-c", script, try installedClient(daemon: true)],
            environment: desktop.environmentWithoutBus)
        #expect(left.error == "", "\(left)")
        let stored = desktop.toolAlone("read", "a.b", "--json").output
        #expect(stored == #"{"key1":1,"key2":2,"key3":3,"key4":4,"key5":5,"key6":6}"# + "\n")
    }

    @Test
    func `An app without a bus says so in its state, and lets others use the database`() throws {
        _ = try installedClient(daemon: true)
        let talking = try ClientProcess(
            ["talk", Self.app], in: desktop,
            by: ["env", "PATH=\(desktop.directory.path)/bin:/usr/bin:/bin"],
            environment: desktop.environmentWithoutBus)
        try talking.ask("set Key 1")
        try talking.ask("flush")
        #expect(try talking.ask("state") == "privateDaemon")
        #expect(desktop.toolAlone("write", Self.app, "Key", "-int", "2").status == 0)
        // The page tells it that there is something new.
        #expect(try talking.ask("get Key") == "2")
        try talking.ask("set Key 3")
        try talking.ask("flush")
        #expect(desktop.toolAlone("read", Self.app, "Key").output == "3\n")
        #expect(try talking.end() == 0)
    }

    @Test(.enabled(if: !Desktop.hasInstalledDaemon, "this machine has defaultsd installed"))
    func `An app that reaches no service reports at its end what is lost`() throws {
        var environment = desktop.environmentWithoutBus
        environment["PATH"] = "/usr/bin:/bin"
        let left = try client(
            "leave", Self.app, "Key", "5", daemon: false, environment: environment)
        #expect(left.status == 0)
        #expect(left.error.split(separator: "\n").count == 1, "\(left.error)")
        #expect(left.error.contains("The change of a key of org.example.App may be lost: "))
        #expect(left.error.contains("no program defaultsd is installed"))
    }

    @Test
    func `A session without a bus is reported as such, and not as one without a display`() throws {
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = nil
        environment["DISPLAY"] = nil
        let answer = desktop.run(
            [Desktop.programs + "/defaultsctl", "domains"], environment: environment)
        #expect(answer.status == 0)
        #expect(answer.error.contains("(this session has no bus)"), "\(answer.error)")
    }

    // MARK: Beside another session

    /// The environment of a second session, whose bus could start a second daemon.
    private func secondSession() throws -> (bus: PrivateBus, environment: [String: String]) {
        let bus = try PrivateBus(
            serviceDirectory: desktop.directory.path + "/services", environment: desktop.environment
        )
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        return (bus, environment)
    }

    @Test func `A user's second session reads and writes by the service of the first`() throws {
        try desktop.setNumber(1, forKey: "Key", in: Self.app)
        let daemon = try desktop.daemonPID()
        let (bus, environment) = try secondSession()
        defer { bus.stop() }
        let tool = Desktop.programs + "/defaultsctl"
        let read = desktop.run([tool, "read", Self.app, "Key"], environment: environment)
        #expect(read.status == 0 && read.output == "1\n" && read.error == "", "\(read)")
        let left = try client("leave", Self.app, "Key", "2", environment: environment)
        #expect(left.status == 0 && left.error == "", "\(left)")
        #expect(try desktop.number(forKey: "Key", in: Self.app) == 2)
        #expect(try desktop.daemonPID() == daemon)
    }

    @Test func `A job without a bus uses the service of the session`() throws {
        try desktop.setNumber(1, forKey: "Key", in: Self.app)
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = nil
        environment["XDG_RUNTIME_DIR"] = nil
        let tool = Desktop.programs + "/defaultsctl"
        let written = desktop.run(
            [tool, "write", Self.app, "Key", "-int", "2"], environment: environment)
        #expect(written.status == 0 && written.error == "", "\(written)")
        #expect(try desktop.number(forKey: "Key", in: Self.app) == 2)
    }

    @Test func `An address in a foreign environment runs no program`() throws {
        desktop.toolAlone("domains")
        let proof = desktop.directory.path + "/executed"
        let daemon = desktop.directory.path + "/defaultsd"
        try Program.copy("/usr/bin/sleep", to: daemon)
        let holder = try ChildProcess(
            [daemon, "60"],
            environment: [
                "DBUS_SESSION_BUS_ADDRESS": "unixexec:path=/usr/bin/touch,argv1=\(proof)"
            ])
        defer {
            holder.send(SIGTERM)
            holder.waitUntilExit()
        }
        let names = "/proc/\(holder.processIdentifier)/comm"
        try wait { try String(contentsOfFile: names, encoding: .utf8) == "defaultsd\n" }
        var machine = utsname()
        uname(&machine)
        let host = withUnsafeBytes(of: &machine.nodename) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        try "\(host) \(holder.processIdentifier)\n".write(
            toFile: desktop.directory.path + "/config/defaultsd/lock", atomically: false,
            encoding: .utf8)
        let answer = desktop.toolAlone("domains")
        #expect(answer.status == 0, "\(answer)")
        #expect(!FileManager.default.fileExists(atPath: proof))
    }

    @Test func `An app whose private daemon cannot serve says why`() throws {
        desktop.toolAlone("write", Self.app, "Key", "-int", "1")
        _ = try desktop.python(
            """
            import sqlite3, sys
            sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 99")
            """, desktop.databasePath
        ).requireOutput()
        let left = try client("leave", Self.app, "Key", "5")
        #expect(left.status == 0)
        #expect(left.error.split(separator: "\n").count == 1, "\(left.error)")
        #expect(left.error.contains("may be lost: \(desktop.databasePath) has version 99"))
    }

    @Test func `The service of another database is not used in place of the own one`() throws {
        let other = try Desktop()
        try other.setNumber(1, forKey: "Key", in: Self.app)
        var environment = desktop.environmentWithoutBus
        // Where a runtime directory would have the bus of the user.
        environment["XDG_RUNTIME_DIR"] = desktop.directory.path + "/runtime"
        let path = try #require(other.bus.address.firstMatch(of: /unix:path=([^,]+)/)?.1)
        #expect(link(String(path), desktop.directory.path + "/runtime/bus") == 0)
        let tool = Desktop.programs + "/defaultsctl"
        let read = desktop.run([tool, "read", Self.app, "Key"], environment: environment)
        #expect(read.status == 1 && read.error.contains("defaultsd runs for this command only"))
        #expect(try other.number(forKey: "Key", in: Self.app) == 1)
    }
}
