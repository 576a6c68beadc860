import Foundation
import RoamingPostgres
import TestSupport
import TestTiers
import Testing

/// The page for administrators of a server.
@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct AdministratorPageTests {
    private static let page =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Documentation/roaming-server.md")

    @Test func `Each statement of the page works`() async throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let blocks = text.matches(of: /(?s)```sql\n(.*?)```/).map { String($0.1) }
        let statements = blocks.joined().components(separatedBy: ";\n")
            .filter { !$0.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty }
        #expect(statements.count > 10)
        let server = try await RoamingServer()
        let address = server.postgres.address()
        try await ServerSetup.addUser("ada", at: address, on: server.loop.loop)
        let machine = try server.machine(of: "ada")
        try await machine.meet()
        try await machine.push(edit("k", "1"))
        for statement in statements {
            let result = server.postgres.sql(statement)
            #expect(result.status == 0, "\(statement): \(result)")
        }
        let changed = try server.administer("SELECT largest_bytes FROM roam.account")
        #expect(changed == "\(1 << 30)\n")
        let connected = statements.filter { $0.contains("application_name =") }
        #expect(connected.count == 1)
        #expect(try server.administer(connected.first ?? "") == "1|1\n")
    }

    @Test func `The bounds that the page names are those of a new server`() async throws {
        let server = try await RoamingServer()
        let bounds = try server.administer(
            "SELECT largest_bytes >> 20, largest_keys, largest_value >> 20 FROM roam.setting")
        #expect(bounds == "256|100000|1\n")
    }
}
