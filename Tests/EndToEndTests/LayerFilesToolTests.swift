import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The tool and the layers that are made of files.
@Suite(.startsPrograms, .serialized) struct LayerFilesToolTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private static let app = "org.example.App"

    private func json(_ words: String...) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(desktop.tool(words).requireOutput().utf8))
    }
}

// MARK: The layers of files

extension LayerFilesToolTests {

    @Test func `watch shows a file's change as one of its layer, with the value`() throws {
        try desktop.write(#"{"Theme": "dark", "Gone": 1}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitKeys(in: "\(Self.app)@managed", "Theme")
        let watchers = try [["--json"], ["--as-commands"], []].map { options in
            let process = try ChildProcess(
                [Desktop.programs + "/defaultsctl", "watch"] + options,
                environment: desktop.environment, output: .lines)
            return (process: process, lines: try #require(process.lines))
        }
        defer { for (process, _) in watchers { process.send(SIGTERM) } }
        try wait {
            let rules = try desktop.run(
                "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
                "/org/freedesktop/DBus", "--method",
                "org.freedesktop.DBus.Debug.Stats.GetAllMatchRules"
            ).requireOutput()
            return rules.matches(of: /member='Changed'/).count == watchers.count
        }
        try desktop.write(#"{"Theme": "light"}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"Size": 3}"#, to: "\(Self.app).json", in: .vendor)
        let objects = try (0..<3).map { _ in
            let line = try #require(watchers[0].lines.next())
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(object as? [String: Any])
        }
        #expect(objects.allSatisfy { $0["writer"] == nil })
        #expect(
            objects.map { "\($0["domain"] ?? "") \($0["key"] ?? "")" } == [
                "\(Self.app)@managed Theme", "\(Self.app)@managed Gone", "\(Self.app)@system Size",
            ])
        #expect(objects[0]["old"] as? String == "dark" && objects[0]["new"] as? String == "light")
        #expect(objects[1]["old"] as? Int == 1 && objects[1]["new"] == nil)
        let comments = (0..<3).compactMap { _ in watchers[1].lines.next() }
        #expect(comments.allSatisfy { $0.hasPrefix("# \(Self.app)@") }, "\(comments)")
        #expect(comments.allSatisfy { $0.contains("from a file") })
        #expect(watchers[2].lines.next() == "\(Self.app)@managed Theme = \"light\" (was \"dark\")")
        #expect(watchers[2].lines.next() == "\(Self.app)@managed Gone removed (was 1)")
        #expect(watchers[2].lines.next() == "\(Self.app)@system Size = 3 (new)")
    }

    @Test func `status lists the files with their problems, and doctor finds them`() throws {
        let text = try desktop.tool("status").requireOutput()
        #expect(text.contains(/layers' files +none\n/), "\(text)")
        try desktop.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write("{\n  \"Size\" 3\n}", to: "\(Self.app).d/bad.json", in: .recommended)
        try desktop.awaitKeys(in: "\(Self.app)@managed", "Theme")
        let bad = desktop.path(of: "\(Self.app).d/bad.json", in: .recommended)
        try wait { desktop.tool("status").output.contains(bad) }
        let status = try desktop.tool("status").requireOutput()
        #expect(status.contains(/layers' files +2, 1 of them invalid\n/), "\(status)")
        #expect(status.contains("  managed  \(Self.app)  "))
        #expect(status.contains("\n    \(bad):2:"), "\(status)")
        let object = try #require(json("status", "--json") as? [String: Any])
        let files = try #require(object["layerFiles"] as? [[String: Any]])
        #expect(files.count == 2)
        let good = try #require(files.first { $0["layer"] as? String == "managed" })
        #expect(good["problem"] is NSNull && good["domain"] as? String == Self.app)
        let doctor = desktop.tool("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.output.contains(/(?m)^problem +layers' files +.*bad\.json:2:/), "\(doctor)")
        #expect(doctor.output.contains("Its last valid contents, if any, stay in force."))
        // Those of a user who is not root are not the administrator's.
        #expect(doctor.output.contains("managed files") == (geteuid() != 0))
        try desktop.remove("\(Self.app).d/bad.json", in: .recommended)
        try wait { !desktop.tool("status").output.contains(bad) }
        #expect(desktop.tool("doctor").output.contains(/(?m)^ok +layers' files +1, all valid$/))
    }

    @Test(arguments: ["", "/org.example.App.json"])
    func `doctor warns if others can write mandatory files`(place: String) throws {
        try desktop.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitKeys(in: "\(Self.app)@managed", "Theme")
        let path = "\(desktop.directory.path)/managed\(place)"
        chmod(path, 0o777)
        let doctor = desktop.tool("doctor").output
        #expect(doctor.contains("warning  managed files"), "\(doctor)")
        #expect(doctor.contains("chmod go-w \(path)") || doctor.contains("chown root"))
    }
}

// MARK: No service

extension LayerFilesToolTests {
    /// Runs the tool, and the daemon that it runs, with another `/etc` put over the machine's, which
    /// has the mandatory files.
    private func onMachine(_ words: [String], environment: [String: String]) -> ProgramResult {
        desktop.run(
            [
                "bwrap", "--dev-bind", "/", "/", "--tmpfs", "/etc", "--tmpfs", "/usr/share",
                "--bind", desktop.directory.path + "/managed", "/etc/defaultsd/managed",
                Desktop.programs + "/defaultsctl",
            ] + words, environment: environment)
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `doctor reads the files itself if there is no service`() throws {
        try desktop.write("{}", to: "\(Self.app).json", in: .managed)
        try desktop.write("{}", to: "\(Self.app).d/1.json", in: .managed)
        chmod(desktop.directory.path + "/managed", 0o755)
        let bus = try PrivateBus()
        let unserved = desktop.environment.merging(["DBUS_SESSION_BUS_ADDRESS": bus.address]) {
            $1
        }
        for environment in [desktop.environmentWithoutBus, unserved] {
            try desktop.write("{}", to: "\(Self.app).d/1.json", in: .managed)
            let good = onMachine(["doctor"], environment: environment)
            #expect(good.output.contains(/(?m)^ok +layers' files +2, all valid$/), "\(good)")
            try desktop.write("{\n1}", to: "\(Self.app).d/1.json", in: .managed)
            let bad = onMachine(["doctor"], environment: environment)
            #expect(bad.status == 1)
            let path = "/etc/defaultsd/managed/\(Self.app).d/1.json"
            #expect(bad.output.contains(" layers' files      \(path):2:1: "), "\(bad)")
        }
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `Without a bus the tool's own daemon has the layers of the machine`() throws {
        try desktop.write(
            #"{"Theme": "dark", "$locked": ["Frozen"]}"#, to: "\(Self.app).json", in: .managed)
        func alone(_ words: String...) -> ProgramResult {
            onMachine(words, environment: desktop.environmentWithoutBus)
        }
        #expect(alone("read", "--effective", Self.app, "Theme").output == "dark\n")
        #expect(alone("explain", Self.app, "Theme").output.contains("->  managed"))
        #expect(alone("locked", Self.app, "Frozen").status == 0)
        let refused = alone("write", Self.app, "Frozen", "-int", "1")
        #expect(refused.status == 1, "\(refused)")
        #expect(refused.error.contains("/etc/defaultsd/managed/\(Self.app).json"))
        #expect(alone("status").output.contains("/etc/defaultsd/managed/\(Self.app).json"))
    }
}
