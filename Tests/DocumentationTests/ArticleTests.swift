import Foundation
import Testing

struct ArticleTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let sources = tests.appending(path: "../../Sources").standardizedFileURL

    private static let libraries = [
        "DefaultsClient", "DefaultsFoundation", "KeyedArchive", "PropertyList",
    ]

    /// The README, the pages about the project, and those of all catalogues but that of
    /// DefaultsSecrets, whose own tests do the same.
    private static let pages =
        libraries.flatMap { markdown(in: sources.appending(path: "\($0)/\($0).docc")) }
        + markdown(in: sources.appending(path: "../Documentation").standardizedFileURL)
        + markdown(in: sources.appending(path: "..").standardizedFileURL)

    private static func markdown(in folder: URL) -> [String] {
        let path = folder.path(percentEncoded: false)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return files.filter { $0.hasSuffix(".md") }.sorted()
            .map { folder.appending(path: $0).path(percentEncoded: false) }
    }

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
            .filter { !$0.isEmpty }
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
                let isCompiled = compiled.contains(line)
                #expect(isCompiled, "\(line)")
            }
        }
    }

    /// The public declarations of all libraries: those of DefaultsSecrets, too.
    private static let sourceFiles = (libraries + ["DefaultsSecrets"]).flatMap { library in
        let folder = sources.appending(path: library).path(percentEncoded: false)
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        return (files ?? []).filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }

    @Test func `all code in comments of public declarations is compiled here`() throws {
        let compiled = try Self.compiledLines()
        for file in Self.sourceFiles {
            for line in try Self.exampleLines(in: String(contentsOfFile: file, encoding: .utf8)) {
                let isCompiled = compiled.contains(line)
                #expect(isCompiled, "\(file): \(line)")
            }
        }
    }

    /// The code in the comments before public declarations.
    private static func exampleLines(in source: String) -> [String] {
        var examples: [String] = []
        var comment: [String] = []
        for line in lines(of: source) where !line.hasPrefix("@") {
            guard !line.hasPrefix("///") else {
                comment.append(String(line.dropFirst(3)))
                continue
            }
            if line.hasPrefix("public ") { examples += swiftLines(in: comment) }
            comment = []
        }
        return examples
    }

    private static func swiftLines(in comment: [String]) -> [String] {
        comment.joined(separator: "\n").components(separatedBy: "```swift\n").dropFirst()
            .flatMap { lines(of: $0.components(separatedBy: "```")[0]) }
    }

    @Test func `there are pages and comments of each module`() throws {
        #expect(Self.pages.count >= 15)
        let text = try Self.sourceFiles.map { try String(contentsOfFile: $0, encoding: .utf8) }
        #expect(text.flatMap(Self.exampleLines).count > 100)
    }
}
