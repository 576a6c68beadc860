import DBus
import Foundation
import TestSupport
import Testing

@testable import ServiceHarness
@testable import ToolHarness
@testable import defaultsctl

/// What every door of the tool has from `adopt`, `release` and `doctor`, shown by one that does next to nothing
/// itself and is one more element of the list.
@Suite(.inSession) struct DesktopDoorTests {
    private let session = TestSession.current
    private let domain = "org.example.Desk"
    private let name = "org.example.Desk"

    init() throws {
        session.doors.append(FakeDesktopDoor.self)
        try FileManager.default.createDirectory(
            atPath: session.directory.path + "/config", withIntermediateDirectories: true)
        try session.directory.write("Color=red\nSize=9\n", to: "config/desk.conf")
    }

    /// The file of the desktop's own service.
    private func file() throws -> String {
        try String(contentsOfFile: session.directory.path + "/config/desk.conf", encoding: .utf8)
    }

    /// The activation file of the user; nil if there is none.
    private var activation: String? {
        try? String(contentsOfFile: activationPath, encoding: .utf8)
    }

    private var activationPath: String {
        "\(session.directory.path)/.local/share/dbus-1/services/\(name).service"
    }

    @discardableResult
    private func tool(_ words: String...) async throws -> String {
        try await session.tool(words).requireOutput()
    }

    /// The help of a verb in one line.
    private func help(_ verb: String) async throws -> String {
        try await tool(verb, "--help").split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }

    /// What doctor says of the door; nil if it does not mention it.
    private func diagnosis() async throws -> Finding? {
        try await session.finding(of: "desk")
    }

    @Test func `The values of a door are there after its adoption, and its file after the release`()
        async throws
    {
        #expect(
            try await tool("adopt", "desk", "--dry-run").hasPrefix(
                "desk: 2 values of 1 domain would be imported, and these files written: "))
        #expect(
            try await tool("adopt", "desk")
                == "desk: 2 values of 1 domain imported. Programs use defaultsd now.\n")
        #expect(
            try await tool("read", domain, "--json") == #"{"Color":"red","Size":"9"}"# + "\n")
        #expect(activation?.contains("\nExec=/opt/defaultsd/bin/defaultsd --replace\n") == true)
        #expect(await session.bus.requests == ["ReloadConfig", "start org.defaultsd.Defaults1"])
        #expect(try await tool("adopt", "desk") == "desk is adopted already.\n")

        try await tool("write", domain, "Color", "-string", "blue")
        try await tool("delete", domain, "Size")
        try await tool("write", "org.example.Other", "Key", "-int", "1")
        #expect(
            try await tool("release", "desk")
                == "desk: 1 value of 1 domain written back. Programs use deskd again.\n")
        #expect(try file() == "Color=blue\n")
        #expect(activation == nil)
        #expect(try await tool("release", "desk") == "desk is not adopted.\n")
    }

    @Test func `What the other service has stored meanwhile is taken over by the next adoption`()
        async throws
    {
        try await tool("adopt", "desk")
        try await tool("release", "desk")
        try session.directory.write("Color=red\nSize=10\n", to: "config/desk.conf")
        try await tool("write", domain, "Color", "-string", "green")
        try await tool("adopt", "desk")
        #expect(
            try await tool("read", domain, "--json") == #"{"Color":"green","Size":"10"}"# + "\n")
    }

    @Test func `A file that cannot be read stops the adoption before anything is changed`()
        async throws
    {
        try session.directory.write("Color\n", to: "config/desk.conf")
        let refused = await session.tool("adopt", "desk")
        #expect(refused.status != 0 && refused.error.contains("desk.conf: It is damaged."))
        let keys = await session.tool("keys", domain)
        #expect(keys.output == "" && keys.status != 0, "\(keys)")
        #expect(activation == nil)
        #expect(try await diagnosis() == nil)
    }

    @Test func `doctor says whether programs of an adopted door use defaultsd`() async throws {
        #expect(try await diagnosis() == nil)
        try await tool("adopt", "desk")
        #expect(try await diagnosis()?.state == .ok)
        await session.bus.give("org.example.Desk", to: ":1.77")
        let other = try await diagnosis()
        #expect(other?.state == .warning && other?.message.contains("Process 5000000 owns") == true)
        try FileManager.default.removeItem(atPath: activationPath)
        let interrupted = try await diagnosis()
        #expect(interrupted?.message == "Its adoption or release was interrupted.")
        #expect(interrupted?.advice?.contains("'defaultsctl release desk'") == true)
    }

    @Test func `The arguments and the help of adopt and release name all doors of the list`()
        async throws
    {
        let all = "gsettings, xfconf, dconf, portal, desk"
        for verb in ["adopt", "release"] {
            let refused = await session.tool(verb, "kde")
            #expect(refused.error.contains("There is no service 'kde'. Give \(all) or all"))
            #expect(try await help(verb).contains("The services: \(all), or all;"))
        }
        #expect(try await help("adopt").contains("and desk is for a desktop that does not exist."))
    }

    @Test func `Without an argument each door is adopted that programs would notice`() async throws
    {
        let lines = try await tool("adopt").split(separator: "\n")
        #expect(lines.count == 5 && lines.last?.hasPrefix("desk: 2 values") == true, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("portal is skipped: ") }, "\(lines)")
        let released = try await tool("release", "all").split(separator: "\n")
        #expect(released.last?.hasPrefix("desk: 2 values") == true, "\(released)")
    }

    @Test func `A door that is not in the list is unknown`() async {
        session.doors.removeLast()
        let refused = await session.tool("adopt", "desk")
        #expect(refused.error.contains("There is no service 'desk'."), "\(refused)")
    }
}
