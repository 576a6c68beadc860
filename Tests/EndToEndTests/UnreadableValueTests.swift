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

    /// An archive of arrays, each with the next one twice: small, and far too large as a tree.
    private static let sharedArrays = """
        import plistlib, sys
        from plistlib import UID
        depth = 40
        plistlib.dump({
            "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(3)},
            "$objects": [
                "$null", {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]}, "leaf",
                *({"$class": UID(1), "NS.objects": [UID(n + 4 if n < depth - 1 else 2)] * 2}
                  for n in range(depth)),
            ]}, open(sys.argv[1], "wb"), fmt=plistlib.FMT_BINARY)
        """

    @Test func `A value that is too large to show hides no other`() throws {
        let file = desktop.directory.path + "/shared"
        try desktop.python(Self.sharedArrays, file).requireOutput()
        #expect(desktop.tool("write", Self.app, "Huge", "--archive", file).error == "")
        desktop.tool("write", Self.app, "Small", "-string", "a leaf")
        desktop.tool("write", "org.example.Other", "Key", "-string", "leaf")
        for (words, shown) in [
            (["read", Self.app, "--json"], #"{"Small":"a leaf"}"#),
            (["read", "--json"], #"{"org.example.App":{"Small":"a leaf"},"org.example.Other":{"#),
            (["find", "leaf", "--json"], #"{"org.example.App":{"Small":"a leaf"},"#),
            (["read", Self.app], "{\n    Small = \"a leaf\";\n}\n"),
            (["find", "leaf"], "Found 1 key in domain 'org.example.Other'"),
        ] {
            let answer = desktop.tool(words)
            #expect(answer.status == 1 && answer.output.contains(shown), "\(words): \(answer)")
            #expect(answer.error.contains("The value of 'Huge' cannot be shown"), "\(answer.error)")
        }
        // A file without the value would look complete.
        let exported = desktop.tool("export", Self.app, "-", "--format", "json")
        #expect(exported.status == 1 && exported.output == "", "\(exported)")
    }
}
