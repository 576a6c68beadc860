import DconfFiles
import TestSupport
import Testing

@Suite struct SettingsPathTests {
    private static let longPath = "/" + String(repeating: "e123456789/", count: 25)

    /// The table of the GSettings module's tests, and the paths at the edges of the rule.
    private static let paths: [(path: String, domain: String, key: String)] = [
        ("/org/gnome/desktop/interface/font-name", "org.gnome.desktop.interface", "font-name"),
        ("/org/gnome/legacy/profiles:/:1-2/number", "org.gnome.legacy", "profiles:/:1-2/number"),
        ("/a/number", "a", "number"),
        ("/number", "GSettings", "/number"),
        ("/x:y/z/number", "GSettings", "/x:y/z/number"),
        ("/NSGlobalDomain/number", "GSettings", "/NSGlobalDomain/number"),
        ("/NSGlobalDomain/a/number", "NSGlobalDomain.a", "number"),
        ("/nsglobaldomain/number", "nsglobaldomain", "number"),
        ("/GSettings/number", "GSettings", "number"),
        ("/a.b/number", "GSettings", "/a.b/number"),
        ("/a/b.c/number", "a", "b.c/number"),
        ("/a/é", "a", "é"),
        (
            longPath + "number", Array(repeating: "e123456789", count: 18).joined(separator: "."),
            String(repeating: "e123456789/", count: 7) + "number"
        ),
        (element(200) + "/n", String(element(200).dropFirst()), "n"),
        (element(201) + "/n", "GSettings", element(201) + "/n"),
        ("/a/" + name(1024), "a", name(1024)),
    ]

    private static func element(_ count: Int) -> String { "/" + name(count) }
    private static func name(_ count: Int) -> String { String(repeating: "e", count: count) }

    @Test(arguments: paths)
    func `A path has a domain and a key, and they have the path`(
        path: String, domain: String, key: String
    ) throws {
        let divided = try #require(SettingsPath(path))
        #expect(divided.domain == domain)
        #expect(divided.key == key)
        #expect(divided.path == path)
        #expect(SettingsPath(domain: domain, key: key) == divided)
    }

    @Test(arguments: [
        "", "/", "a", "a/b", "/a/", "/a//b", "//a", "/a/b\0", "/a/" + name(1025), "/" + name(1024),
    ])
    func `Other texts are no paths of a key`(path: String) {
        #expect(SettingsPath(path) == nil)
    }

    @Test(arguments: [
        ("NSGlobalDomain", "a"), ("org.gnome", "desktop/font"), ("", "a"), ("a", ""), ("a", "/b"),
        ("a", "b/"), ("a", "b//c"), ("GSettings", "/a/b"), ("GSettings", "//a"), ("a..b", "c"),
        ("a/b", "c"), ("é", "a"), (name(201), "n"), ("GSettings", "a/b"),
    ])
    func `Other domains and keys have no path`(domain: String, key: String) {
        #expect(SettingsPath(domain: domain, key: key) == nil)
    }

    @Test func `No two paths have the same domain and key`() throws {
        var places: [[String]: String] = [:]
        let parts = ["/", "/", "a", "b", "GSettings", "NSGlobalDomain", ":", "."]
        var random = SeededGenerator()
        for _ in 0..<20_000 {
            let path = (0..<Int.random(in: 1..<8, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }
            guard let divided = SettingsPath(path.joined()) else { continue }
            let known = places.updateValue(divided.path, forKey: [divided.domain, divided.key])
            try #require(known == nil || known == divided.path)
            try #require(SettingsPath(domain: divided.domain, key: divided.key) == divided)
        }
        #expect(places.count > 100)
    }
}
