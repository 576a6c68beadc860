import Foundation
import TestSupport
import TestTiers
import Testing

/// How the sources of the tests start and make programs.
@Suite(.startsPrograms) struct StartingProgramsTests {
    /// The top of the package.
    private static let package = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path(percentEncoded: false)

    /// What no test does, and what it does instead.
    static let rules = [
        Rule(
            words: #"\bProcess\(\)|posix_spawn|\bpopen\("#,
            examples: ["let process = Process()", "posix_spawnp(&child", "popen(command, \"r\")"],
            advice: "Start it by ChildProcess or ProgramResult, so that it inherits nothing."),
        Rule(
            words: #"copyItem\(\s*atPath: ("/(usr/)?s?bin/|Desktop\.programs|Self\.program)"#,
            examples: [
                "copyItem(atPath: \"/usr/bin/sleep\", toPath: daemon)",
                "copyItem(\n    atPath: Desktop.programs + \"/defaultsctl\", toPath: tool)",
            ],
            advice: "Copy it by Program.copy, so that this process never has it open for writing."),
        Rule(
            words: #"posixPermissions: 0o[0-7]?[1357][0-7]{2}\], ofItem|"#
                + #"chmod\([^\n]*(bin|program|script|starter)\b[^\n]*, 0o[0-7]?[1357][0-7]{2}\)"#,
            examples: [
                "setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)",
                "chmod(bin + \"/defaultsd\", 0o700)", "chmod(path + \"/bin/x\", 0o755)",
            ],
            advice: "Make it by Program.make, so that this process never has it open for writing."),
        Rule(
            words: #"\b(socket(pair)?\(AF_\w+, |let kind = )Int32\(SOCK_(?![^\n]*CLOEXEC)"#
                + #"|\bopen\([^()\n]*O_(?![^\n]*CLOEXEC)"#,
            examples: [
                "socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)", "open(path, O_RDONLY)",
                "socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)",
                "let kind = Int32(SOCK_STREAM.rawValue)",
            ],
            advice: "Set close-on-exec: Swift Testing starts processes that would inherit it."),
    ]

    @Test(arguments: rules)
    func `Programs are started and made in one way`(rule: Rule) throws {
        for (file, text) in try Self.sources() {
            let found = text.ranges(of: try rule.expression)
            for range in found {
                let line = text[..<range.lowerBound].count { $0 == "\n" } + 1
                Issue.record("Tests/\(file):\(line): \(text[range]). \(rule.advice)")
            }
        }
    }

    @Test(arguments: rules)
    func `Each rule finds what it is for`(rule: Rule) throws {
        for example in rule.examples { #expect(example.contains(try rule.expression)) }
    }

    /// The sources of the tests by their paths, but for those that break the rules to test them.
    private static func sources() throws -> [(String, String)] {
        let files = FileManager.default.enumerator(atPath: package + "Tests")
        let paths = try #require(files).compactMap { $0 as? String }.filter {
            $0.hasSuffix(".swift") && $0.contains("Tests/")
                && !$0.hasPrefix("HarnessTests/") && !$0.hasSuffix("/RandomNumbersTests.swift")
        }
        #expect(paths.count > 20)
        return try paths.map {
            ($0, try String(contentsOfFile: package + "Tests/" + $0, encoding: .utf8))
        }
    }
}

/// Something that no source of the tests may have.
struct Rule: Sendable, CustomTestStringConvertible {
    /// A regular expression.
    let words: String
    /// Lines that it finds.
    let examples: [String]
    /// What to do instead.
    let advice: String

    var testDescription: String { advice }

    var expression: Regex<AnyRegexOutput> {
        get throws { try Regex(words) }
    }
}
