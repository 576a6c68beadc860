import DBus
import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// `defaultsctl` as a person at a shell uses it.
@Suite(.inSession) struct ToolTests {
    let session = TestSession.current

    @Test func `The daemon stores the type too`() async throws {
        await session.tool("write", "org.example.Game", "PlaySound", "-bool", "true")
        let stored = try await session.get("org.example.Game", "PlaySound")
        #expect(stored.value == .boolean(true) && stored.generation == 2)
    }

    @Test func `A string is read bare, a domain as macOS shows it or as one JSON object`() async {
        await session.tool("write", "org.example.App", "Name", "-string", "Ada \"Countess\"")
        await session.tool("write", "org.example.App", "Age", "-int", "36")
        #expect(
            await session.tool("read", "org.example.App", "Name").output == "Ada \"Countess\"\n")
        #expect(
            await session.tool("read", "org.example.App").output
                == "{\n    Age = 36;\n    Name = \"Ada \\\"Countess\\\"\";\n}\n")
        #expect(
            await session.tool("read", "org.example.App", "--json").output
                == #"{"Age":36,"Name":"Ada \"Countess\""}"# + "\n")
        #expect(await session.tool("domains").output == "org.example.App\n")
    }

    @Test func `Deleting removes a key, and deleting a missing key is refused`() async {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        #expect(await session.tool("delete", "org.example.App", "Key").status == 0)
        let again = await session.tool("delete", "org.example.App", "Key")
        #expect(again.status == 1)
        #expect(again.error.contains("org.example.App"))
        #expect(again.error.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        ["read", "org.example.App", "Missing"], ["read", "org.example.Nothing"],
        ["read", "not a domain", "Key"], ["write", "org.example.App", "", "-int", "1"],
        ["write", "org.example.App@managed", "Key", "-int", "1"],
    ])
    func `Not found and refused exit with 1 and one sentence`(arguments: [String]) async {
        let answer = await session.tool(arguments)
        #expect(answer.status == 1)
        #expect(answer.output == "")
        #expect(answer.error.hasPrefix("defaultsctl: "))
        #expect(answer.error.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        ["write", "org.example.App"], ["write", "org.example.App", "Key", "-int"],
        ["write", "org.example.App", "Key", "-bool", "perhaps"],
        ["write", "org.example.App", "Key", "--json", "{"], ["raed"], ["delete"],
        ["read", "a", "b", "c"],
    ])
    func `A wrong command line exits with 64`(arguments: [String]) async {
        let answer = await session.tool(arguments)
        #expect(answer.status == 64)
        #expect(answer.error.hasPrefix("defaultsctl: "))
        #expect(answer.complaint.split(separator: "\n").count == 1, "\(answer.error)")
    }

    @Test func `status shows the path, the generations and the pending changes`() async throws {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        #expect(await session.tool("sync").status == 0)
        let status = try await session.tool("status").requireOutput()
        #expect(status.contains(session.databasePath))
        #expect(status.contains(/durable generation +2\n/))
        #expect(status.contains(/pending changes +0\n/))
        #expect(status.contains(/file system +\w+\n/))
    }
}
