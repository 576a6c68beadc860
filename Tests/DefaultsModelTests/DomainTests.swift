import DefaultsModel
import TestSupport
import Testing

@Suite struct DomainTests {
    private static let host = HostID("0123456789abcdef0123456789abcdef") ?? .localhost
    private static let hosts = HostNames(of: Host(id: host, name: "here"))

    @Test(
        "A domain is parsed, and its spelling gives it back",
        arguments: [
            ("NSGlobalDomain", "NSGlobalDomain", Layer.domain),
            ("org.example.Editor", "org.example.Editor", .domain),
            ("a-b_C.9", "a-b_C.9", .domain),
            ("9", "9", .domain),
            ("org.example@host", "org.example", .host(host)),
            ("org.example@host:other.box_1-a", "org.example", .host(HostID("other.box_1-a")!)),
            ("org.example@managed", "org.example", .managed),
            ("org.example@system", "org.example", .system),
        ])
    func parses(text: String, name: String, layer: Layer) throws {
        let domain = try Domain(text, on: Self.hosts)
        #expect(domain.name == name)
        #expect(domain.layer == layer)
        #expect(domain.spelling(on: Self.hosts) == text)
        #expect(try Domain(domain.description, on: .localhost) == domain)
    }

    @Test("This machine's name means the same layer as @host")
    func hostByName() throws {
        let named = try Domain("a@host:\(Self.host)", on: Self.hosts)
        #expect(try named == Domain("a@host", on: Self.hosts))
        #expect(named.spelling(on: Self.hosts) == "a@host")
        #expect(named.description == "a@host:\(Self.host)")
    }

    @Test(
        "An invalid domain is refused with the byte of the fault and the reason",
        arguments: [
            ("", 0, "it has no name"),
            ("@host", 0, "it has no name"),
            (".", 0, "a name cannot begin with a dot"),
            (".a", 0, "a name cannot begin with a dot. Put single dots between elements."),
            (".a@host", 0, "a name cannot begin with a dot"),
            ("a..b", 2, "it has two dots in a row, the second at byte 2. Put single dots between"),
            ("a.b.", 4, "a name cannot end with a dot"),
            ("a.b.@host", 4, "a name cannot end with a dot"),
            ("org.exa mple", 7, "' ' at byte 7"),
            ("org/example", 3, "'/' at byte 3"),
            ("a.é", 2, "'é' at byte 2"),
            ("a\u{301}", 1, "at byte 1"),
            ("a\nb", 1, "'\\u{a}' at byte 1"),
            ("a\0", 1, "'\\u{0}' at byte 1"),
            ("a@", 1, "suffix at byte 1"),
            ("a@hosts", 1, "suffix at byte 1"),
            ("a@Host", 1, "suffix at byte 1"),
            ("a@managed.b", 1, "suffix at byte 1"),
            ("a@host@host", 1, "suffix at byte 1"),
            ("a@host:", 7, "from byte 7"),
            ("a@host:b c", 7, "from byte 7"),
            ("a@host:b@host", 7, "from byte 7"),
            ("a@host:" + String(repeating: "h", count: 65), 7, "from byte 7"),
        ])
    func refuses(text: String, offset: Int, reason: String) throws {
        let error = #expect(throws: ModelError.self) { try Domain(text, on: Self.hosts) }
        #expect(error?.code == .invalidDomain)
        #expect(error?.offset == offset)
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("\n") == false)
    }

    @Test("A name has at most 255 bytes, without the suffix")
    func length() throws {
        let longest = String(repeating: "a.", count: 127) + "b"
        #expect(longest.utf8.count == 255)
        #expect(try Domain("\(longest)@host", on: Self.hosts).name == longest)
        let error = #expect(throws: ModelError.self) {
            try Domain("\(longest)b@host", on: Self.hosts)
        }
        #expect(error?.offset == 255)
        #expect(error?.description.contains("256 bytes, and at most 255 are allowed") == true)
    }

    @Test("A message about a very long domain is short")
    func longMessage() throws {
        let error = #expect(throws: ModelError.self) {
            try Domain(String(repeating: "x", count: 1 << 20), on: Self.hosts)
        }
        #expect((error?.description.utf8.count ?? .max) < 300)
    }

    @Test("Domains are ordered by the bytes of their names, then by their layers")
    func order() throws {
        let texts = ["B", "a", "a@host:x", "a@host:y", "a-b", "a.b", "aa", "b"]
        let domains = try texts.map { try Domain($0, on: Self.hosts) }
        var random = SeededGenerator()
        #expect(domains.shuffled(using: &random).sorted() == domains)
    }
}
