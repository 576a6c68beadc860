import TestSupport
import TestTiers
import Testing

/// Values that an application cannot read, and sets, with a daemon.
@Suite(.startsPrograms, .serialized) struct UnreadableValueTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    @Test(arguments: [10, 100_000])
    func `An unreadable value is kept when the key is set, even a large one`(
        count: Int
    ) throws {
        let old = "[\"" + String(repeating: "x", count: count) + "\"]"
        let file = try desktop.directory.write("{\"Key\":\(old)}", to: "domain.json")
        #expect(desktop.tool("import", Self.app, file).error == "")
        let client = try ClientProcess(talkingOf: Self.app, in: desktop).whenCurrent()
        // The client reads a text, and here is an array.
        #expect(try client.ask("length Key") != "5")
        try client.ask("set-length Key 5")
        try client.ask("flush")
        #expect(try client.ask("length Key") == "5")
        let kept = desktop.tool("read", Self.app, "Key (unreadable)", "--json")
        #expect(kept.output == old + "\n")
    }
}
