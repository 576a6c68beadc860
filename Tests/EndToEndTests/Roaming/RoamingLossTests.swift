import Foundation
import TestSupport
import TestTiers
import Testing

/// Rare ways in which a value could be lost between two machines.
@Suite(.startsPrograms) struct RoamingLossTests {
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

    @Test func `What a damaged database has lost comes back from the other machine`() throws {
        try enable()
        let fill = """
            import json
            print(json.dumps({f"key{number:03}": f"value {number} " * 40 for number in range(400)}))
            """
        let values = laptop.desktop.directory.path + "/values.json"
        try ProgramResult.run(["/usr/bin/python3", "-c", fill]).requireOutput()
            .write(toFile: values, atomically: true, encoding: .utf8)
        try laptop.desktop.tool("import", "org.example.Editor", values).requireOutput()
        try laptop.roam("now")
        try tower.waitUntil("org.example.Editor", "key399", is: text(of: 399))
        try laptop.roam("pause")
        _ = try laptop.desktop.waitForDailyBackup()
        try FileManager.default.removeItem(atPath: laptop.desktop.backupsPath)
        try laptop.desktop.zeroPages()
        let whole = keys(on: tower)
        #expect(whole.count == 401)
        #expect(keys(on: laptop).count < 401)
        try laptop.roam("resume")
        try laptop.roam("now")
        #expect(keys(on: laptop) == whole)
        try tower.roam("now")
        #expect(keys(on: tower) == whole)
        for number in [0, 123, 399] {
            let key = String(format: "key%03d", number)
            #expect(laptop.read("org.example.Editor", key) == text(of: number))
        }
        #expect(try laptop.roam("conflicts") == "" && tower.roam("conflicts") == "")
    }

    private func text(of number: Int) -> String {
        String(repeating: "value \(number) ", count: 40)
    }

    private func keys(on machine: RoamingDesktop) -> Set<Substring> {
        Set(machine.desktop.tool("keys", "org.example.Editor").output.split(separator: "\n"))
    }
}
