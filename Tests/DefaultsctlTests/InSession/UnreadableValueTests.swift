import ArchiveTestSupport
import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// Values that an application cannot read, and sets, with a daemon.
@Suite(.inSession) struct UnreadableValueTests {
    let session = TestSession.current
    private static let app = "org.example.App"

    @Test func `A value that is too large to show hides no other`() async throws {
        let file = session.directory.path + "/shared"
        try Data(Tree.sharedArrays(depth: 40, width: 2)).write(to: URL(filePath: file))
        #expect(await session.tool("write", Self.app, "Huge", "--archive", file).error == "")
        await session.tool("write", Self.app, "Small", "-string", "a leaf")
        await session.tool("write", "org.example.Other", "Key", "-string", "leaf")
        for (words, shown) in [
            (["read", Self.app, "--json"], #"{"Small":"a leaf"}"#),
            (["read", "--json"], #"{"org.example.App":{"Small":"a leaf"},"org.example.Other":{"#),
            (["find", "leaf", "--json"], #"{"org.example.App":{"Small":"a leaf"},"#),
            (["read", Self.app], "{\n    Small = \"a leaf\";\n}\n"),
            (["find", "leaf"], "Found 1 key in domain 'org.example.Other'"),
        ] {
            let answer = await session.tool(words)
            #expect(answer.status == 1 && answer.output.contains(shown), "\(words): \(answer)")
            #expect(answer.error.contains("The value of 'Huge' cannot be shown"), "\(answer.error)")
        }
        // A file without the value would look complete.
        let exported = await session.tool("export", Self.app, "-", "--format", "json")
        #expect(exported.status == 1 && exported.output == "", "\(exported)")
    }
}
