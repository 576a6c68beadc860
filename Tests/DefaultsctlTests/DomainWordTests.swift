import Testing

@testable import defaultsctl

@Suite("The names of domains") struct DomainWordTests {
    @Test(
        "mean the same in each spelling of macOS",
        arguments: [
            ("-g", "NSGlobalDomain"), ("-globalDomain", "NSGlobalDomain"),
            ("-globaldomain", "NSGlobalDomain"), ("-G", "NSGlobalDomain"),
            ("Apple Global Domain", "NSGlobalDomain"), (".GlobalPreferences", "NSGlobalDomain"),
            ("kCFPreferencesAnyApplication", "NSGlobalDomain"), ("-g@host", "NSGlobalDomain@host"),
            (".GlobalPreferences.plist", "NSGlobalDomain"), ("a.b.plist", "a.b"),
            ("~/Library/Preferences/a.b", "a.b"), ("~/Library/Preferences/a.b.plist", "a.b"),
            ("/Library/Preferences/.GlobalPreferences.plist", "NSGlobalDomain"),
            ("a.b@host", "a.b@host"), ("NSGlobalDomain", "NSGlobalDomain"), ("a.b", "a.b"),
        ])
    func spellings(word: String, name: String) throws {
        #expect(try DomainWord(word).name == name)
    }

    @Test(
        "are not words that begin with a hyphen, and not other paths",
        arguments: [
            "-x", "-", "--", "-x.plist", "-app.plist", "./a.plist", "~/a.b", "~", ".plist", "/a",
        ])
    func refused(word: String) {
        #expect(throws: ToolError.self) { try DomainWord(word) }
    }

    @Test("that earlier versions stored with a hyphen can be read and removed, but not written")
    func earlier() throws {
        #expect(try CommandWords.arranged(["delete", "--", "-x"]) == ["delete", "--", "-x"])
        #expect(throws: ToolError.self) { try CommandWords.arranged(["delete", "-x"]) }
        #expect(throws: ToolError.self) {
            try CommandWords.arranged(["write", "--", "-x", "k", "1"])
        }
        #expect(throws: ToolError.self) { try CommandWords.arranged(["import", "--", "-x", "f"]) }
    }

    @Test("are known in verbs whose domains come after other words, and not in their keys")
    func laterDomains() throws {
        let words = ["roam", "add", "-g", "--only", "-g"]
        #expect(
            try DomainWord.replacingFlags(in: words, exceptAfter: ["--only"])
                == ["roam", "add", "NSGlobalDomain", "--only", "-g"])
        #expect(try ["a.b.plist", "a.*", "*"].domainNames() == ["a.b", "a.*", "*"])
    }
}
