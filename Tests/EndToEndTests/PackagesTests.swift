import Foundation
import TestSupport
import Testing

/// The Debian packages, as `Tests/Packages` makes and tries them.
@Suite struct PackagesTests {
    /// What `packages-test` ends with if this machine cannot run it.
    private static let skipped: Int32 = 77

    private static let script = Desktop.packageDirectory + "Tests/Packages/packages-test"

    /// Why this machine cannot make and install packages; nil if it can.
    private static let obstacle: String? = {
        let canPack = ProgramResult.run(["sh", "-c", "command -v dh"]).status == 0
        return CleanRootTests.obstacle ?? (canPack ? nil : "debhelper is missing")
    }()

    @Test(.enabled(if: obstacle == nil, "\(obstacle ?? "")"))
    func `The packages can be installed, upgraded beside running programs, and removed`() {
        let result = ProgramResult.run(HangGuard.command + [Self.script])
        // What is left is a mirror of Debian that cannot be reached, which is seen only by the attempt.
        if result.status == Self.skipped, result.error.contains("debootstrap failed") {
            return print("skipped: the packages: \(result.error)")
        }
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }

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
}
