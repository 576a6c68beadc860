import Foundation
import TestSupport
import TestTiers
import Testing

/// What `--help` prints, beside what it printed when somebody last looked at it.
///
/// `Tests/Help/update` takes the new texts over, for a reader to look at in the difference.
@Suite(.startsPrograms) struct HelpTests {
    private static let folder = Desktop.packageDirectory + "Tests/Help"

    static let verbs = [
        "read", "read-type", "write", "rename", "delete", "delete-all",
        "factory-reset", "apply", "unapply", "owners", "drift", "import", "export",
        "domains", "keys", "find", "explain", "history", "undo", "redo", "locked", "grant",
        "revoke", "grants", "lint",
        "watch", "inspect", "sync",
        "status", "stats", "adopt", "release", "doctor",
        "backup", "roam",
    ]

    /// Runs a program without a bus, which nothing here needs.
    private func run(_ program: String, _ words: String...) throws -> ProgramResult {
        try ShippedPrograms.requireNew()
        let environment = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
        return ProgramResult.run(
            ["\(Desktop.programs)/\(program)"] + words, environment: environment)
    }

    private func expect(_ name: String, _ printed: String) throws {
        let expected = try String(contentsOfFile: "\(Self.folder)/\(name).txt", encoding: .utf8)
        #expect(printed == expected, "\(name)")
    }

    @Test func `The help of the tool and the daemon says what they are for`() throws {
        let help = try run("defaultsctl", "--help").requireOutput()
        try expect("defaultsctl", help)
        try expect("defaultsd", run("defaultsd", "--help").requireOutput())
        let told = help.matches(of: /\n  ([a-z][a-z-]*)  +[A-Z]/).map { String($0.1) }
        #expect(told == Self.verbs)
    }
}
