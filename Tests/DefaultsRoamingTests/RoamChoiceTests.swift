import KeyedArchive
import RoamingTerms
import Testing

@Suite struct RoamChoiceTests {
    private func choice(_ entries: [String: KeyedArchive]) -> RoamChoice {
        RoamChoice(entries.map { ($0.key, $0.value) })
    }

    private func archive(_ value: some Encodable) throws -> KeyedArchive {
        try KeyedArchiveEncoder().encode(value)
    }

    @Test func `A domain without a rule stays`() {
        let choice = choice([:])
        #expect(!choice.covers("Key", of: "org.example.App"))
        #expect(choice.isEmpty)
    }

    @Test func `The choice itself and what lost always roam, but not what is about this machine`() {
        let choice = choice([:])
        #expect(choice.covers("org.example.App", of: RoamTerms.domain))
        #expect(choice.covers("a/b/c", of: RoamTerms.conflicts))
        for key in RoamTerms.settings { #expect(!choice.covers(key, of: RoamTerms.domain)) }
    }

    @Test func `Rights never roam`() throws {
        let choice = choice(["*": try archive(true)])
        for domain in RoamTerms.never { #expect(!choice.covers("Key", of: domain)) }
        #expect(choice.covers("Key", of: "anything"))
    }

    @Test func `The nearest rule decides`() throws {
        let choice = choice([
            "*": try archive(true), "org.example.*": try archive(false),
            "org.example.app.*": try archive(true), "org.example.app.x": try archive(false),
        ])
        #expect(choice.covers("Key", of: "com.example"))
        #expect(!choice.covers("Key", of: "org.example.other"))
        #expect(choice.covers("Key", of: "org.example"))
        #expect(choice.covers("Key", of: "org.example.app.y.z"))
        #expect(!choice.covers("Key", of: "org.example.app.x"))
    }

    @Test func `Lists say which keys`() throws {
        let choice = choice([
            "a": try archive(["only": ["Font", "Color*"], "except": ["ColorOfScreen"]]),
            "b": try archive(["except": ["Window*"]]),
        ])
        for (key, domain, roams) in [
            ("Font", "a", true), ("Fonts", "a", false), ("Color", "a", true), ("ColorX", "a", true),
            ("ColorOfScreen", "a", false), ("Window", "b", false), ("Windows", "b", false),
            ("window", "b", true),
        ] {
            #expect(choice.covers(key, of: domain) == roams, "\(key) of \(domain)")
        }
    }

    @Test func `A value that says nothing is named, and the others count`() throws {
        let choice = choice([
            "a": try archive("yes"), "b c": try archive(true), "d": try archive(true),
            "e": try archive(["other": ["Key"]]),
        ])
        #expect(choice.rules.keys.sorted() == ["d"])
        #expect(choice.faults.map(\.key).sorted() == ["a", "b c", "e"])
    }

    @Test(arguments: [
        RoamChoice.Rule.all, .nothing, .init(only: ["a"], except: []),
        .init(only: nil, except: ["b*"]),
        .init(only: ["a", "b*"], except: ["c"]),
    ])
    func `A rule is the same when it was stored`(rule: RoamChoice.Rule) throws {
        #expect(RoamChoice.rule(in: try rule.archive()) == rule)
    }

    @Test func `The name of a loser leads back to its key`() {
        let loser = KeptLoser(
            domain: "org.example.App", key: "path/with/slashes", name: "17-1f0c22ab")
        #expect(KeptLoser(valueKey: loser.valueKey) == loser)
        #expect(KeptLoser(valueKey: "no-slash") == nil)
    }

    @Test func `A loser with long names has a key that can be stored, or none that is one`() {
        let long = String(repeating: "k", count: 1024)
        #expect(KeptLoser(domain: "a", key: long, name: "1").aboutKey.utf8.count == 1024)
        #expect(KeptLoser(valueKey: "a/k/\(long.dropLast(4))") == nil)
        #expect(KeptLoser(domain: "a", key: "k", name: long).valueKey == "a//\(long)")
    }

    @Test(arguments: [
        "bad domain/k/1", "a@host/k/1", "org.defaultsd.Roam@host/Server/1",
        "org.defaultsd.Roam/Server/1", "org.defaultsd.Grants/a/1",
        "org.defaultsd.RoamKey/Wrapped/1", "a//1", "a/k/", "/k/1", "a/k/about", "a/\0/1",
    ])
    func `A key that names what never roams is no loser`(key: String) {
        #expect(KeptLoser(valueKey: key) == nil)
    }
}
