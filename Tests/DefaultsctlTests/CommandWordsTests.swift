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
}
