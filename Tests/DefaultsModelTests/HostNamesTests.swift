import DefaultsModel
import Testing

/// The numbers in the names are those of the invariants of `HostNames`.
@Suite struct HostNamesTests {
    private static let box = id("0123456789abcdef0123456789abcdef")
    private static let far = id("11111111111111111111111111111111")
    private static let twin = id("22222222222222222222222222222222")
    private static let other = id("33333333333333333333333333333333")
    private static let odd = id("44444444444444444444444444444444")
    private static let nameless = id("55555555555555555555555555555555")

    private static let hosts = HostNames(
        of: Host(id: box, name: "box.example.org"),
        others: [
            Host(id: far, name: "far.example.org"), Host(id: twin, name: "twin"),
            Host(id: other, name: "twin"), Host(id: odd, name: "(none)"),
            Host(id: nameless, name: ""), Host(id: id("named"), name: "named"),
            Host(id: id("66666666666666666666666666666666"), name: "box"),
            Host(id: id("77777777777777777777777777777777"), name: "web"),
            Host(id: id("88888888888888888888888888888888"), name: "web.example.org"),
            Host(id: id("99999999999999999999999999999999"), name: "cut.example.org"),
            Host(id: id("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), name: "cut.example.net"),
        ])

    private static func id(_ text: String) -> HostID {
        guard let id = HostID(text) else { preconditionFailure("\(text) is an identity") }
        return id
    }

    private func layer(_ name: String) throws -> Layer {
        try Domain("a@host:\(name)", on: Self.hosts).layer
    }

    @Test(
        "A name means the machine that has it, and an identity means itself",
        arguments: [
            (box.name, box), ("box.example.org", box), ("box", box), (far.name, far),
            ("far.example.org", far), ("far", far), (twin.name, twin), (other.name, other),
            (nameless.name, nameless), ("named", id("named")),
            ("web", id("77777777777777777777777777777777")),
            ("web.example.org", id("88888888888888888888888888888888")),
            ("cut.example.net", id("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")),
            ("66666666666666666666666666666666", id("66666666666666666666666666666666")),
        ])
    func resolves(name: String, host: HostID) throws {
        #expect(try layer(name) == .host(host))
    }

    @Test(
        "A name that no machine has means itself, until a machine has it",
        arguments: [
            "nobody", "FAR", "far.example", "far.", "example.org", String(box.name.dropLast()),
        ])
    func literal(name: String) throws {
        #expect(try layer(name) == .host(Self.id(name)))
        #expect(Self.hosts.owner(of: Self.id(name)) == nil)
        #expect(
            try Domain("a@host:\(name)", on: Self.hosts).spelling(on: Self.hosts)
                == "a@host:\(name)")
    }

    @Test("2: a name of several other machines is refused with their identities")
    func ambiguous() throws {
        for (name, ids) in [
            ("twin", "\(Self.twin), \(Self.other)"),
            ("cut", "99999999999999999999999999999999, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ] {
            let error = #expect(throws: ModelError.self) { try layer(name) }
            #expect(error?.code == .invalidDomain)
            #expect(error?.offset == 7)
            #expect(error?.description.contains("2 machines have the name") == true)
            #expect(error?.description.contains(ids) == true, "\(error?.description ?? "")")
            #expect(Self.hosts.owner(of: Self.id(name)) == nil)
        }
    }

    @Test("2: a name of very many machines is refused with the identities of some")
    func crowd() throws {
        let others = (10..<99).map { Host(id: Self.id("id\($0)"), name: "clone") }
        let hosts = HostNames(of: Host(id: Self.box, name: "box"), others: others)
        let error = #expect(throws: ModelError.self) { try Domain("a@host:clone", on: hosts) }
        #expect(error?.description.contains("89 machines") == true)
        #expect(
            error?.description.hasSuffix("id10, id11, id12, id13, id14, id15, id16, id17, ….")
                == true)
    }

    @Test(
        "1: the spelling of a machine's layer gives the layer back, by name if possible",
        arguments: [
            (box, "a@host"), (far, "a@host:far.example.org"), (twin, "a@host:\(twin)"),
            (other, "a@host:\(other)"), (odd, "a@host:\(odd)"),
            (nameless, "a@host:\(nameless)"), (id("named"), "a@host:named"),
            (id("nobody"), "a@host:nobody"),
            (id("66666666666666666666666666666666"), "a@host:66666666666666666666666666666666"),
            (id("77777777777777777777777777777777"), "a@host:web"),
        ])
    func spelling(host: HostID, text: String) throws {
        let domain = try Domain(name: "a", layer: .host(host))
        #expect(domain.spelling(on: Self.hosts) == text)
        #expect(try Domain(text, on: Self.hosts) == domain)
    }

    @Test(
        "Values stored under a name belong to the machine that has it",
        arguments: [
            ("box.example.org", box), ("box", box), ("far", far), (box.name, nil), (far.name, nil),
            ("named", nil), ("nobody", nil), ("twin", nil),
        ] as [(String, HostID?)])
    func owner(name: String, owner: HostID?) {
        #expect(Self.hosts.owner(of: Self.id(name)) == owner)
    }

    @Test("A machine whose name was its identity has the values stored under that name")
    func earlierSelf() throws {
        let hosts = HostNames(
            of: Host(id: Self.box, name: "box"), others: [Host(id: Self.id("box"), name: "box")])
        #expect(hosts.owner(of: Self.id("box")) == Self.box)
        #expect(try Domain("a@host:box", on: hosts).layer == .host(Self.box))
    }

    @Test("A machine that is renamed keeps its layers and has the new name")
    func rename() throws {
        var hosts = Self.hosts
        hosts.rename(to: "new")
        #expect(try Domain("a@host:new", on: hosts).layer == .host(Self.box))
        #expect(try Domain("a@host", on: hosts).layer == .host(Self.box))
        #expect(try Domain("a@host:box.example.org", on: hosts).layer != .host(Self.box))
    }

    @Test("A machine's own row among the others is ignored")
    func ownRow() throws {
        let hosts = HostNames(
            of: Host(id: Self.box, name: "new"), others: [Host(id: Self.box, name: "old")])
        #expect(hosts.others.isEmpty)
        #expect(hosts.name(of: Self.box) == "new")
    }
}
