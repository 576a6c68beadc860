import Testing

@testable import defaultsctl

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
