import Foundation
import TestSupport
import TestTiers
import Testing

/// `defaultsctl … --path` as a person at a shell uses it.
@Suite(.startsPrograms, .serialized) struct ValuePathTests {
    let desktop: Desktop

    init() throws {
        desktop = try Desktop()
        desktop.tool(
            "write", "org.example.App", "State", "--json",
            #"{"$class":"State","books":[{"title":"Dune"}],"options":{"a.b":1,"audio":{"volume":3}}}"#
        )
    }

    private func value() -> String {
        desktop.tool("read", "org.example.App", "State", "--json").output
    }

    @Test func `Many who write parts of one value at once lose nothing`() throws {
        let tool = Desktop.programs + "/defaultsctl"
        let program = """
            for part in $(seq 1 24); do
                '\(tool)' write org.example.App State --path "options.part$part" -int $part &
            done
            wait
            """
        #expect(desktop.run("/bin/sh", "-c", program).error == "")
        for part in 1...24 {
            let answer = desktop.tool(
                "read", "org.example.App", "State", "--path", "options.part\(part)")
            #expect(answer.output == "\(part)\n")
        }
    }
}
