import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// A session whose bus takes connections and says nothing: it is stopped, or only half alive.
@Suite(.startsPrograms) struct SilentBusTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func stopBus() { kill(desktop.bus.processIdentifier, SIGSTOP) }
    private func continueBus() { kill(desktop.bus.processIdentifier, SIGCONT) }

    // MARK: Without a running service

    /// The beginning of what every program says.
    private var complaint: String {
        "The bus at \(desktop.bus.address) has not answered within 10 seconds."
    }

    /// Command lines of the programs, with the exit status.
    private static let commands: [([String], Int32)] = [
        (["defaultsctl", "read", app, "Key"], 69),
        (["defaultsctl", "write", app, "Key", "5"], 69),
        (["defaultsctl", "delete", app, "Key"], 69),
        (["defaultsctl", "domains"], 69),
        (["defaultsctl", "export", app, "-"], 69),
        (["defaultsctl", "sync"], 69),
        (["defaultsctl", "status"], 69),
        (["defaultsctl", "watch", app], 69),
        (["defaultsctl", "adopt", "portal"], 69),
        (["defaultsctl", "release", "portal"], 69),
        (["defaultsctl", "roam", "now"], 69),
        (["defaultsctl", "doctor"], 1),
        (["defaultsd"], 69),
        (["defaultsd", "--replace"], 69),
        (["defaultsd-roam"], 69),
    ]

    @Test func `Every program ends, says which bus is silent, and takes no defaults for values`()
        async
    {
        stopBus()
        defer { continueBus() }
        let (environment, complaint) = (desktop.environment, complaint)
        await withTaskGroup { group in
            for (words, status) in Self.commands {
                group.addTask {
                    let program = "\(Desktop.programs)/\(words[0])"
                    let result = await ProgramResult.running(
                        HangGuard.command + [program] + words.dropFirst(), environment: environment)
                    #expect(result.status == status, "\(words): \(result)")
                    let text = words.last == "doctor" ? result.output : result.error
                    #expect(text.contains(complaint), "\(words): \(result)")
                }
            }
        }
        // None has run a daemon of its own beside one that may be on the bus.
        #expect(!FileManager.default.fileExists(atPath: desktop.databasePath))
    }

    @Test(arguments: ["defaultsd", "defaultsd-roam"])
    func `SIGTERM ends a service that waits for the bus`(name: String) throws {
        stopBus()
        defer { continueBus() }
        let service = try ChildProcess(
            ["\(Desktop.programs)/\(name)"], environment: desktop.environment)
        // It takes signals by a descriptor from then on.
        try wait {
            let status = try String(
                contentsOfFile: "/proc/\(service.processIdentifier)/status", encoding: .utf8)
            let blocked = try #require(status.firstMatch(of: /SigBlk:\s+([0-9a-f]+)/)?.1)
            return try #require(UInt64(blocked, radix: 16)) & (1 << UInt64(SIGTERM - 1)) != 0
        }
        service.send(SIGTERM)
        try service.requireSuccess()
    }

    @Test func `An app reads what it registered, is unreachable, and goes on when the bus does`()
        throws
    {
        stopBus()
        defer { continueBus() }
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        try client.ask("register Key 7")
        #expect(try client.ask("get-thousands Key") == "7")
        #expect(try client.ask("state") == "unreachable")
        try client.ask("set Key 5")
        #expect(try client.ask("flush 1") == "error unreachable")
        // It does not run a daemon of its own.
        #expect(!FileManager.default.fileExists(atPath: desktop.databasePath))
        continueBus()
        try client.wait(for: "current", to: "state")
        try client.ask("flush")
        #expect(try desktop.number(forKey: "Key", in: Self.app) == 5)
    }

    // MARK: With a running service

    @Test func `A service that runs is reached without the bus`() throws {
        try desktop.setNumber(1, forKey: "Key", in: Self.app)
        stopBus()
        defer { continueBus() }
        #expect(desktop.tool("read", Self.app, "Key").output == "1\n")
        #expect(desktop.tool("write", Self.app, "Key", "-int", "2").status == 0)
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        try client.wait(for: "2", to: "get Key")
        #expect(try client.ask("state") == "current")
    }

    @Test func `doctor begins with the cause, and looks at the service without the bus`() throws {
        try desktop.setNumber(1, forKey: "Key", in: Self.app)
        stopBus()
        defer { continueBus() }
        let lines = desktop.tool("doctor").output.split(separator: "\n")
        #expect(lines.first?.contains(complaint) == true, "\(lines)")
        #expect(lines.contains { $0.contains(/^ok +socket\s/) }, "\(lines)")
        #expect(lines.contains { $0.contains(/^ok +service +version\s/) }, "\(lines)")
    }
}
