import DefaultsDconf
import Testing

/// What the signal `Notify` says about a change.
struct NoticeTests {
    @Test func `a single setting is its own prefix`() {
        let notice = DconfNotice(of: ["/a/b/c"], tag: "t")
        #expect(notice?.prefix == "/a/b/c")
        #expect(notice?.changes == [""])
        #expect(notice?.tag == "t")
    }

    @Test func `several settings have their directory as prefix`() {
        let notice = DconfNotice(of: ["/a/bc/d", "/a/bd"], tag: "")
        #expect(notice?.prefix == "/a/")
        #expect(notice?.changes == ["bc/d", "bd"])
        #expect(DconfNotice(of: ["/x", "/y"], tag: "")?.prefix == "/")
        #expect(DconfNotice(of: [], tag: "") == nil)
    }

    @Test func `very many settings are their directory`() {
        let paths = (0..<10_000).map { "/org/example/key-\($0)" }
        let notice = DconfNotice(of: paths, tag: "")
        #expect(notice?.prefix == "/org/example/")
        #expect(notice?.changes == [""])
    }

    @Test(
        arguments: [
            ("/a/b/", true), ("/", true), ("/a/b/c", true), ("/a/b/c/", false), ("/a/x/", false),
            ("/a/b", false), (nil, true),
        ] as [(String?, Bool)])
    func `match rules apply to a key as on the bus`(path: String?, matches: Bool) {
        #expect(DconfNotice(of: ["/a/b/c"], tag: "")?.matches(path) == matches)
    }

    @Test(arguments: [
        ("/a/b/", true), ("/a/b/c/d/", true), ("/", true), ("/a/c/", false), ("/a/b", false),
    ])
    func `match rules apply to a directory as on the bus`(path: String, matches: Bool) {
        #expect(DconfNotice(of: ["/a/b/c", "/a/b/d"], tag: "")?.matches(path) == matches)
    }
}
