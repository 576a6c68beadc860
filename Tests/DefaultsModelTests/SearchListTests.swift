import DefaultsModel
import Testing

@Suite struct SearchListTests {
    private static let host = HostID("0123456789abcdef0123456789abcdef") ?? .localhost
    private static let hosts = HostNames(of: Host(id: host, name: "here"))

    /// The places as `name domain`, spelled for this machine.
    private func places(of text: String) throws -> [String] {
        SearchList(of: try Domain(ofApplication: text), on: Self.host).places.map {
            "\($0.name) \($0.domain.spelling(on: Self.hosts))"
        }
    }

    @Test(
        "The order is: administrator, user, system; in each, the application before all")
    func application() throws {
        #expect(
            try places(of: "org.example.App") == [
                "managed org.example.App@managed", "global-managed NSGlobalDomain@managed",
                "host org.example.App@host", "domain org.example.App",
                "global-host NSGlobalDomain@host", "global NSGlobalDomain",
                "system org.example.App@system", "global-system NSGlobalDomain@system",
            ])
    }

    @Test("The layers of the global domain are searched once, by their plain names")
    func globalDomain() throws {
        #expect(
            try places(of: "NSGlobalDomain") == [
                "managed NSGlobalDomain@managed", "host NSGlobalDomain@host",
                "domain NSGlobalDomain", "system NSGlobalDomain@system",
            ])
    }

    @Test("The global name in different letter case means an application")
    func lookalike() throws {
        #expect(try places(of: "nsglobaldomain").count == 8)
        #expect(try places(of: "NSGlobalDomain.a").count == 8)
    }

    @Test("Every layer of a domain has the same search list")
    func ofLayers() throws {
        let domain = try Domain(ofApplication: "org.example.App")
        let list = SearchList(of: domain, on: Self.host).places
        for layer in [Layer.managed, .system, .host(.localhost), .host(Self.host)] {
            #expect(SearchList(of: domain.inLayer(layer), on: Self.host).places == list)
        }
    }

    @Test(
        "A search needs the name of an application, and refuses a suffix at its byte",
        arguments: [
            ("org.example@host", 11), ("org.example@managed", 11), ("a@", 1), ("@host", 0),
            ("a@host:b", 1), ("NSGlobalDomain@system", 14), ("\u{E9}@host", 2),
        ])
    func suffix(text: String, offset: Int) throws {
        let error = #expect(throws: ModelError.self) { try Domain(ofApplication: text) }
        #expect(error?.code == .invalidDomain)
        #expect(error?.offset == offset)
    }

    @Test(
        "An invalid domain with a suffix is invalid without it",
        arguments: [("", 0), ("a..b", 2), ("a b", 1), ("a.", 2)])
    func noDomain(text: String, offset: Int) throws {
        let error = #expect(throws: ModelError.self) { try Domain(ofApplication: text) }
        #expect(error?.code == .invalidDomain)
        #expect(error?.offset == offset)
    }

    @Test("The name of an application is its domain layer")
    func ofApplication() throws {
        let domain = try Domain(ofApplication: "org.example.App")
        #expect(domain.name == "org.example.App")
        #expect(domain.layer == .domain)
    }
}
