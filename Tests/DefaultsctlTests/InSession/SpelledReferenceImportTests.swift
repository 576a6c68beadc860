import ArchiveTestSupport
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ToolHarness

/// Archives whose references became dictionaries, as converters that do not know them leave them.
@Suite(.inSession) struct SpelledReferenceImportTests {
    private let session = TestSession.current
    private static let app = "org.example.App"

    /// Writes an archive of a book with spelled references, a domain with it, and one with a dictionary that
    /// is not in an archive.
    init() throws {
        func reference(_ number: Int) -> Tree { ["CF$UID": .integer(Int128(number))] }
        let archive = Tree(
            archive: [
                ["$class": reference(3), "title": reference(2)], "Dune", .record("Book"),
            ], top: ["root": reference(1)])
        for (name, contents) in [
            ("archive", archive), ("domain", ["Book": archive, "Number": 1]),
            ("stray", ["Number": 2, "Stray": [reference(5)]]),
        ] as [(String, Tree)] {
            try Data(contents.bytes()).write(to: URL(filePath: file(name)))
        }
    }

    private func file(_ name: String) -> String { "\(session.directory.path)/\(name)" }

    private let book = #"{"$class":"Book","title":"Dune"}"#

    @Test func `The tool reads them as the references that they were`() async throws {
        #expect(
            await session.tool("write", Self.app, "Written", "--archive", file("archive")).error
                == "")
        #expect(
            await session.tool("import", Self.app, file("archive"), "--key", "Imported").error == ""
        )
        #expect(await session.tool("import", Self.app, file("domain")).error == "")
        for key in ["Written", "Imported", "Book"] {
            #expect(
                await session.tool("read", Self.app, key, "--json").output == book + "\n", "\(key)")
        }
        #expect(try await session.tool("inspect", file("archive")).requireOutput().contains("Dune"))
    }

    @Test func `One outside of an archive is refused, and nothing is imported`() async {
        let refused = await session.tool("import", Self.app, file("stray"))
        #expect(refused.status == 1 && refused.error.contains("CF$UID"), "\(refused)")
        #expect(await session.tool("read", Self.app, "Number").status == 1)
    }
}
