import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The manual pages, as they are made of what the programs say.
@Suite(.startsPrograms) struct ManualTests {
    private static let folder = Desktop.programs + "/man"

    private func text(_ page: String) throws -> String {
        try Desktop().run("mandoc", "-Tascii", "-O", "width=200", "\(Self.folder)/\(page)")
            .requireOutput().replacing(/.\u{8}/, with: "")
    }

    @Test(arguments: [
        "defaultsctl.1", "defaultsd.8", "defaultsd-roam.8", "defaultsd-managed.5",
        "defaultsd-values.5",
        "org.defaultsd.Defaults1.5", "libdefaults.3", "defaults_begin.3", "defaults_get.3",
        "defaults_history.3", "defaults_last_error.3", "defaults_open.3", "defaults_set.3",
        "defaults_watch.3",
    ])
    func `mandoc finds no fault in a page`(page: String) throws {
        let checked = try Desktop().run("mandoc", "-Tlint", "-Wwarning", "\(Self.folder)/\(page)")
        #expect(checked.output + checked.error == "")
    }

    @Test func `Every verb of the tool and its options are in its page`() throws {
        let page = try text("defaultsctl.1")
        let help = try Desktop().tool("--help").requireOutput()
        let verbs = help.matches(of: /\n  ([a-z][a-z-]*)  +[A-Z]/).map { String($0.1) }
        #expect(verbs.count > 15)
        for verb in verbs where verb != "backup" && verb != "roam" {
            #expect(page.contains("\n   \(verb)\n"), "\(verb)")
        }
        #expect(page.contains("--if-generation") && page.contains("backup restore"))
        #expect(page.contains("roam enable") && page.contains("--directory"))
    }

    @Test func `Every member of the contract is in its page`() throws {
        let page = try text("org.defaultsd.Defaults1.5")
        let contract = try String(contentsOfFile: Desktop.contractFile, encoding: .utf8)
        for member in contract.matches(of: /<(?:method|signal|property) name="(\w+)"/) {
            #expect(page.contains("\n   \(member.1)\n"), "\(member.1)")
        }
        #expect(page.contains("method Get(s domain, s key) -> (ay archive, t generation)"))
    }

    @Test func `Every function of the library for C is in a page`() throws {
        let header = try String(
            contentsOfFile: Desktop.packageDirectory + "Sources/CDefaults/defaults.h",
            encoding: .utf8)
        let functions = header.matches(of: /(?m)^(?!typedef)[a-z].*?(defaults_\w+)\(/).map { $0.1 }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        let pages = try files.filter { $0.hasSuffix(".3") }.map(text).joined()
        #expect(functions.count > 40)
        for function in functions {
            #expect(pages.contains("\n   \(function)()\n"), "\(function)")
        }
    }

    @Test func `Every value is stored and comes back as its page says`() throws {
        let checked = try Desktop().run(
            Desktop.packageDirectory + "Tests/Documentation/values",
            Desktop.programs + "/defaultsctl",
            Desktop.packageDirectory + "Sources/Manuals/values.txt")
        // The number of values that were tried, or what differs.
        let tried = Int(checked.output.dropLast()) ?? 0
        #expect(checked.status == 0 && tried > 50, "\(checked)")
    }

    @Test func `lint accepts every example of a file`() throws {
        let page = try String(
            contentsOfFile: Desktop.packageDirectory + "Sources/Manuals/defaultsd-managed.5.in",
            encoding: .utf8)
        let examples = page.matches(of: /(?s)\n(\{\n.*?\n\}\n)\.Ed/).map { String($0.1) }
        #expect(examples.count == 4)
        let desktop = try Desktop()
        for example in examples {
            let file = try desktop.directory.write(example, to: "org.example.A.json")
            chmod(file, 0o644)
            let checked = desktop.tool("lint", file)
            #expect(checked.status == 0 && checked.output == "", "\(checked.output)\(example)")
        }
    }

    @Test func `No heading loses a word that is also a macro`() throws {
        let page = try text("defaultsd-managed.5")
        let source = try String(
            contentsOfFile: "\(Self.folder)/defaultsd-managed.5", encoding: .utf8)
        for heading in source.matches(of: /(?m)^\.S[hs] (.*)$/) {
            let words = heading.1.replacing("\\&", with: "")
            #expect(page.contains("\(words)\n"), "\(words)")
        }
    }

    @Test func `Every option of the daemon is in its page`() throws {
        let page = try text("defaultsd.8")
        let help = try Desktop().run(Desktop.programs + "/defaultsd", "--help").requireOutput()
        for option in help.matches(of: /\n  (--[a-z]+)/) {
            #expect(page.contains("\n     \(option.1)"), "\(option.1)")
        }
    }
}
