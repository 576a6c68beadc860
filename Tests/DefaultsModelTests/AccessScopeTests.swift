import Testing

@testable import DefaultsModel

/// What a program in a sandbox may use.
@Suite struct AccessScopeTests {
    private func domain(_ name: String, _ layer: Layer = .domain) throws -> Domain {
        try Domain(name: name, layer: layer)
    }

    @Test(arguments: [
        ("a.b.*", ["a.b", "a.b.c", "a.b.c.d"], ["a", "a.bc", "a.b-c.d", "A.b", "x.a.b"]),
        ("a.b", ["a.b"], ["a.b.c", "a", "a.bb"]),
        ("*", ["a", "a.b", "NSGlobalDomain"], []),
    ])
    func `A pattern covers a domain, and with an asterisk all below it`(
        text: String, covered: [String], others: [String]
    ) throws {
        let pattern = try DomainPattern(text)
        #expect(pattern.description == text)
        for name in covered { #expect(pattern.covers(name), "\(name)") }
        for name in others { #expect(!pattern.covers(name), "\(name)") }
    }

    @Test(arguments: ["", ".*", "a.", "a..*", "*.a", "a*", "a.b@host", "a b", "**", "a.*.*"])
    func `What is no pattern is refused`(text: String) {
        #expect(throws: ModelError.self) { try DomainPattern(text) }
    }

    @Test func `An application has its own domains in every layer, and reads the global one`()
        throws
    {
        let scope = AccessScope(ofApplication: "org.example.App")
        for layer in [Layer.domain, .managed, .system] {
            for own in ["org.example.App", "org.example.App.Helper"] {
                #expect(try scope.mayRead(domain(own, layer)))
                #expect(try scope.mayChange(domain(own, layer)))
            }
            #expect(try scope.mayRead(domain("NSGlobalDomain", layer)))
            #expect(try !scope.mayChange(domain("NSGlobalDomain", layer)))
            for other in ["org.example", "org.example.Application", "org.defaultsd.Grants"] {
                #expect(try !scope.mayRead(domain(other, layer)))
                #expect(try !scope.mayChange(domain(other, layer)))
            }
        }
    }

    @Test(arguments: [nil, "", "a@host", "a b", "*"])
    func `Without a known application nothing is its own`(application: String?) throws {
        let scope = AccessScope(ofApplication: application)
        #expect(scope == AccessScope(ofApplication: nil))
        #expect(try !scope.mayRead(domain("a")))
        #expect(try scope.mayRead(domain("NSGlobalDomain")))
    }

    @Test func `Grants add to that, but never the right to grant`() throws {
        var scope = AccessScope(ofApplication: "org.example.App")
        scope.grant(reading: [try DomainPattern("a.*")], changing: [try DomainPattern("b")])
        #expect(try scope.mayRead(domain("a.b")) && !scope.mayChange(domain("a.b")))
        #expect(try scope.mayRead(domain("b")) && scope.mayChange(domain("b")))
        #expect(try !scope.mayRead(domain("b.c")))
        scope.grant(reading: [], changing: [try DomainPattern("*")])
        #expect(try scope.mayChange(domain("NSGlobalDomain")))
        #expect(try scope.mayRead(domain("org.defaultsd.Grants")))
        #expect(try !scope.mayChange(domain("org.defaultsd.Grants")))
        // An application of this name has no more rights.
        let named = AccessScope(ofApplication: "org.defaultsd")
        #expect(try !named.mayChange(domain("org.defaultsd.Grants")))
    }
}
