import Foundation
import Testing

struct ArticleTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let sources = tests.appending(path: "../../Sources").standardizedFileURL

    private static let libraries = [
        "DefaultsClient", "DefaultsFoundation", "KeyedArchive", "PropertyList",
    ]

    /// The README, and the pages of all catalogues but that of DefaultsSecrets, whose own tests do the
    /// same.
    private static let pages =
        libraries.flatMap { library in
            let catalogue = sources.appending(path: "\(library)/\(library).docc")
            let files = try? FileManager.default.contentsOfDirectory(
                atPath: catalogue.path(percentEncoded: false))
            return (files ?? []).filter { $0.hasSuffix(".md") }.sorted()
                .map { catalogue.appending(path: $0).path(percentEncoded: false) }
        } + [
            sources.appending(path: "../README.md").standardizedFileURL.path(percentEncoded: false)
        ]

    /// The lines of the other files here.
    private static func compiledLines() throws -> Set<String> {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: tests.path(percentEncoded: false)
        )
        .filter { $0.hasSuffix(".swift") && !#filePath.hasSuffix($0) }
        let lines = try files.flatMap { file in
            Self.lines(of: try String(contentsOf: tests.appending(path: file), encoding: .utf8))
        }
        return Set(lines)
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: pages)
    func `all Swift code of a page is compiled here`(page: String) throws {
        let compiled = try Self.compiledLines()
        let text = try String(contentsOfFile: page, encoding: .utf8)
        for block in text.components(separatedBy: "```swift\n").dropFirst() {
            let code = block.components(separatedBy: "```")[0]
            // A manifest is not compiled with tests; `make docs` tries it.
            guard !code.contains("import PackageDescription") else { continue }
            for line in Self.lines(of: code) {
                #expect(compiled.contains(line), "\(page): \(line)")
            }
        }
    }

    @Test func `there are pages of each module`() {
        #expect(Self.pages.count >= 7)
    }
}
