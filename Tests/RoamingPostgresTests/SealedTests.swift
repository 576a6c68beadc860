import DefaultsRoaming
import Foundation
import RoamingPostgres
import TestSupport
import TestTiers
import Testing

/// What a server learns of values that are encrypted before they come.
@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct SealedTests {
    private func keys(_ count: Int, named name: String) -> [Edit] {
        (0..<count).map { number in
            Edit(
                key: RoamingKey(domain: "org.example.Cinnamon", name: "\(name)\(number)"),
                archive: Array("marzipan \(number)".utf8), age: .zero, base: nil,
                earliest: .unknown)
        }
    }

    /// Which of some words are in the files of a server that does not run.
    private func words(_ words: [String], inFilesOf copy: String) throws -> Set<String> {
        var found: Set<String> = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: copy) {
            guard let data = try? Data(contentsOf: URL(filePath: copy + "/" + name)) else {
                continue
            }
            for word in words where data.range(of: Data(word.utf8)) != nil { found.insert(word) }
        }
        return found
    }

    @Test func `Of 1 000 values, no name and no value is in a dump, a file or the log of changes`()
        async throws
    {
        let server = try await RoamingServer()
        let user = try await server.newUser()
        let key = MasterKey.random()
        let inner = try server.machine(of: user).engine
        let engine = SealedEngine(inner, on: server.loop.loop) { _ in key }
        _ = try await engine.meet(.random(), named: "gingerbread", known: nil, lastBatch: nil)
        for number in 1...2 {
            // The second time, all of them lose.
            _ = try await engine.push(
                Batch(
                    number: UInt64(number), nonce: ReplicaID.random().bytes,
                    edits: keys(1000, named: "nutmeg")))
        }
        let page = try await engine.pull(after: 0, limit: 2000)
        #expect(page.versions.count == 1000)
        #expect(page.versions.contains { $0.key.name == "nutmeg999" })
        #expect(try await engine.machines().map(\.name) == ["gingerbread"])

        // What is not encrypted is found.
        let plain = try server.machine(of: try await server.newUser())
        try await plain.meet()
        try await plain.push(edit("pistachio", "walnut"))

        let secrets = ["Cinnamon", "nutmeg", "marzipan", "gingerbread"]
        let dump = try PostgresServer.run("pg_dump", [server.postgres.address()])
        #expect(dump.contains("pistachio"))
        #expect(secrets.filter(dump.contains) == [])
        try server.postgres.stop(.fast)
        let copy = try server.postgres.backUp(as: "copy")
        #expect(try words(secrets + ["pistachio"], inFilesOf: copy) == ["pistachio"])
        #expect(try words(["pistachio"], inFilesOf: copy + "/pg_wal") == ["pistachio"])
    }
}
