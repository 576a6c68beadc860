import DBus
import DefaultsProtocol
import Foundation
import Glibc
import Testing

@testable import ServiceHarness

/// A store that is damaged between two processes, and has no backups.
@Suite struct DamageTests {
    private let app = "org.example.App"
    private let count = 200

    /// Starts a service with values, and damages its store before the next one starts.
    private func withDamage(
        _ damage: (TestPlace) throws -> Void,
        _ body: (TestCaller, TestService) async throws -> Void
    ) async throws {
        try await withCaller { caller, service in
            let keys = (0..<count).map { "key\($0)" }
            let values = (0..<count).map { number in
                Value.string(String(repeating: "value \(number) ", count: 20))
            }
            try await caller.call(
                Contract.ApplyValues.self,
                .init(domain: app, set: Array(zip(keys, values))))
            try await caller.synchronize()
            try await service.restart {
                try service.files.removeBackups()
                try damage(service.files)
            }
            try await body(service.caller(), service)
        }
    }

    /// What the status says about the last repair.
    private func report(_ caller: TestCaller) async throws -> String {
        let facts = try await caller.call(Contract.GetStatistics.self, ())
        guard case .string(let report) = facts[.lastRepair] else { return "" }
        return report
    }

    @Test func `RemoveDomain of a domain whose rows are gone answers, and it is reported`()
        async throws
    {
        try await withDamage {
            try $0.removeRows()
        } _: { caller, service in
            try await caller.removeDomain(app)
            #expect(service.log(containing: "gives up").isEmpty)
            #expect(try await caller.domains().isEmpty)
            let report = try await report(caller)
            #expect(report.contains("its recorded count for org.example.App is wrong"))
            #expect(report.contains("200 keys with unknown names are lost."))
        }
    }

    @Test func `A lost value is reported by name, and all other callers continue`() async throws {
        try await withDamage {
            try $0.damage("key7")
        } _: { caller, service in
            service.peer.forgetEvents()
            let all = try await caller.call(Contract.GetAll.self, app)
            #expect(all.entries.count == count - 1)
            let signals = service.peer.changes
            #expect(signals.map(\.domain) == [app])
            #expect(signals.map(\.changed) == [[]] && signals.map(\.removed) == [["key7"]])
            #expect(try await caller.keys(app).count == count - 1)
            try await caller.set(app, "later", 1)
            try await caller.synchronize()
            #expect(try await report(caller).contains("1 key is lost: 'key7' of org.example.App."))
            // It hears this once.
            #expect(service.log(containing: "was rebuilt").count == 1)
        }
    }

    @Test func `A read waits for the repair if the log was emptied meanwhile`() async throws {
        try await withCaller { caller, service in
            try await caller.set(app, "early", 1)
            _ = try await caller.call(Contract.BackUp.self, ())
            try await caller.set(app, "late", 2)
            try await caller.synchronize()
            try #require(truncate("\(service.files.store)-wal", 0) == 0)
            #expect(try await caller.get(app, "early").value == 1)
            #expect(service.log(containing: "was rebuilt").count == 1)
            try await caller.set(app, "later", 3)
            try await caller.synchronize()
        }
    }

    @Test func `A file that is not a database is set aside, and this is reported`() async throws {
        let text = Data("no database".utf8)
        try await withDamage {
            try text.write(to: URL(filePath: $0.store))
        } _: {
            caller, service in
            #expect(try await refusal { try await caller.get(app, "key1") }?.code == .notFound)
            #expect(try await report(caller).contains("no key could be read from it."))
            let directory = service.files.database
            let aside = try #require(
                try FileManager.default.contentsOfDirectory(atPath: directory)
                    .first { $0.hasPrefix("defaults.db.aside-") })
            let kept = try Data(contentsOf: URL(filePath: "\(directory)/\(aside)"))
            #expect(kept == text)
        }
    }
}
