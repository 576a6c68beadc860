import TestSupport
import Testing

/// The program with the options of a game.
@Suite(.serialized) struct GameOptionsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func show() throws -> String { try desktop.example("GameOptions").requireOutput() }

    @Test func `The options are on where nobody has chosen, and stay as they were chosen`() throws {
        #expect(try show() == "sound on, music on\n")
        try desktop.example("GameOptions", "music", "off").requireOutput()
        #expect(try show() == "sound on, music off\n")
        try desktop.example("GameOptions", "sound", "off").requireOutput()
        try desktop.example("GameOptions", "music", "on").requireOutput()
        #expect(try show() == "sound off, music on\n")
    }

    @Test func `They are one object with two fields`() throws {
        try desktop.example("GameOptions", "sound", "off").requireOutput()
        #expect(
            try desktop.tool("read", "org.example.Game", "GameOptions", "--json").requireOutput()
                == #"{"$class":"GameOptions","PlayMusic":true,"PlaySound":false}"# + "\n")
        #expect(try desktop.tool("keys", "org.example.Game").requireOutput() == "GameOptions\n")
    }

    @Test func `Nothing is read before they are used`() throws {
        let owned = "(true,)\n"
        try desktop.example("GameOptions", "help").requireOutput()
        #expect(try desktop.askBus("NameHasOwner", "org.defaultsd.Defaults1") != owned)
        _ = try show()
        #expect(try desktop.askBus("NameHasOwner", "org.defaultsd.Defaults1") == owned)
    }

    @Test func `The object of one process follows the changes of another`() throws {
        let watcher = try desktop.start(Desktop.builtProgram("GameOptions"), "watch")
        let lines = try #require(watcher.lines)
        #expect(lines.next() == "sound on, music on")
        try desktop.example("GameOptions", "music", "off").requireOutput()
        #expect(lines.next() == "sound on, music off")
        desktop.tool("delete", "org.example.Game", "GameOptions")
        #expect(lines.next() == "sound on, music on")
    }
}
