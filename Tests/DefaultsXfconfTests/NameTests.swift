import DBus
import DefaultsModel
import DefaultsXfconf
import Testing

/// Channels as domains, and properties as keys.
struct NameTests {
    @Test(arguments: [
        ("xfce4-panel", "xfconf.xfce4-panel"), ("a.b", "xfconf.a_2Eb"), (".", "xfconf._2E"),
        ("..", "xfconf._2E_2E"), ("a_b", "xfconf.a_5Fb"), ("_2E", "xfconf._5F2E"),
        ("{}|,[].:_-", "xfconf._7B_7D_7C_2C_5B_5D_2E_3A_5F-"), ("0", "xfconf.0"),
    ])
    func `A channel has one domain, which leads back to it`(name: String, domain: String) throws {
        #expect(try ChannelName(name).domain == domain)
        #expect(ChannelName(domain: domain)?.description == name)
        #expect(throws: Never.self) { try Domain(name: domain, layer: .system) }
    }

    @Test(arguments: ["", "a b", "a/b", "é", "<x>", "a@b", "a+b", "a\0", "*", "a\n"])
    func `What no channel of Xfconf can have is refused`(name: String) {
        let error = #expect(throws: XfconfError.self) { try ChannelName(name) }
        #expect(error?.errorName == "org.xfce.Xfconf.Error.InvalidChannel")
    }

    @Test func `A channel is as long as a domain can be`() throws {
        let most = 255 - "xfconf.".utf8.count
        #expect(try ChannelName(String(repeating: "a", count: most)).domain.utf8.count == 255)
        for name in [String(repeating: "a", count: most + 1), String(repeating: ".", count: 83)] {
            let error = #expect(throws: XfconfError.self) { try ChannelName(name) }
            #expect(error?.code == .invalidChannel)
        }
    }

    @Test(arguments: [
        "xfconf", "xfconf.", "org.xfconf.a", "xfconf.a.b", "xfconf._", "xfconf._2", "xfconf._2e",
        "xfconf._41", "xfconf._+1", "xfconf.a@managed", "NSGlobalDomain", "xfconf._20",
        "xfconf._FF",
    ])
    func `A domain with another spelling is no channel`(domain: String) {
        #expect(ChannelName(domain: domain) == nil)
    }

    @Test(arguments: ["/a", "/a/b", "/commands/custom/<Primary>Escape", "/{}|,[].:_-", "/0"])
    func `A property is a key as it is`(name: String) throws {
        #expect(try PropertyName.key(name) == Key(name))
        #expect(PropertyName.isProperty(try Key(name)))
    }

    @Test(arguments: [
        "", "a", "/", "//", "/a/", "/a//b", "/a b", "/é", "/a@b", "/a'b", "/a\"b", "/a&b", "/a*",
        "/a\\b", "/a?b", "/a+b", "/a=b", "/a;b", "/a(b)", "/a\0",
    ])
    func `What no property of Xfconf can have is refused`(name: String) {
        let error = #expect(throws: XfconfError.self) { try PropertyName.key(name) }
        #expect(error?.errorName == "org.xfce.Xfconf.Error.InvalidProperty")
    }

    @Test func `A property is as long as a key can be`() throws {
        #expect(throws: Never.self) {
            try PropertyName.key("/" + String(repeating: "a", count: 1023))
        }
        let error = #expect(throws: XfconfError.self) {
            try PropertyName.key("/" + String(repeating: "a", count: 1024))
        }
        #expect(error?.code == .invalidProperty)
    }

    @Test func `A base covers itself and what is below it`() throws {
        let keys = try ["/a", "/a/b", "/a/b/c", "/ab", "/b", "a", "/"].map { try Key($0) }
        let covered = { (base: String) in
            let base = try PropertyBase(base)
            return keys.filter(base.covers).map(\.name)
        }
        #expect(try covered("/") == ["/a", "/a/b", "/a/b/c", "/ab", "/b"])
        #expect(try covered("") == covered("/"))
        #expect(try covered("/a") == ["/a", "/a/b", "/a/b/c"])
        #expect(try covered("/a/b") == ["/a/b", "/a/b/c"])
        #expect(throws: XfconfError.self) { try PropertyBase("/a/") }
    }
}
