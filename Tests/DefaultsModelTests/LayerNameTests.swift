import DefaultsTerms
import Testing

/// The names of layers are part of the contract, whatever the cases are called here.
@Suite struct LayerNameTests {
    @Test func `The layers have the contract's names, the strongest first`() {
        #expect(LayerName.allCases.map(\.rawValue) == ["managed", "host", "domain", "system"])
        #expect(LayerName.allCases.map(\.index) == [0, 1, 2, 3])
    }

    @Test func `A suffix exists for every layer but the user's own`() {
        let spellings = LayerName.allCases.map { $0.spelling(of: "org.example.App") }
        #expect(
            spellings == [
                "org.example.App@managed", "org.example.App@host", "org.example.App",
                "org.example.App@system",
            ])
        #expect(LayerName.suffix(ofHost: "desk") == "@host:desk")
        #expect(spellings.map(LayerName.isReadOnly) == [true, false, false, true])
    }

    @Test func `The search order has the contract's names, the strongest first`() {
        let names = [
            "managed", "global-managed", "host", "domain", "global-host", "global", "system",
            "global-system",
        ]
        #expect(SearchPlace.order(of: "org.example.App").map(\.rawValue) == names)
        let global = SearchPlace.order(of: "NSGlobalDomain")
        #expect(global.map(\.rawValue) == ["managed", "host", "domain", "system"])
    }

    @Test(arguments: SearchPlace.allCases)
    func `A place is the domain's layer of that name`(place: SearchPlace) {
        #expect(SearchPlace(place.layer, isGlobal: place.isGlobal) == place)
        let domain = place.domain(of: "org.example.App")
        #expect(domain == (place.isGlobal ? "NSGlobalDomain" : "org.example.App"))
    }

    @Test(arguments: [("", false), ("k", true), ("a\0b", false)])
    func `A key has a name without NUL`(name: String, isAllowed: Bool) {
        #expect(KeyRule.allows(name) == isAllowed)
    }

    @Test func `A key has 1024 bytes at most`() {
        #expect(KeyRule.allows(String(repeating: "é", count: 512)))
        #expect(!KeyRule.allows(String(repeating: "é", count: 512) + "a"))
    }
}
