import Foundation
import TestSupport
import TestTiers
import Testing

/// What the Debian packages are made from.
///
/// `make packages-test` makes and installs them.
@Suite(.startsPrograms) struct PackagesTests {
    @Test
    func `The packages have the version of the sources and the maintainer of the environment`()
        throws
    {
        let directory = try TemporaryDirectory()
        var environment = ProcessInfo.processInfo.environment
        environment["DEBFULLNAME"] = "Ada Example"
        environment["DEBEMAIL"] = "ada@example.org"
        environment["SOURCE_DATE_EPOCH"] = "86400"
        let made = ProgramResult.run(
            [
                Desktop.packageDirectory + "Sources/DebianPackages/packages", "--templates",
                directory.path,
            ], environment: environment)
        #expect(made.status == 0, "\(made)")
        func text(_ name: String) throws -> String {
            try String(
                contentsOfFile: "\(directory.path)/work/defaultsd/debian/\(name)", encoding: .utf8)
        }
        let version = try Desktop().tool("--version").requireOutput()
            .trimmingCharacters(in: .newlines)
        let changes = try text("changelog")
        #expect(changes.hasPrefix("defaultsd (\(version)) unstable; urgency=medium\n"))
        #expect(
            changes.hasSuffix(
                "\n -- Ada Example <ada@example.org>  Fri, 02 Jan 1970 00:00:00 +0000\n"))
        #expect(changes.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(try text("control").contains("\nMaintainer: Ada Example <ada@example.org>\n"))
        for script in ["postinst", "postrm", "prerm"] {
            let script = try text("defaultsd.\(script)")
            #expect(!script.contains(/\n@[A-Z_]+@/))
        }
    }

    @Test func `A removal names only the services that somebody has adopted`() throws {
        let directory = try TemporaryDirectory()
        let part = Desktop.packageDirectory + "Sources/DebianPackages/parts/desktop-users"
        func said(_ services: String) -> String {
            ProgramResult.run([
                "/bin/sh", "-ec",
                """
                getent() { echo "ada:x:1000:1000::$0:/bin/sh"; }
                . \(part); warn_users \(services)
                """, directory.path,
            ]).error
        }
        #expect(said("xfconf dconf") == "")
        let folder = directory.path + "/.config/defaultsd"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for (adopted, others) in [("xfconf", "xfconfd"), ("dconf", "xfconfd and dconf")] {
            #expect(FileManager.default.createFile(atPath: "\(folder)/\(adopted)", contents: nil))
            let message = said("xfconf dconf")
            #expect(message.contains("in defaultsd: ada\n"), "\(message)")
            #expect(message.contains("these programs use \(others), with"), "\(message)")
            #expect(said("gsettings") == "")
        }
        // The removal of the module says nothing that the removal of the daemon says, too.
        #expect(FileManager.default.createFile(atPath: "\(folder)/gsettings", contents: nil))
        #expect(said("gsettings") == "")
        try FileManager.default.removeItem(atPath: "\(folder)/dconf")
        #expect(said("gsettings").contains("in defaultsd: ada\n"))
    }

    @Test func `Every link of a packaged page leads to a file of its package`() throws {
        let directory = try TemporaryDirectory()
        let packages = Desktop.packageDirectory + "Sources/DebianPackages"
        try ProgramResult.run([packages + "/pages", directory.path]).requireOutput()
        let files = FileManager.default
        for package in ["defaultsd", "libdefaults-dev", "python3-defaults"] {
            let folder = "\(directory.path)/\(package)"
            let examples = try String(
                contentsOfFile: "\(packages)/debian/\(package).examples", encoding: .utf8
            ).split(separator: "\n").map { "examples/\($0.split(separator: "/").last ?? "")" }
            let pages = try files.contentsOfDirectory(atPath: folder)
            #expect(!pages.isEmpty)
            for page in pages {
                let text = try String(contentsOfFile: "\(folder)/\(page)", encoding: .utf8)
                for link in text.matches(of: /\]\((?!\w+:)([^)#\s]+)/) {
                    let target = String(link.1)
                    let isExample = examples.contains { target == $0 || target.hasPrefix($0 + "/") }
                    #expect(isExample || pages.contains(target), "\(package)/\(page): \(target)")
                }
            }
        }
    }
}
