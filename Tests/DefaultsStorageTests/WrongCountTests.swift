import DefaultsModel
import TestTiers
import Testing

@testable import DefaultsStorage

/// A database with wrong counts of keys, as SQL by somebody else may leave it.
@Suite(.startsPrograms) struct WrongCountTests {
    private let domain = try? Domain("org.example.App", on: .localhost)

    private func damaged(by sql: String) async throws -> Scratch {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["a": [1], "b": [2]])
        try database.set(["c": [3]], in: "org.example.Other")
        try await database.flush()
        database.close()
        try scratch.execute(sql)
        return scratch
    }

    @Test(
        "Keys that are counted and missing, or there and not counted, are damage, not a trap",
        arguments: ["DELETE FROM entries", "UPDATE domains SET key_count = 0"])
    func told(_ sql: String) async throws {
        let domain = try #require(domain)
        let scratch = try await damaged(by: sql)
        let database = try scratch.open()
        let error = #expect(throws: StorageError.self) {
            try database.keysCheckedAgainstCount(of: domain)
        }
        #expect(error?.code == .damagedDatabase)
        try await database.repair()
        database.close()
        let again = try scratch.open()
        #expect(
            try again.keysCheckedAgainstCount(of: domain).count == (sql.hasPrefix("DELETE") ? 0 : 2)
        )
        #expect(
            (again.lastRepair?.report.contains("with unknown names are lost") == true)
                == sql.hasPrefix("DELETE"))
    }

    @Test(
        "An impossible count does not trap, in a check or in a repair",
        arguments: [Int64.min, -1, .max])
    func extreme(_ count: Int64) async throws {
        let scratch = try await damaged(
            by: "UPDATE domains SET key_count = \(count), key_bytes = \(count)")
        let database = try scratch.open()
        let check = StoreCheck(
            of: try StoreFile(path: database.path).connect(), path: database.path)
        while try check.advance() {}
        #expect(!check.damage.isNone)
        try database.set(["d": [4]], in: "org.example.New")
        try await database.flush()
        try await database.repair()
        database.close()
        let again = try scratch.open()
        #expect(try again.keysCheckedAgainstCount(of: #require(domain)).count == 2)
    }
}
