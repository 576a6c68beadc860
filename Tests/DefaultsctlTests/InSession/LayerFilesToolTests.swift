import DefaultsFiles
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ToolHarness

/// The tool and the layers that are made of files.
@Suite(.inSession) struct LayerFilesToolTests {
    let session = TestSession.current

    private static let app = "org.example.App"

    private func json(_ words: String...) async throws -> Any {
        try JSONSerialization.jsonObject(with: Data(await session.tool(words).requireOutput().utf8))
    }
}

// MARK: The layers of files

extension LayerFilesToolTests {
    @Test func `@managed and @system are read like any domain, and cannot be written`() async throws
    {
        try await session.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try await session.write(#"{"Size": 3}"#, to: "\(Self.app).json", in: .recommended)
        #expect(await session.tool("read", "\(Self.app)@managed", "Theme").output == "dark\n")
        #expect(
            await session.tool("read", "\(Self.app)@system", "--json").output == "{\"Size\":3}\n")
        #expect(await session.tool("keys", "\(Self.app)@managed").output == "Theme\n")
        let exported = await session.tool("export", "\(Self.app)@managed", "-").output
        #expect(exported.contains("<string>dark</string>"))
        #expect(await session.tool("domains", "--managed").output == "\(Self.app)@managed\n")
        #expect(
            await session.tool("domains", "--managed", "--system", "--json").output
                == "[\"\(Self.app)@managed\",\"\(Self.app)@system\"]\n")
        for host in [["-currentHost"], ["-host", "x"]] {
            for option in ["--managed", "--system"] {
                let refused = await session.tool(host + ["domains", option])
                #expect(refused.status == 64 && refused.output == "", "\(refused)")
                #expect(refused.error.contains("Omit -currentHost and -host"))
            }
        }
        // No key is the user's own.
        #expect(await session.tool("domains").output == "\n")
        for words in [
            ["write", "\(Self.app)@managed", "Theme", "-string", "x"],
            ["delete", "\(Self.app)@system", "Size"], ["delete", "\(Self.app)@managed"],
        ] {
            let refused = await session.tool(words)
            #expect(refused.status == 1 && refused.error.contains("read only"), "\(refused)")
        }
    }
}

// MARK: Completion

extension LayerFilesToolTests {
    private func candidates(_ words: String...) async throws -> [String] {
        try await session.tool(["complete", "--"] + words).requireOutput().split(separator: "\n")
            .map { String($0.prefix { $0 != "\t" }) }
    }

    @Test func `Completion knows layers that are only read, and keys that are only locked`()
        async throws
    {
        try await session.write(
            #"{"Theme": "dark", "$locked": ["Frozen", "Pre*"]}"#, to: "\(Self.app).json",
            in: .managed)
        try await session.write(#"{"Size": 3}"#, to: "org.example.Other.json", in: .vendor)
        await session.tool("write", "\(Self.app)@host", "Mine", "-int", "1")
        let own = ["\(Self.app)@host"]
        // What only files give can be written over in the domain itself.
        let written = [Self.app] + own + ["org.example.Other"]
        let all = (own + ["\(Self.app)@managed", "org.example.Other@system"])
        for verb in ["read", "export", "keys", "watch", "read-type"] {
            #expect(try await candidates(verb, "org") == all, "\(verb)")
        }
        for verb in ["write", "delete", "import", "rename"] {
            #expect(try await candidates(verb, "org") == written, "\(verb)")
        }
        for words in [["explain"], ["locked"], ["read", "--effective"], ["keys", "--effective"]] {
            let found = try await session.tool(["complete", "--"] + words + ["org"]).requireOutput()
            #expect(found == "\(Self.app)\norg.example.Other\n", "\(words)")
        }
        #expect(try await candidates("locked", Self.app, "") == ["Frozen", "Mine", "Theme"])
        #expect(try await candidates("read", "--effective", Self.app, "Th") == ["Theme"])
        #expect(try await candidates("read", "\(Self.app)@managed", "") == ["Theme"])
        #expect(try await candidates("expl") == ["explain"])
        #expect(try await candidates("read", "--eff") == ["--effective"])
    }
}
