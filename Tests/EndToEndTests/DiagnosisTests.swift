import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// `defaultsctl stats` and `defaultsctl doctor`.
@Suite(.startsPrograms, .serialized) struct DiagnosisTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func object(_ result: ProgramResult) throws -> [String: Any] {
        #expect(result.error == "")
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return try #require(object as? [String: Any])
    }
}

// MARK: stats

extension DiagnosisTests {
    @Test
    func `stats lists the largest domains and values, and the callers that write most`() throws {
        desktop.tool("write", "small.one", "key", "-int", "1")
        let text = String(repeating: "x", count: 5000)
        desktop.tool("write", "large.one", "long\nkey", "-string", text)
        desktop.tool("write", "large.one@host", "key", "-int", "2")
        for number in 1...5 { desktop.call("SetValue", "small.one", "key", "<\(number)>") }
        let stats = try object(desktop.tool("stats", "--json"))
        #expect(stats["keys"] as? Int == 3 && stats["domainCount"] as? Int == 3)
        let domains = try #require(stats["domains"] as? [[String: Any]])
        #expect(domains.first?["domain"] as? String == "large.one")
        #expect(domains.compactMap { $0["keys"] as? Int } == [1, 1, 1])
        let values = try #require(stats["values"] as? [[String: Any]])
        #expect(values.first?["key"] as? String == "long\nkey")
        #expect(try #require(values.first?["bytes"] as? Int) > 5000)
        let writers = try #require(stats["writers"] as? [[String: Any]])
        #expect(writers.map { $0["changes"] as? Int } == [4, 3])
        #expect((writers.first?["executable"] as? String)?.hasSuffix("/gdbus") == true)
        #expect(stats["changes"] as? Int == 7)
        #expect(try #require(stats["calls"] as? Int) >= 8)
        let limited = try object(desktop.tool("stats", "--json", "--limit", "1"))
        #expect((limited["values"] as? [Any])?.count == 1 && limited["keys"] as? Int == 3)
        let lines = try desktop.tool("stats").requireOutput()
        #expect(lines.contains(/\n5\.0 KiB  1 key  large\.one\n/), "\(lines)")
        #expect(lines.contains("large.one       long\\u{a}key\n"), "\(lines)")
        #expect(desktop.tool("stats", "--limit", "0").status == 64)
    }

    @Test func `stats without values is empty, with and without a bus`() throws {
        #expect(try desktop.tool("stats").requireOutput().contains(/keys +0\n/))
        try desktop.stopDaemon()
        #expect(try desktop.toolAlone("stats").requireOutput().contains(/keys +0\n/))
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A sandbox does not learn who writes, and what is large`() throws {
        for (method, argument) in [("FindWriter", "2"), ("MeasureDomain", "a.b")] {
            let arguments = method == "FindWriter" ? [argument] : [argument, "1"]
            let denied = try desktop.callFromSandbox(
                "org.defaultsd.Maintenance1.\(method)", arguments)
            #expect(denied.errorName == "org.freedesktop.DBus.Error.AccessDenied")
        }
        let denied = try desktop.callFromSandbox("org.defaultsd.Maintenance1.ListWriters")
        #expect(denied.errorName == "org.freedesktop.DBus.Error.AccessDenied")
    }

    @Test func `The writer of a change before the last 1024 is unknown`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            generations = [service.SetValue("(ssv)", "a.b", "key", GLib.Variant("i", number))
                           for number in range(1100)]
            tool = Gio.DBusProxy.new_sync(bus, Gio.DBusProxyFlags.NONE, None,
                "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", "org.defaultsd.Maintenance1")
            known = [tool.FindWriter("(t)", number) for number in generations]
            import os
            assert known[:76] == [("", 0)] * 76, known[:80]
            assert {process for _, process in known[76:]} == {os.getpid()}
            assert tool.ListWriters() == [(known[-1][0], 1100)]
            print(known[-1][0])
            """
        ).requireOutput()
        #expect(output.contains("python3"))
    }
}

// MARK: doctor

extension DiagnosisTests {
    /// The state of each check.
    private func states(_ result: ProgramResult) throws -> [String: String] {
        let report = try object(result)
        let checks = try #require(report["checks"] as? [[String: Any]])
        let problems = checks.count { $0["state"] as? String == "problem" }
        #expect(report["problems"] as? Int == problems)
        #expect(result.status == (problems > 0 ? 1 : 0))
        for check in checks {
            // Whatever is wrong, it says what to do.
            #expect((check["advice"] as? String == nil) == (check["state"] as? String == "ok"))
        }
        return Dictionary(
            checks.compactMap { check in
                (check["check"] as? String).flatMap { name in
                    (check["state"] as? String).map { (name, $0) }
                }
            }, uniquingKeysWith: { $1 })
    }

    private func doctor(_ changes: [String: String?] = [:]) throws -> [String: String] {
        var environment = desktop.environment
        let data = desktop.directory.path + "/data/dbus-1"
        if !FileManager.default.fileExists(atPath: data) {
            try FileManager.default.createDirectory(
                atPath: data, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: data + "/services", withIntermediateDirectories: false)
            try write(activationFile: "Exec=\(Desktop.programs)/defaultsd")
        }
        environment["XDG_DATA_HOME"] = desktop.directory.path + "/data"
        environment.merge(changes.compactMapValues(\.self)) { $1 }
        for (name, value) in changes where value == nil { environment[name] = nil }
        return try states(
            desktop.run(
                [Desktop.programs + "/defaultsctl", "doctor", "--json"], environment: environment))
    }

    private func write(activationFile lines: String) throws {
        try "[D-BUS Service]\nName=org.defaultsd.Defaults1\n\(lines)\n".write(
            toFile: desktop.directory.path
                + "/data/dbus-1/services/org.defaultsd.Defaults1.service",
            atomically: true, encoding: .utf8)
    }

    @Test func `A desktop without problems passes, before and after the first change`() throws {
        for _ in 1...2 {
            let states = try doctor()
            #expect(Set(states.values) == ["ok"], "\(states)")
            #expect(states.keys.contains("lock") && states.keys.contains("service"))
            desktop.tool("write", "a.b", "key", "-int", "1")
        }
        let text = desktop.tool("doctor")
        #expect(text.output.contains(/\nok +service +version \d+\.\d+\.\d+, process \d+/))
        #expect(text.output.contains("\n         -> Install it"), "the tests' file is elsewhere")
    }

    @Test func `Without a bus doctor checks files, and opens no database`() throws {
        desktop.tool("write", "a.b", "key", "-int", "1")
        try desktop.stopDaemon()
        let missing = try doctor(["DBUS_SESSION_BUS_ADDRESS": nil])
        #expect(missing["bus"] == "warning" && missing["lock"] == "ok", "\(missing)")
        let wrong = try doctor(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"])
        #expect(wrong["bus"] == "problem" && wrong["database"] == "ok")
        _ = try desktop.daemonPID()
        let taken = try doctor(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"])
        // The service is found by the environment of its process.
        #expect(taken["lock"] == "ok" && taken["service"] == "ok", "\(taken)")
    }

    @Test func `A socket that has been taken away is found`() throws {
        #expect(try desktop.tool("doctor").requireOutput().contains("without the bus"))
        try FileManager.default.removeItem(
            atPath: desktop.directory.path + "/runtime/defaultsd/direct")
        let result = desktop.tool("doctor")
        #expect(result.output.contains("/defaultsd/direct, so programs use the bus."), "\(result)")
        let daemon = try desktop.start(Desktop.programs + "/defaultsd", "--replace")
        try wait { desktop.tool("doctor").output.contains("without the bus") }
        withExtendedLifetime(daemon) {}
    }

    @Test func `Wrong permissions are found`() throws {
        desktop.tool("write", "a.b", "key", "-int", "1")
        let folder = desktop.directory.path + "/config/defaultsd"
        chmod(folder + "/defaults.db", 0o644)
        #expect(try doctor()["database"] == "warning")
        chmod(folder + "/defaults.db", 0o600)
        chmod(desktop.directory.path + "/runtime", 0o755)
        #expect(try doctor()["runtime directory"] == "warning")
        #expect(try doctor(["XDG_RUNTIME_DIR": nil])["runtime directory"] == "warning")
        #expect(try doctor(["XDG_CONFIG_HOME": "config"])["environment"] == "warning")
    }

    @Test func `Places where no database can be are found`() throws {
        let files = FileManager.default
        let config = desktop.directory.path + "/config"
        let folder = config + "/defaultsd"
        func database(_ changes: [String: String] = [:]) throws -> String? {
            let noBus = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
            return try doctor(noBus.merging(changes) { $1 })["database"]
        }
        #expect(try database() == "ok")
        #expect(try database(["XDG_CONFIG_HOME": "/proc/nope"]) == "problem")
        #expect(try database(["XDG_CONFIG_HOME": "/dev/null"]) == "problem")
        try files.createSymbolicLink(atPath: folder, withDestinationPath: "/nonexistent/place")
        #expect(try database() == "problem")
        try files.removeItem(atPath: folder)
        try files.createDirectory(
            atPath: folder + "/defaults.db", withIntermediateDirectories: true)
        chmod(folder, 0o700)
        #expect(try database() == "problem")
        try files.removeItem(atPath: folder)
        desktop.toolAlone("write", "a.b", "key", "-int", "1")
        #expect(try database() == "ok")
        // Root may write whatever the mode says.
        chmod(folder + "/defaults.db", 0o400)
        #expect(try database() == (geteuid() == 0 ? "ok" : "problem"))
        let runtime = desktop.run(
            [Desktop.programs + "/defaultsctl", "doctor"],
            environment: desktop.environment.merging(["XDG_RUNTIME_DIR": "/dev/null"]) { $1 })
        #expect(runtime.output.contains("/dev/null is not a directory"))
        #expect(!runtime.output.contains("chmod 700"))
    }

    @Test func `Files that start another program, or none, are found`() throws {
        #expect(try doctor()["activation file"] == "ok")
        try write(activationFile: "Exec=/nonexistent/defaultsd")
        #expect(try doctor()["activation file"] == "problem")
        try write(activationFile: "Exec=/bin/true")
        #expect(try doctor()["activation file"] == "warning")
        try write(activationFile: "")
        #expect(try doctor()["activation file"] == "problem")
        try write(
            activationFile: "Exec=\(Desktop.programs)/defaultsd\nSystemdService=defaultsd.service")
        let units = desktop.directory.path + "/config/systemd/user"
        try FileManager.default.createDirectory(
            atPath: units, withIntermediateDirectories: true)
        try "[Service]\nExecStart=/bin/true --option\n".write(
            toFile: units + "/defaultsd.service", atomically: true, encoding: .utf8)
        #expect(try doctor()["unit file"] == "warning")
        try "[Service]\nExecStart=\(Desktop.programs)/defaultsd\n".write(
            toFile: units + "/defaultsd.service", atomically: true, encoding: .utf8)
        #expect(try doctor()["unit file"] == "ok")
    }

    @Test func `A service that refuses, is damaged or has another version is reported`() throws {
        desktop.tool("write", "a.b", "key", "-int", "1")
        // While it runs it is found from another bus, too.
        try desktop.stopDaemon()
        let services = desktop.directory.path + "/broken"
        try FileManager.default.createDirectory(
            atPath: services, withIntermediateDirectories: false)
        try "[D-BUS Service]\nName=org.defaultsd.Defaults1\nExec=/bin/false\n".write(
            toFile: services + "/org.defaultsd.Defaults1.service", atomically: true,
            encoding: .utf8)
        let bus = try PrivateBus(serviceDirectory: services, environment: desktop.environment)
        #expect(try doctor(["DBUS_SESSION_BUS_ADDRESS": bus.address])["service"] == "problem")
        try desktop.directory.write("", to: "config/defaultsd/defaults.db.aside-2026-01-01T000000Z")
        #expect(try doctor()["damage"] == "warning")
    }
}

// MARK: packages

extension DiagnosisTests {
    /// What doctor says of the packages if dpkg has these paragraphs.
    private func packages(_ paragraphs: String) throws -> (state: String, text: String) {
        let file = try desktop.directory.write(paragraphs, to: "status")
        var environment = desktop.environment
        environment["DPKG_ADMINDIR"] = String(file.dropLast("/status".count))
        let report = try object(
            desktop.run(
                [Desktop.programs + "/defaultsctl", "doctor", "--json"], environment: environment))
        let checks = try #require(report["checks"] as? [[String: Any]])
        let check = try #require(checks.first { $0["check"] as? String == "packages" })
        let texts = [check["message"], check["advice"]].compactMap { $0 as? String }
        return (try #require(check["state"] as? String), texts.joined(separator: " "))
    }

    private func paragraph(_ name: String, _ state: String, _ version: String = "0.1.0") -> String {
        "Package: \(name)\nStatus: install ok \(state)\nMaintainer: x\nVersion: \(version)\n\n"
    }

    @Test func `doctor names the packages and their versions`() throws {
        let other = paragraph("other", "half-installed")
        let both = try packages(
            other + paragraph("defaultsd", "installed")
                + paragraph("defaultsd-gsettings", "triggers-pending"))
        #expect(both == ("ok", "defaultsd 0.1.0, defaultsd-gsettings 0.1.0"))
        let one = try packages(
            paragraph("defaultsd", "installed") + paragraph("defaultsd-gsettings", "config-files"))
        #expect(one.state == "ok")
        #expect(one.text.hasPrefix("defaultsd 0.1.0; programs of GTK need defaultsd-gsettings"))
        #expect(try packages(other) == ("ok", "The programs were not installed by dpkg."))
        #expect(try packages("") == ("ok", "The programs were not installed by dpkg."))
    }

    @Test func `doctor finds packages that are half installed or of different versions`() throws {
        for state in ["half-installed", "unpacked", "half-configured"] {
            let found = try packages(paragraph("defaultsd", state))
            #expect(found.state == "problem", "\(found)")
            #expect(found.text.contains("defaultsd was interrupted (\(state))"), "\(found)")
            #expect(found.text.contains("dpkg --configure --pending"), "\(found)")
        }
        let found = try packages(
            paragraph("defaultsd", "installed", "0.2.0")
                + paragraph("defaultsd-gsettings", "installed"))
        #expect(found.state == "warning" && found.text.contains("different versions"), "\(found)")
    }
}
