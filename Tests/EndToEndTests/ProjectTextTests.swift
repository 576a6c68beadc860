import DefaultsProtocol
import DefaultsTerms
import Foundation
import TestSupport
import TestTiers
import Testing

/// What the project's own texts say of it.
@Suite(.startsPrograms) struct ProjectTextTests {
    private func text(_ file: String) throws -> String {
        try String(contentsOfFile: Desktop.packageDirectory + file, encoding: .utf8)
    }

    @Test func `Every text names the version that the programs print`() throws {
        let version = Version.current
        #expect(try text("README.md").contains("This is version \(version).\n"))
        let newest = try text("Documentation/CHANGELOG.md").firstMatch(of: /\n## (\S+)/)
        #expect(newest.map { String($0.1) } == version)
        for program in ["defaultsd", "defaultsctl"] {
            let printed = try Desktop().run("\(Desktop.programs)/\(program)", "--version")
            #expect(printed.output.contains(version), "\(printed)")
        }
    }

    @Test func `The daemon prints all versions, each of which the rules for changes name`() throws {
        let printed = try Desktop().run("\(Desktop.programs)/defaultsd", "--version", "--verbose")
        let names = printed.output.split(separator: "\n").map { $0.split(separator: #/ {2,}/#)[0] }
        #expect(
            names == [
                "defaultsd \(Version.current)", "D-Bus interface", "C library",
                "database schema",
                "journal format", "page layout", "SQLite", "libdbus",
            ])
        #expect(printed.output.contains("org.defaultsd.Defaults1\n"))
        let library = try Desktop().run(
            "readelf", "--dynamic", "\(Desktop.packageDirectory).build/library/libdefaults.so")
        #expect(library.output.contains("soname: [\(Version.library)]"), "\(library)")
        #expect(printed.output.contains(/\nSQLite +3\.\d+\.\d+\n/))
        let rules = try text("Documentation/CONTRIBUTING.md")
        for subject in [
            "D-Bus interface", "C library", "database", "crash journal", "counter page",
        ] {
            #expect(rules.contains("\n| \(subject) | "))
        }
    }

    /// The README and all pages of the folder, by their paths in the project.
    private static let pages: [String] = {
        let folder = Desktop.packageDirectory + "Documentation"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let pages = files.filter { $0.hasSuffix(".md") }.sorted()
        return ["README.md"] + pages.map { "Documentation/\($0)" }
    }()

    /// Where a page's links lead that do not leave the project: a path, a heading, or both.
    private func links(in page: String) throws -> [(path: String, heading: String?)] {
        try text(page).matches(of: /\]\(([^)#:]*)(?:#([^)]*))?\)/)
            .map { (String($0.1), $0.2.map { String($0) }) }
    }

    /// The names by which links call the headings of a page: small letters, and hyphens for spaces.
    private func headings(of page: String) throws -> [String] {
        try text(page).matches(of: /(?m)^#+ (.*)$/).map { match in
            match.1.lowercased().replacing(" ", with: "-")
                .filter { $0.isLetter || $0.isNumber || "-_".contains($0) }
        }
    }

    @Test(arguments: pages)
    func `Every link of a page leads to a file and a heading that exist`(page: String) throws {
        let folder = page.hasPrefix("Documentation/") ? "Documentation/" : ""
        for link in try links(in: page) {
            let target = link.path.isEmpty ? page : folder + link.path
            let isThere = FileManager.default.fileExists(
                atPath: Desktop.packageDirectory + target)
            #expect(isThere, "\(link)")
            guard isThere, let heading = link.heading else { continue }
            #expect(try headings(of: target).contains(heading), "\(link)")
        }
    }

    @Test func `The README is short, and leads to every page`() throws {
        let lines = try text("README.md").components(separatedBy: "\n").dropLast()
        #expect(lines.count <= 200)
        let targets = try links(in: "README.md").map(\.path)
        #expect(Self.pages.count > 8)
        for page in Self.pages.dropFirst() + ["Documentation/LICENSE"] {
            #expect(targets.contains(page), "\(page)")
        }
    }

    @Test func `The picture in the README is what the programs print`() throws {
        let recording = Desktop.packageDirectory + "Documentation/recording"
        let compared = ProgramResult.run(
            ["\(recording)/record", "--check", Desktop.programs, "\(recording)/defaultsd.svg"],
            environment: ProcessInfo.processInfo.environment)
        #expect(compared.status == 0, "Run 'make picture'. \(compared)")
    }

    @Test func `The files that the administrator's page shows are some that lint accepts`() throws {
        let page = try text("Documentation/administration.md")
        let examples = page.matches(of: /(?s)```json\n(.*?)```/).map { String($0.1) }
        #expect(examples.count == 3)
        let desktop = try Desktop()
        for example in examples {
            let file = try desktop.directory.write(example, to: "org.example.Browser.json")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let checked = desktop.tool("lint", file)
            #expect(checked.status == 0 && checked.output == "", "\(checked)")
        }
    }

    @Test func `The license is the Apache License 2_0 as it was published`() throws {
        let license = try text("Documentation/LICENSE")
        #expect(license.contains("Version 2.0, January 2004"))
        #expect(license.contains("END OF TERMS AND CONDITIONS"))
        #expect(license.contains("limitations under the License.\n"))
        #expect(try links(in: "Documentation/CONTRIBUTING.md").contains { $0.path == "LICENSE" })
    }

    @Test func `Every text that says when a change goes to disk has the values of the source`()
        throws
    {
        let delay = ServiceOption.writeDelay.standard
        let longest = ServiceOption.longestWriteDelay.standard / 1000
        let texts = [
            "README.md": 2, "Documentation/guarantees.md": 1, "Documentation/architecture.md": 1,
            "Documentation/desktop.md": 1, "Sources/Manuals/defaultsd.8.in": 1,
            "Sources/DefaultsClient/DefaultsClient.docc/WhatIsGuaranteed.md": 1,
        ]
        for (file, count) in texts {
            let text = try text(file).replacing(/\s+/, with: " ")
            #expect(text.matches(of: /\b(\d+) ms (?:after|later)/).count == count, "\(file)")
            for match in text.matches(of: /\b(\d+) ms (?:after the last|later)/) {
                #expect(Int(match.1) == delay, "\(file): \(match.output.0)")
            }
            for match in text.matches(of: /\b(\d+) s after the first/) {
                #expect(Int(match.1) == longest, "\(file): \(match.output.0)")
            }
        }
    }

    @Test func `The page for administrators has each option of the service, as the source has it`()
        throws
    {
        let page = try text("Documentation/administration.md")
        let rows = page.matches(of: /(?m)^\| `(\w+)` \| .* \| (\d+) \| (\d+) \| (\d+) \|$/).map {
            "\($0.1) \($0.2) \($0.3) \($0.4)"
        }
        #expect(
            rows == described(ServiceOption.self) + described(HistoryOption.self))
        for domain in [ServiceOption.domain, HistoryOption.domain] {
            #expect(page.contains("domain `\(domain)`"))
        }
    }

    /// The name, the standard value and the bounds of each option.
    private func described<Option: NumberOption>(_ options: Option.Type) -> [String] {
        options.allCases.map {
            "\($0.rawValue) \($0.standard) \($0.bounds.lowerBound) \($0.bounds.upperBound)"
        }
    }

    @Test func `What lists doors by hand has those of the sources, by their names on the bus`()
        throws
    {
        let folder = Desktop.packageDirectory + "Sources/DefaultsService/Doors/"
        let list = try text("Sources/DefaultsService/Doors/Door.swift")
            .firstMatch(
                of: /static var all: \[any Door\.Type\] \{\s*\[(.*?)\]\s*\}/.dotMatchesNewlines())
        let doors = try #require(list).1.matches(of: /(\w+)Door\.self/).map { String($0.1) }
        #expect(doors.count > 2)
        let installed = try text("Makefile").firstMatch(of: /\nADOPTED_NAMES = (.*)\n/)
        let names = try #require(installed).1.split(separator: " ")
        #expect(names.count == doors.count)
        let page = try text("Documentation/desktop.md")
        for door in doors {
            let source = try String(
                contentsOfFile: folder + "\(door)/\(door)Door.swift", encoding: .utf8)
            let word = try #require(source.firstMatch(of: /static let name = "(\w+)"/)).1
            #expect(
                page.contains("defaultsctl adopt \(word)") || page.contains("`\(word)`"), "\(door)")
            // The name on the bus is in the module that daemon and tool share.
            let shared = try text("Sources/Defaults\(door)/\(door).swift")
            #expect(names.contains { shared.contains("\"\($0)\"") }, "\(door)")
        }
    }
}
