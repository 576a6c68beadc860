import DefaultsFiles
import DefaultsModel
import Testing

struct LockTests {
    @Test(
        "A lock covers its key, or all keys with its prefix, byte by byte",
        arguments: [
            ("Key", "Key", true), ("Key", "Key2", false), ("Key", "key", false),
            ("Ke*", "Key", true), ("Key*", "Key", true), ("Key*", "Ke", false),
            ("*", "anything", true), ("caf\u{E9}", "caf\u{E9}", true),
            ("caf\u{E9}", "cafe\u{301}", false), ("cafe*", "cafe\u{301}", true),
        ])
    func covering(pattern: String, key: String, isCovered: Bool) throws {
        let lock = try #require(Lock(pattern))
        #expect(lock.pattern == pattern)
        #expect(lock.covers(try Key(key)) == isCovered)
    }

    @Test(
        "Text that is neither a key nor a prefix is not a lock",
        arguments: [
            "", "a*b", "**", "*a", "a\u{0}", "\u{0}*", String(repeating: "k", count: 1025),
            String(repeating: "k", count: 1025) + "*",
        ])
    func refusing(pattern: String) {
        #expect(Lock(pattern) == nil)
    }

    @Test("Locks are equal if their bytes are")
    func sameness() {
        #expect(Lock("caf\u{E9}") != Lock("cafe\u{301}"))
        #expect(Set([Lock("a*"), Lock("a*"), Lock("a")]).count == 2)
    }
}
