import DconfFiles
import DefaultsProtocol
import TestSupport
import TestTiers
import Testing

/// Databases as dconf writes and reads them.
@Suite(.startsPrograms, .enabled(if: DconfTool.isInstalled, Comment(rawValue: DconfTool.missing)))
struct DconfDatabaseTests {
    static let text = """
        [/]
        top=uint32 7

        [org/gnome/desktop/interface]
        color-scheme='prefer-dark'
        font-name='Cantarell 11'

        [org/gnome/terminal/legacy/profiles:]
        default='b1dcc9dd'
        list=['b1dcc9dd', 'é']

        [org/gnome/terminal/legacy/profiles:/:b1dcc9dd]
        colour=(1.0, 0.5, 0.0)
        nothing=@ms nothing
        places=[<(uint32 2, <'Berlin'>)>, <{'a': <byte 0x01>}>]
        some=@ms 'text'
        visible-name='"'

        """

    @Test func `A database that dconf wrote has its paths and values`() throws {
        let database = try DconfDatabase(DconfTool().compile(Self.text))
        #expect(database.faults.isEmpty && database.locks.isEmpty)
        let profile = "/org/gnome/terminal/legacy/profiles:/:b1dcc9dd"
        #expect(
            database.entries.map { "\($0.path) \($0.value.type) \($0.value.notation)" } == [
                "/org/gnome/desktop/interface/color-scheme s '7072656665722d6461726b",
                "/org/gnome/desktop/interface/font-name s '43616e746172656c6c203131",
                profile + "/colour (ddd) [d3ff0000000000000,d3fe0000000000000,d0]",
                profile + "/nothing ms []",
                profile + "/places av [<(uv)[2,<s'4265726c696e>]>,<a{sv}[['61,<y1>]]>]",
                profile + "/some ms ['74657874]",
                profile + "/visible-name s '22",
                "/org/gnome/terminal/legacy/profiles:/default s '6231646363396464",
                "/org/gnome/terminal/legacy/profiles:/list as ['6231646363396464,'c3a9]",
                "/top u 7",
            ])
    }

    @Test func `dconf reads a database from here as it reads its own`() throws {
        let tool = try DconfTool()
        let theirs = try tool.compile(Self.text)
        let ours = try DconfDatabase(entries: DconfDatabase(theirs).entries).bytes()
        let dump = try tool.user(ours, "dump", "/")
        #expect(dump == Self.text)
        #expect(try tool.user(theirs, "dump", "/") == dump)
        for folder in ["/", "/org/", "/org/gnome/terminal/legacy/profiles:/"] {
            let listed = try tool.user(ours, "list", folder)
            #expect(try tool.user(theirs, "list", folder) == listed)
            #expect(!listed.isEmpty)
        }
        #expect(try tool.user(ours, "read", "/top") == "uint32 7\n")
        #expect(try tool.user(ours, "read", "/org/gnome/other") == "")
    }

    @Test func `Locks go both ways`() throws {
        let tool = try DconfTool()
        let locks = ["/org/gnome/desktop/interface/font-name", "/top"]
        let theirs = try DconfDatabase(tool.compile(Self.text, locks: locks))
        #expect(theirs.locks == locks && theirs.entries.count == 10)
        let ours = try DconfDatabase(entries: theirs.entries, locks: locks).bytes()
        let listed = try tool.system(ours, "list-locks", "/").split(separator: "\n")
        #expect(listed.sorted().map(String.init) == locks)
        let dump = try tool.system(ours, "dump", "/")
        #expect(dump == Self.text)
    }

    @Test func `Hundreds of random values go both ways`() throws {
        var random = SeededGenerator()
        let seed = UInt32.random(in: .min ... .max, using: &random)
        let values = try GLibValue.random(count: 400, seed: seed)
            .filter { try !$0.text.isEmpty && $0.value() != nil }
        #expect(values.count > 250)
        let keys = values.indices.map { (folder: "r/\($0 % 7)/\($0 % 61)", key: "key-\($0)") }
        var entries: [DconfDatabase.Entry] = []
        for (place, given) in zip(keys, values) {
            let value = try #require(try given.value())
            entries.append(.init("/\(place.folder)/\(place.key)", value))
        }
        let tool = try DconfTool()
        let dump = try tool.user(DconfDatabase(entries: entries).bytes(), "dump", "/")
        let lines = zip(keys, values).map { "\($0.key)=\($1.text)" }
        let dumped = dump.split(separator: "\n").filter { $0.hasPrefix("key-") }.map(String.init)
        try #require(dumped.sorted() == lines.sorted(), "seed \(seed)")

        let theirs = try DconfDatabase(tool.compile(dump))
        #expect(theirs.faults.isEmpty && theirs.entries.count == entries.count)
        let known = Dictionary(entries.map { ($0.path, $0.value) }) { first, _ in first }
        for entry in theirs.entries {
            try #require(known[entry.path]?.type == entry.value.type, "seed \(seed)")
            try #require(known[entry.path]?.notation == entry.value.notation, "seed \(seed)")
        }
    }

    @Test func `An empty database goes both ways`() throws {
        let tool = try DconfTool()
        let ours = try DconfDatabase(entries: []).bytes()
        #expect(try DconfDatabase(ours).entries.isEmpty)
        let dump = try tool.user(ours, "dump", "/")
        #expect(dump == "")
        let theirs = try DconfDatabase(tool.compile(""))
        #expect(theirs.entries.isEmpty && theirs.faults.isEmpty)
    }
}

/// What cannot be written.
@Suite(.startsPrograms) struct DconfDatabaseWritingTests {
    private let value = ExactValue(.byte, .integer(1))

    @Test func `A path is given once`() {
        let database = DconfDatabase(entries: [.init("/a/b", value), .init("/a/b", value)])
        let error = #expect(throws: GVDBError.self) { try database.bytes() }
        #expect(error?.description == "The name '/a/b' is given twice.")
    }

    @Test func `Paths of equal text and different bytes are different`() throws {
        let database = DconfDatabase(entries: [
            .init("/a/\u{E9}", value), .init("/a/e\u{301}", value),
        ])
        #expect(try DconfDatabase(database.bytes()).entries.count == 2)
    }

    @Test func `A path can also be a folder`() throws {
        let bytes = try DconfDatabase(entries: [.init("/a/b", value), .init("/a/b/c", value)])
            .bytes()
        #expect(try DconfDatabase(bytes).entries.map(\.path) == ["/a/b", "/a/b/c"])
    }

    @Test(arguments: [
        "", "a", "/", "/a/", "/a//b", "/a\0", "/" + String(repeating: "a", count: 4096),
    ])
    func `Only paths are names`(path: String) {
        #expect(throws: GVDBError.name(item: 0)) {
            try DconfDatabase(entries: [.init(path, value)]).bytes()
        }
    }

    @Test func `A value that has no form is not written`() {
        let wrong = ExactValue(.byte, .integer(1000))
        #expect(throws: GVDBError.value(.mismatch(.byte))) {
            try DconfDatabase(entries: [.init("/a", wrong)]).bytes()
        }
    }
}
