import Foundation
import TestTiers
import Testing

/// The table of promises in `security.md` against the tests.
@Suite(.startsPrograms) struct PromiseTableTests {
    /// The suites that the table names.
    private static func named() throws -> [String] {
        let page = try String(
            contentsOfFile: Desktop.packageDirectory + "Documentation/security.md", encoding: .utf8)
        return page.matches(of: /(?m)^\| .+ \| `(\w+Tests)` \|$/).map { String($0.1) }
    }

    /// The suites in a folder, and whether each has a test.
    private static func suites(in folder: String) throws -> [String: Bool] {
        let root = Desktop.packageDirectory + folder
        var suites: [String: Bool] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: root) ?? .init()
        where name.hasSuffix("Tests.swift") {
            let text = try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
            for match in text.matches(of: /@Suite[^{]*?struct (\w+Tests)\b/) {
                suites[String(match.1)] = text.contains("@Test")
            }
        }
        return suites
    }

    @Test func `Each promise has a suite of tests`() throws {
        let suites = try Self.suites(in: "Tests/EndToEndTests")
        let named = try Self.named()
        #expect(named.count > 10)
        for suite in named { #expect(suites[suite] == true, "\(suite)") }
    }

    @Test func `Each suite about hostile programs is named with its promise`() throws {
        let named = try Self.named()
        let suites = try Self.suites(in: "Tests/EndToEndTests/Promises").keys
        #expect(suites.count > 5)
        for suite in suites where suite != "PromiseTableTests" {
            #expect(named.contains(suite), "\(suite)")
        }
    }
}
