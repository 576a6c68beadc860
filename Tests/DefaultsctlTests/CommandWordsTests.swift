import Testing

@testable import defaultsctl

@Suite("The words of a command line") struct CommandWordsTests {
    @Test(
        "after a type are values, whatever they begin with",
        arguments: [
            (["-string", "--verbose"], ["-string", "--verbose"], []),
            (["-string", "--wait"], ["-string", "--wait"], []),
            (["-string", "--"], ["-string", "--"], []),
            (["-string", "--", "--x"], ["-string", "--x"], []),
            (["-string", "-h"], ["-string", "-h"], []),
            (["-data", "--changed", "--wait"], ["-data", "--changed"], ["--wait"]),
            (["-int", "5", "--wait"], ["-int", "5"], ["--wait"]),
            (["-bool", "--json"], ["-bool", "--json"], []),
            (["-date", "--path", "--path", "a"], ["-date", "--path"], ["--path=a"]),
            (["-array", "--a", "--wait"], ["-array", "--a", "--wait"], []),
            (["-array-add", "-string", "--x"], ["-array-add", "-string", "--x"], []),
            (["-dict", "--k", "--v"], ["-dict", "--k", "--v"], []),
            (["-dict-add", "k", "--", "--v"], ["-dict-add", "k", "--v"], []),
            (["word", "--wait"], ["word"], ["--wait"]),
        ])
    func values(words: [String], value: [String], options: [String]) throws {
        #expect(
            try CommandWords.arranged(["write", "a.b", "k"] + words)
                == ["write"] + options + ["--", "a.b", "k"] + value)
    }

    @Test("of a key that is named like a type are not a value")
    func keys() throws {
        #expect(
            try CommandWords.arranged(["write", "a.b", "-string", "-int", "5"])
                == ["write", "--", "a.b", "-string", "-int", "5"])
        #expect(
            try CommandWords.arranged(["read", "a.b", "-string", "--json"])
                == ["read", "--json", "--", "a.b", "-string"])
    }

    @Test(
        "that name a host too late are refused, and never a key or a value",
        arguments: [
            "write a.b k -currentHost", "write a.b k -currentHost -int 5", "write a.b k -host x",
            "write a.b k -int 5 -currentHost", "write a.b -currentHost k 5",
            "read a.b k -currentHost",
            "delete a.b -host x", "find word -currentHost",
        ])
    func lateHosts(line: String) throws {
        let error = #expect(throws: ToolError.self) {
            try CommandWords.arranged(line.split(separator: " ").map(String.init))
        }
        #expect(error?.message.contains("comes before the verb") == true, "\(line)")
        #expect(
            try CommandWords.arranged(["read", "a.b", "--", "-host"]) == [
                "read", "--", "a.b", "-host",
            ])
    }

    @Test("after two hyphens are a string if they begin with a hyphen")
    func hyphensAfterTerminator() throws {
        for word in ["-currentHost", "-foo", "--x", "-int"] {
            #expect(
                try CommandWords.arranged(["write", "a.b", "k", "--", word])
                    == ["write", "--", "a.b", "k", "-string", word])
        }
        #expect(
            try CommandWords.arranged(["write", "a.b", "k", "--", "-5"])
                == ["write", "--", "a.b", "k", "-5"])
    }
}
