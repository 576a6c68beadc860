import Foundation
import TestSupport
import Testing

/// Rare ways in which a value could be lost between two machines.
@Suite struct RoamingLossTests {
    let shared: TemporaryDirectory
    let laptop: RoamingDesktop
    let tower: RoamingDesktop

    init() throws { (shared, laptop, tower) = try RoamingDesktop.pair() }

    private func enable() throws {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor")
        try laptop.write("org.example.Editor", "Font", "Mono")
        try laptop.roam("now")
        try tower.enable()
        try tower.waitUntil("org.example.Editor", "Font", is: "Mono")
    }

    @Test func `A value with a very long key is kept if it loses, and can be taken back`() throws {
        let key = String(repeating: "Long", count: 256)
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor")
        try laptop.write("org.example.Editor", key, "Mono")
        try laptop.roam("now")
        try tower.write("org.example.Editor", key, "Serif")
        try tower.enable()
        try tower.waitUntil("org.example.Editor", key, is: "Mono")
        let listed = try tower.roam("conflicts")
        #expect(listed.contains("lost    \"Serif\""), "\(listed)")
        let name = try #require(listed.split(separator: " ").first.map(String.init))
        try tower.roam("conflicts", "--restore", name)
        try laptop.waitUntil("org.example.Editor", key, is: "Serif")
        #expect(try tower.roam("conflicts") == "")
    }

    @Test func `A removal is sent, even if another choice is made before that`() throws {
        try enable()
        try laptop.roam("pause")
        try laptop.desktop.tool("delete", "org.example.Editor", "Font").requireOutput()
        try laptop.roam("add", "org.example.Other")
        try laptop.roam("resume")
        try tower.waitUntil("org.example.Editor", "Font", is: nil)
        #expect(laptop.read("org.example.Editor", "Font") == nil)
    }

    @Test func `What others chose while a machine was off arrives there`() throws {
        try enable()
        try tower.roam("pause")
        try laptop.roam("add", "org.example.Other")
        try laptop.write("org.example.Other", "Font", "Thin")
        try laptop.roam("now")
        try tower.roam("resume")
        try tower.waitUntil("org.example.Other", "Font", is: "Thin")
    }

    @Test func `A place that cannot be used does not replace the one that is`() throws {
        try enable()
        let place = laptop.desktop.tool("roam", "status", "--json").output
        #expect(
            laptop.refusal("enable", "--directory", "/nonexistent/place").contains("/nonexistent"))
        try laptop.write("org.example.Editor", "Font", "Serif")
        try tower.waitUntil("org.example.Editor", "Font", is: "Serif")
        #expect(try laptop.roam("conflicts") == "" && tower.roam("conflicts") == "")
        #expect(
            place.contains(shared.path)
                && laptop.desktop.tool("roam", "status").output.contains(shared.path))
        #expect(try laptop.roam("machines").split(separator: "\n").count == 2)
    }

    @Test func `A lock here keeps nothing else from being exchanged`() throws {
        try enable()
        try laptop.roam("add", "org.example.Other")
        try laptop.write("org.example.Other", "Font", "Thin")
        try tower.waitUntil("org.example.Other", "Font", is: "Thin")
        let managed = "org.example.Other.json"
        try tower.desktop.write(#"{"$locked": ["Font"]}"#, to: managed, in: .managed)
        try wait { tower.desktop.tool("locked", "org.example.Other").output.contains("Font") }
        try laptop.write("org.example.Other", "Font", "Thick")
        try laptop.write("org.example.Editor", "Font", "Serif")
        try tower.waitUntil("org.example.Editor", "Font", is: "Serif")
        try tower.write("org.example.Editor", "Theme", "Dark")
        try laptop.waitUntil("org.example.Editor", "Theme", is: "Dark")
        try wait { try tower.roam("status").contains("Font") }
        try tower.desktop.remove(managed, in: .managed)
        try tower.waitUntil("org.example.Other", "Font", is: "Thick")
    }
}
