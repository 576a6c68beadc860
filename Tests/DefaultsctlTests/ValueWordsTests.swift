import DomainForms
import KeyedArchive
import Testing

@testable import defaultsctl

/// The words of a value, as the tool reads them under each of its names.
@Suite("The words of a value") struct ValueWordsTests {
    /// The value of some words as JSON; nil if they are refused.
    private func json(_ words: [String], as program: ProgramName) -> String? {
        var value = ValueWords(words, for: program)
        guard case .value(let written)? = try? value.request() else { return nil }
        return try? written.archive().jsonText()
    }

    @Test(
        "that are not a number as a whole are refused; the name defaults stores what macOS would",
        arguments: [
            (["-int", "1e3"], "1"), (["-int", "3.99"], "3"), (["-integer", "0x1F"], "0"),
            (["-int", "15px"], "15"), (["-int", "1,000"], "1"), (["-int", "٣"], "0"),
            (["-int", "nan"], "0"), (["-int", "true"], "0"), (["-int", ""], "0"),
            (["-int", "--5"], "0"), (["-float", "0,5"], "0.0"), (["-float", "50%"], "50.0"),
            (["-float", "1.2.3"], "1.2"), (["-float", "0x1p3"], "0.0"), (["-float", "1d"], "1.0"),
            (["-float", "half"], "0.0"), (["-array", "-int", "1", "-int", "2x"], "[1,2]"),
            (["-dict", "a", "-float", "0,5"], #"{"a":0.0}"#),
        ])
    func notNumbers(words: [String], onMacOS: String) {
        #expect(json(words, as: .defaultsctl) == nil)
        #expect(json(words, as: .defaults) == onMacOS)
    }

    @Test(
        "that are a number are that number under both names",
        arguments: [
            (["-int", "+7"], "7"), (["-int", " 7\n"], "7"), (["-int", "-0"], "0"),
            (["-float", "1e3"], "1000.0"), (["-float", " .5 "], "0.5"),
            (["-float", "0e-999"], "0.0"),
            (["-float", "inf"], #"{"$real":"inf"}"#), (["-float", "-0.0"], "-0.0"),
        ])
    func numbers(words: [String], expected: String) {
        for program in [ProgramName.defaultsctl, .defaults] {
            #expect(json(words, as: program) == expected)
        }
    }

    @Test(
        "whose number would become infinity or zero are refused under both names",
        arguments: ["1e400", "-1e400", "1e-400", "-0.1e-999"])
    func lostReals(word: String) {
        for program in [ProgramName.defaultsctl, .defaults] {
            #expect(json(["-float", word], as: program) == nil)
        }
    }
}

@Suite("The words of a date") struct DateWordsTests {
    /// 2024-02-29 12:00:01 UTC, a Thursday.
    private static let moment = 730_900_801.0

    @Test(
        "may be in the form of mail, of HTTP, of date(1), and of people",
        arguments: [
            "Thu, 29 Feb 2024 12:00:01 +0000", "Thu, 29 Feb 2024 13:00:01 +0100 (CET)",
            "Thu, 29 Feb 2024 12:00:01 GMT", "29 Feb 2024 07:00:01 EST",
            "29 Feb 2024 05:00:01 PDT", "Thu Feb 29 12:00:01 UTC 2024",
            "Thu Feb 29 12:00:01 PM UTC 2024", "Thu 29 Feb 2024 12:00:01 PM UTC",
            "Thursday, February 29, 2024 12:00:01 Z", "2024-02-29 12:00:01+00:00",
            "2024-02-29T12:00:01,000000000+00:00", "29-Feb-2024 12:00:01 UTC",
            "Thu Feb 29 09:00:01 -03 2024", "Feb 29th 2024 12:00:01 GMT",
            "2024年 2月 29日 12:00:01 UTC",
        ])
    func forms(words: String) {
        // The month of the last one is one of the language, which may not be installed.
        if words.first == "2", words.contains("年"), DateNames.months(named: "2月").isEmpty { return }
        #expect(DateWords.read(words) == Self.moment)
    }

    @Test(
        "are not a date if something has no meaning, is there twice or contradicts the rest",
        arguments: [
            "Fri, 29 Feb 2024 12:00:01 +0000", "29 Feb 2024 12:00 XYZ", "29 Feb Mar 2024",
            "29 30 Feb 2024", "Feb 2024", "29 Feb", "29 Feb 24", "Thu Thu 29 Feb 2024",
            "29 Feb 2024 UTC UTC", "29 Feb 2024 2024-02-29", "Thu", "30 Feb 2024", "(UTC)",
            "29 Feb 2024 12:00 EST UTC",
        ])
    func noDates(words: String) {
        #expect(DateWords.read(words) == nil)
    }
}

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

@Suite("A suggestion") struct SpellingTests {
    @Test(
        "is made for a slip of a person",
        arguments: [
            ("org.example.Gaem", "org.example.Game"), ("org.exmaple.Game", "org.example.Game"),
            ("org.example.game", "org.example.Game"), ("orgexample.Game", "org.example.Game"),
            ("com.apple.doc", "com.apple.dock"), ("objec", "object"), ("--jsno", "--json"),
            ("--wiat", "--wait"), ("raed", "read"), ("lst", "list"), ("exprot", "export"),
            ("-currenthost", "-currentHost"), ("K", "k"), ("PlaySond", "PlaySound"),
        ])
    func near(word: String, meant: String) {
        #expect(Spelling.nearest(to: word, among: ["zzz", meant]) == meant)
    }

    @Test(
        "is not made for what nobody could have meant",
        arguments: [
            ("org.example.Nope", "org.example.Game"), ("--for", "--host"), ("--for", "--json"),
            ("com.example.a@host", "com.example.a"), ("tab1", "tab2"), ("k", "l"), ("ab", "ac"),
            ("org.example", "org.example.Game"), ("org.a.Thing", "com.a.Thing"), ("same", "same"),
            ("com.apple.dock", "com.apple.clock"), ("", "k"),
        ])
    func far(word: String, other: String) {
        #expect(Spelling.nearest(to: word, among: [other]) == nil)
    }

    @Test("of ArgumentParser is left out if it is not near")
    func ofLibrary() {
        #expect(
            Suggestion.checked("Unknown option '--for'. Did you mean '--host'?")
                == "Unknown option '--for'")
        let near = "Unknown option '--jsno'. Did you mean '--json'?"
        #expect(Suggestion.checked(near) == near)
        #expect(Suggestion.checked("Missing expected argument '<key>'").hasSuffix("'<key>'"))
    }
}

@Suite("The name of the program") struct ProgramNameTests {
    @Test("is that of the file by which it was called")
    func names() {
        #expect(ProgramName(ofPath: "/home/a/bin/defaults") == .defaults)
        #expect(ProgramName(ofPath: "defaults") == .defaults)
        #expect(ProgramName(ofPath: "/usr/bin/defaultsctl") == .defaultsctl)
        #expect(ProgramName(ofPath: "") == .defaultsctl)
    }

    @Test("decides whether a missing key is reported in our words or in those of macOS")
    func messages() {
        let error = ToolError.noPair("NSGlobalDomain@host", "k", meant: "K")
        #expect(
            error.text(as: .defaultsctl) == "defaultsctl: The domain/default pair of "
                + "(NSGlobalDomain@host, k) does not exist. Did you mean 'K'?\n")
        let text = error.text(as: .defaults)
        #expect(text.contains(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} defaults\[\d+:\d+\] \n/))
        #expect(
            text.hasSuffix(
                "\nThe domain/default pair of (kCFPreferencesAnyApplication, k) does not exist\n"))
        #expect(ToolError.noBackup("x").text(as: .defaults).hasPrefix("defaultsctl: "))
    }

    @Test("and the file decide the form of an export")
    func forms() {
        #expect(Export.form(of: "-", as: .defaultsctl) == .xml)
        #expect(Export.form(of: "a/x.json", as: .defaultsctl) == .json)
        #expect(Export.form(of: "x.JSON", as: .defaultsctl) == .json)
        #expect(Export.form(of: "x.xml", as: .defaultsctl) == .xml)
        #expect(Export.form(of: "x.plist", as: .defaultsctl) == .binary)
        #expect(Export.form(of: "dir.json/x", as: .defaultsctl) == .binary)
        #expect(Export.form(of: "json", as: .defaultsctl) == .binary)
        #expect(Export.form(of: "x.json", as: .defaults) == .binary)
    }
}

@Suite("The width of a terminal") struct TerminalWidthTests {
    private func line(_ new: String, _ old: String?, columns: Int?) throws -> String {
        func content(_ text: String?) throws -> WatchedChange.Content {
            try text.map { .value(try KeyedArchive(json: "\"\($0)\"")) } ?? .absent
        }
        let change = WatchedChange(
            of: "key", in: "a.b", from: try content(old), to: try content(new), at: 1, by: nil)
        return try ChangeForm.text.line(of: change, hasISODates: false, columns: columns)
    }

    @Test("cuts the values of a change, so that the rest can be read")
    func values() throws {
        let long = String(repeating: "x", count: 200)
        #expect(try line(long, "o", columns: nil).count > 200)
        #expect(try line("n", "o", columns: 40) == #"a.b key = "n" (was "o")"#)
        for (new, old) in [(long, "old"), ("new", long), (long, long)] {
            let cut = try line(new, old, columns: 40)
            #expect(cut.count == 40 && cut.hasSuffix(")") && cut.contains("…"), "\(cut)")
        }
        #expect(try line(long, "old", columns: 40).contains(#"(was "old")"#))
        #expect(try line(long, nil, columns: 40).hasSuffix("… (new)"))
        #expect(try line(long, long, columns: 5).terminalWidth == 5)
    }

    @Test("counts wide characters twice, and marks not at all")
    func wide() throws {
        #expect("日本".terminalWidth == 4 && "é".terminalWidth == 1 && "🎉".terminalWidth == 2)
        #expect("日本語".cut(toColumns: 4) == "日…" && "abc".cut(toColumns: 3) == "abc")
    }
}
