import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// What `--help` prints, beside what it printed when somebody last looked at it.
///
/// `Tests/Help/update` takes the new texts over, for a reader to look at in the difference.
@Suite struct HelpTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Help").path(percentEncoded: false)

    /// The verbs whose help somebody has looked at.
    private static let verbs: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        return (names ?? []).filter { $0.hasSuffix(".txt") && !$0.hasPrefix("defaults") }
            .map { String($0.dropLast(4)) }.sorted()
    }()

    private func expect(_ name: String, _ printed: String) throws {
        let expected = try String(contentsOfFile: "\(Self.folder)/\(name).txt", encoding: .utf8)
        #expect(printed == expected, "\(name)")
    }

    @Test func `The help of the tool lists its verbs`() async throws {
        let help = try await ToolAlone.run("--help").requireOutput()
        try expect("defaultsctl", help)
        let told = help.matches(of: /\n  ([a-z][a-z-]*)  +[A-Z]/).map { String($0.1) }
        #expect(told.sorted() == Self.verbs)
    }

    @Test func `Every option that the help of write names exists`() async throws {
        let help = try await ToolAlone.run("help", "write").requireOutput()
        let options = help.matches(of: /\n  (?:-h, )?(--[a-z-]+)/).map { String($0.1) }
        #expect(options.contains("--archive") && options.contains("--changed"))
        for option in options {
            let answer = await ToolAlone.run("write", "org.example.App", "key", option)
            #expect(!answer.error.contains("has no option"), "\(answer)")
        }
    }

    @Test(arguments: verbs)
    func `The help of a verb lists its arguments`(verb: String) async throws {
        let help = try await ToolAlone.run("help", verb).requireOutput()
        try expect(verb, help)
        #expect(try await ToolAlone.run(verb, "--help").requireOutput() == help)
    }
}
