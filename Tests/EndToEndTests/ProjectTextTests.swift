import DefaultsProtocol
import Foundation
import TestSupport
import Testing

/// What the project's own texts say of it.
@Suite struct ProjectTextTests {
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

    @Test(arguments: ["README.md", "Documentation/CONTRIBUTING.md", "Documentation/CHANGELOG.md"])
    func `Every link to a file of the project leads to one`(file: String) throws {
        let folder = URL(filePath: Desktop.packageDirectory + file).deletingLastPathComponent()
        let links = try text(file).matches(of: /\]\(([^)#:]+)(?:#[^)]*)?\)/).map { String($0.1) }
        for link in links {
            let path = folder.appending(path: link).path(percentEncoded: false)
            #expect(FileManager.default.fileExists(atPath: path), "\(link)")
        }
        #expect(links.contains { $0.hasSuffix("LICENSE") } || file.hasSuffix("CHANGELOG.md"))
    }

    @Test func `The license is the Apache License 2_0 as it was published`() throws {
        let license = try text("Documentation/LICENSE")
        #expect(license.contains("Version 2.0, January 2004"))
        #expect(license.contains("END OF TERMS AND CONDITIONS"))
        #expect(license.contains("limitations under the License.\n"))
    }
}
