import Glibc
import TestSupport
import TestTiers
import Testing

/// The program with the options of a game.
@Suite(.startsPrograms, .serialized) struct GameOptionsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func show() throws -> String { try desktop.example("GameOptions").requireOutput() }

    @Test func `The options are on until somebody has chosen, and stay as they were chosen`() throws
    {
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

    @Test(arguments: ["GameOptions", "Options"])
    func `A missing field is on, and a change of it keeps the others`(_ name: String)
        throws
    {
        try desktop.tool(
            "write", "org.example.Game", "GameOptions", "--json",
            #"{"$class":"\#(name)","PlayMusic":false}"#
        ).requireOutput()
        #expect(try show() == "sound on, music off\n")
        try desktop.example("GameOptions", "sound", "off").requireOutput()
        #expect(
            try desktop.tool("read", "org.example.Game", "GameOptions", "--json").requireOutput()
                == #"{"$class":"GameOptions","PlayMusic":false,"PlaySound":false}"# + "\n")
    }

    @Test(
        .enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"),
        arguments: ["options", "game-options"])
    func `The options of a program with GNUstep are read, and the reverse`(_ archive: String) throws
    {
        let tutorials = try Tutorials.shared.get()
        try desktop.store(tutorials.file(archive), in: "org.example.Game", "GameOptions")
        #expect(try show() == "sound on, music off\n")
        try desktop.example("GameOptions", "sound", "off").requireOutput()
        #expect(try show() == "sound off, music off\n")
        let stored = try desktop.storedArchive(in: "org.example.Game", "GameOptions")
        #expect(try tutorials.read(stored) == "Options(0 0)\n")
    }

    @Test(
        .enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"),
        arguments: ["options", "options.xml", "game-options"])
    func `The file of a program with GNUstep is loaded, and saved for it`(_ name: String) throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.example("GameOptions", "load", tutorials.file(name)).requireOutput()
        #expect(try show() == "sound on, music off\n")
        let file = desktop.directory.path + "/options"
        try desktop.example("GameOptions", "save", file).requireOutput()
        #expect(try tutorials.read(file) == "Options(1 0)\n")
        #expect(
            try desktop.tool("inspect", "--json", file).requireOutput()
                == #"{"$class":"Options","PlayMusic":false,"PlaySound":true}"# + "\n")
    }

    @Test(
        .enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"),
        arguments: ["bug-1", "books", "empty-list", "titles"])
    func `A file without options is an error, and the options stay`(_ name: String) throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.example("GameOptions", "sound", "off").requireOutput()
        let result = desktop.example("GameOptions", "load", tutorials.file(name))
        #expect(result.status == 1)
        #expect(result.error.contains("\" is not the options of a game. "), "\(result)")
        #expect(try show() == "sound off, music on\n")
    }

    @Test func `Levels refer to each other in cycles, and are there at the next start`() throws {
        for (level, old) in [("Forest", "Meadow"), ("Cave", "Forest"), ("Lake", "Meadow")] {
            try desktop.example("GameOptions", "reach", level, "from", old).requireOutput()
        }
        let levels = """
            Meadow
              Forest, from Meadow
                Cave, from Forest
              Lake, from Meadow

            """
        #expect(try desktop.example("GameOptions", "levels").requireOutput() == levels)
        #expect(
            try desktop.tool("read", "org.example.Game", "Levels", "--json").requireOutput()
                .hasPrefix(#"{"$class":"Level","name":"Meadow","next":[{"$class":"Level","#))
        try desktop.killDaemon(9)
        #expect(try desktop.example("GameOptions", "levels").requireOutput() == levels)
    }

    @Test(arguments: [["Cave", "Mars"], ["Meadow", "Meadow"], [" ", "Meadow"]])
    func `A level from nowhere, a duplicate name and an empty name are refused`(
        _ words: [String]
    ) throws {
        let result = desktop.example("GameOptions", "reach", words[0], "from", words[1])
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("GameOptions: The"))
        #expect(try desktop.example("GameOptions", "levels").requireOutput() == "Meadow\n")
    }

    @Test func `Levels are never too deep to be read again`() throws {
        var old = "Meadow"
        for number in 1...100 {
            try desktop.example("GameOptions", "reach", "\(number)", "from", old).requireOutput()
            old = "\(number)"
        }
        let result = desktop.example("GameOptions", "reach", "101", "from", old)
        #expect(result.status == 1)
        #expect(
            try desktop.example("GameOptions", "levels").requireOutput().split(separator: "\n")
                .count == 101)
    }

    @Test func `A level that contains itself is an error`() throws {
        let file = desktop.directory.path + "/levels"
        let program = """
            import plistlib, sys
            from plistlib import UID
            open(sys.argv[1], "wb").write(plistlib.dumps({
                "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
                "$objects": [
                    "$null",
                    {"$class": UID(2), "name": UID(3), "next": UID(4), "parent": UID(1)},
                    {"$classname": "Level", "$classes": ["Level", "NSObject"]}, "Meadow",
                    {"$class": UID(5), "NS.objects": [UID(1)]},
                    {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]},
                ]}, fmt=plistlib.FMT_BINARY))
            """
        try desktop.python(program, file).requireOutput()
        try desktop.store(file, in: "org.example.Game", "Levels")
        let result = desktop.example("GameOptions", "levels")
        #expect(result.status == 1)
        #expect(result.error.contains(#"before and after "Meadow" contradict each other."#))
    }

    @Test func `Nothing is read before it is used`() throws {
        let owned = "(true,)\n"
        try desktop.example("GameOptions", "--help").requireOutput()
        #expect(try desktop.askBus("NameHasOwner", "org.defaultsd.Defaults1") != owned)
        _ = try show()
        #expect(try desktop.askBus("NameHasOwner", "org.defaultsd.Defaults1") == owned)
    }

    @Test func `Without a bus the watch says that it sees no changes of other programs`() throws {
        let watcher = try ChildProcess(
            ["/bin/sh", "-c", "exec \"$0\" watch 2>&1", Desktop.builtProgram("GameOptions")],
            environment: desktop.environmentWithoutBus, output: .lines)
        defer { watcher.send(SIGTERM) }
        let lines = try #require(watcher.lines)
        let notice = try #require(lines.next())
        try #require(notice.contains("changes of other programs are not seen here"), "\(notice)")
        #expect(lines.next() == "sound on, music on")
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
