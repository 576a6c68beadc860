import Foundation
import TestSupport
import TestTiers
import Testing

/// Output of `defaultsctl`, and what happens if it cannot be written.
@Suite(.startsPrograms, .serialized) struct OutputTests {
    let desktop: Desktop

    init() throws {
        desktop = try Desktop()
        desktop.tool("write", "a.b", "key", "-int", "1")
    }

    /// Runs the tool by a shell, which connects its descriptors otherwise.
    private func tool(_ arguments: [String], _ redirection: String) -> ProgramResult {
        desktop.run(
            ["sh", "-c", #"exec "$0" "$@" "# + redirection, Desktop.programs + "/defaultsctl"]
                + arguments)
    }

    @Test func `Output that cannot be written is an error of every verb`() {
        let lines = [
            "read", "read a.b", "read a.b key", "read --json", "read --json a.b",
            "read --json a.b key", "read --raw a.b key", "read --generation a.b key",
            "read-type a.b key", "keys a.b", "keys -0 a.b", "keys --json a.b", "domains",
            "domains --json", "find key", "find --json key", "status", "status --json", "stats",
            "stats --json", "doctor", "doctor --json", "backup now", "backup list",
            "backup list --json", "complete read a", "export a.b -", "inspect a.b key",
            "inspect a.b key --json", "help", "help read", "--help", "read --help", "--version",
        ]
        for line in lines {
            let answer = tool(line.split(separator: " ").map(String.init), ">/dev/full")
            #expect(answer.status == 1, "\(line)")
            #expect(
                answer.error
                    == "defaultsctl: The output cannot be written: No space left on device.\n",
                "\(line)")
        }
    }

    @Test func `A descriptor that is closed is not used for another file`() {
        let input = tool(["apply"], "<&-")
        #expect(input.status == 1 && input.error.contains("Bad file descriptor"), "\(input)")
        let output = tool(["export", "a.b", "-"], ">&-")
        #expect(output.status == 1 && output.error.contains("Bad file descriptor"), "\(output)")
        let error = tool(["read", "a.b", "key"], "2>&-")
        #expect(error.status == 0 && error.output == "1\n")
    }

    @Test func `Sentences end with one full stop`() throws {
        #expect(
            desktop.tool("reed").error
                == "defaultsctl: There is no verb 'reed'. Did you mean 'read'? See defaultsctl "
                + "--help.\n")
        #expect(desktop.tool("inspect", "").error.hasPrefix("defaultsctl: '': It cannot be read"))
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "bogus"
        try desktop.stopDaemon()
        let answer = desktop.run(
            [Desktop.programs + "/defaultsctl", "domains"], environment: environment)
        #expect(answer.error.contains("(Address does not contain a colon). "), "\(answer.error)")
    }
}
