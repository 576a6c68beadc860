import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Applications that bring their defaults up to date, each in a process of its own.
@Suite(.startsPrograms, .serialized) struct MigrationTests {
    let desktop: Desktop
    private static let program = Desktop.builtProgram("MigratingProgram")
    private static let domain = "org.example.Counter"

    init() throws { desktop = try Desktop() }

    private func read(_ key: String, of domain: String = Self.domain) throws -> String {
        String(try desktop.tool("read", domain, key, "--json").requireOutput().dropLast())
    }

    private func migrate(_ words: String...) -> ProgramResult {
        desktop.run([Self.program] + words)
    }

    @Test func `Processes that start together run each step once`() throws {
        let steps = 40
        let gate = desktop.directory.path + "/gate"
        // Open for both, so that nobody waits for the other end.
        guard mkfifo(gate, 0o600) == 0, case let pipe = open(gate, O_RDWR | O_CLOEXEC), pipe >= 0
        else { throw CocoaError(.fileWriteUnknown) }
        defer { close(pipe) }
        let programs = try (0..<4).map { _ in
            try ChildProcess(
                [Self.program, "race", Self.domain, "\(steps)"], environment: desktop.environment,
                input: .file(gate), output: .lines)
        }
        for program in programs { #expect(program.lines?.next() == "ready") }
        // More than enough: who runs the step again waits again.
        let bytes = [UInt8](repeating: 0, count: 1000)
        #expect(write(pipe, bytes, bytes.count) == bytes.count)
        for program in programs {
            var lines: [String] = []
            while let line = program.lines?.next() { lines.append(line) }
            #expect(lines.last == "\(steps)")
            try program.requireSuccess()
        }
        #expect(try read("Counter") == "\(steps)")
        #expect(try read("DefaultsVersion") == "\(steps)")
    }

    @Test func `A program that dies in a step continues with that step`() throws {
        #expect(migrate("count", Self.domain, "5", "3").status == 128 + 9)
        #expect(try read("Counter") == "2")
        #expect(try read("DefaultsVersion") == "2")
        #expect(migrate("count", Self.domain, "5").output == "5\n")
        #expect(try read("Counter") == "5")
    }

    @Test func `A later version runs only the new steps, an earlier one none`() throws {
        #expect(migrate("count", Self.domain, "2").output == "2\n")
        #expect(migrate("count", Self.domain, "5").output == "5\n")
        let generation = try desktop.property("Generation")
        #expect(migrate("count", Self.domain, "5").output == "5\n")
        let refusal = migrate("count", Self.domain, "4")
        #expect(refusal.status == 1)
        #expect(refusal.output.contains("have version 5, and this program knows 4 at most"))
        #expect(try read("Counter") == "5")
        #expect(try desktop.property("Generation") == generation)
    }

    @Test func `A key that the administrator has locked stops the step that changes it`() throws {
        try desktop.write(
            #"{"Counter": 9}"#, to: "\(Self.domain).json", in: .managed)
        let refusal = migrate("count", Self.domain, "1")
        #expect(refusal.status == 1)
        #expect(refusal.output.contains("has locked the key 'Counter'"))
        #expect(desktop.tool("read", Self.domain, "DefaultsVersion").status != 0)
    }

    @Test(.enabled(if: !Desktop.hasInstalledDaemon, "this machine has defaultsd installed"))
    func `Without any daemon nothing is migrated, and this is reported`() throws {
        // A copy that has no daemon beside it.
        let program = desktop.directory.path + "/MigratingProgram"
        try Program.copy(Self.program, to: program)
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(desktop.directory.path)/no-bus"
        environment["PATH"] = "/usr/bin:/bin"
        let refusal = desktop.run(
            [program, "count", Self.domain, "1"], environment: environment)
        #expect(refusal.status == 1)
        #expect(refusal.output.contains("The defaults service cannot be reached"))
    }

    // MARK: Foundation's UserDefaults

    @Test func `Values of Foundation's UserDefaults are imported with their types`() throws {
        let old = "org.example.Old"
        try migrate("store", old).requireOutput()
        let file = desktop.directory.path + "/config/\(old).plist"
        let before = try Data(contentsOf: URL(filePath: file))
        desktop.call("SetValue", Self.domain, "Count", "<8>")

        #expect(migrate("import", Self.domain, old).output == "1\n")
        let expected = [
            "Flag": "true", "Real": "0.5", "One": "1.0", "Text": #""é""#,
            "Data": #"{"$data":"AQI="}"#, "Date": #"{"$class":"NSDate","NS.time":60.0}"#,
            "Array": #"["a",1,true]"#, "Dictionary": #"{"b":false,"k":[1,2]}"#,
            "Player": #"{"$class":"MigratingProgram.Player","level":3,"name":"ada"}"#,
            // The user had set it here already.
            "Count": "8",
            "DefaultsVersion": "1",
        ]
        for (key, json) in expected { #expect(try read(key) == json, "\(key)") }
        let keys = try desktop.tool("keys", Self.domain).requireOutput().split(separator: "\n")
        #expect(keys.map(String.init) == expected.keys.sorted())
        #expect(migrate("player", Self.domain).output == "ada, level 3\n")

        #expect(try Data(contentsOf: URL(filePath: file)) == before)
        // What the user removes afterwards does not come back.
        desktop.tool("delete", Self.domain, "Text")
        #expect(migrate("import", Self.domain, old).output == "1\n")
        #expect(desktop.tool("read", Self.domain, "Text").status != 0)
    }

    @Test func `A name without UserDefaults imports nothing`() throws {
        #expect(migrate("import", Self.domain, "org.example.Unknown").output == "1\n")
        #expect(try desktop.tool("keys", Self.domain).requireOutput() == "DefaultsVersion\n")
    }
}
