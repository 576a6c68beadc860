import DBus
import DefaultsProtocol
import TestSupport
import Testing

@testable import ServiceHarness

/// The restoration of a backup by a service that continues to serve.
@Suite struct RestoringTests {
    /// All values, by their domains.
    private func everything(_ caller: TestCaller) async throws -> [String: [String: Value]] {
        var all: [String: [String: Value]] = [:]
        for domain in try await caller.domains() {
            all[domain] = try await caller.values(domain)
        }
        return all
    }

    private func backUp(_ caller: TestCaller) async throws -> String {
        try await caller.call(Contract.BackUp.self, ())
    }

    private func restore(
        _ name: String, by caller: TestCaller
    ) async throws -> RestoredCounts {
        try await caller.call(Contract.RestoreBackup.self, name)
    }

    private func change(
        _ count: Int, by caller: TestCaller, _ random: inout SeededGenerator
    ) async throws {
        let domains = (0..<12).map { number in
            let suffix = ["", "@host", "@host:other"].randomElement(using: &random) ?? ""
            return "org.example.App\(number)" + suffix
        }
        for _ in 0..<count {
            let domain = domains.randomElement(using: &random) ?? ""
            let key = "key\(Int.random(in: 0..<40, using: &random))"
            if Int.random(in: 0..<10, using: &random) < 3 {
                try await caller.remove(domain, key)
            } else {
                try await caller.set(domain, key, .int64(.random(in: 0..<100, using: &random)))
            }
        }
        guard Int.random(in: 0..<10, using: &random) < 8 else { return }
        try await caller.removeDomain(domains.randomElement(using: &random) ?? "")
    }

    @Test func `Removed, changed and added values are as before, and it can be undone`()
        async throws
    {
        var random = SeededGenerator()
        try await withCaller { caller, _ in
            try await change(300, by: caller, &random)
            let before = try await everything(caller)
            let name = try await backUp(caller)
            try await change(300, by: caller, &random)
            try await caller.set("org.example.New", "Key", 1)
            let after = try await everything(caller)
            let restored = try await restore(name, by: caller)
            #expect(before != after)
            #expect(try await everything(caller) == before)
            func missing(
                _ all: [String: [String: Value]], _ isMissing: (String, String, Value) -> Bool
            ) -> Int {
                all.reduce(0) { sum, domain in
                    sum + domain.value.count { isMissing(domain.key, $0.key, $0.value) }
                }
            }
            let set = missing(before) { after[$0]?[$1] != $2 }
            let removed = missing(after) { domain, key, _ in before[domain]?[key] == nil }
            #expect(restored.damaged == 0 && restored.locked == 0)
            #expect(restored.set == UInt64(set) && restored.removed == UInt64(removed))
            _ = try await restore(restored.undo, by: caller)
            #expect(try await everything(caller) == after)
            // To restore a value that is there already changes nothing.
            let generation = try await caller.generation()
            let same = try await restore(backUp(caller), by: caller)
            #expect([same.set, same.removed, same.damaged, same.locked] == [0, 0, 0, 0])
            #expect(try await caller.synchronize() == generation)
        }
    }

    @Test func `It is one change of each domain, announced to everybody, and survives a kill`()
        async throws
    {
        try await withCaller { caller, service in
            for domain in ["a.a", "b.b"] {
                try await caller.apply(domain, ["changed": 1, "removed": 1, "same": 1])
            }
            let before = try await everything(caller)
            let name = try await backUp(caller)
            for domain in ["a.a", "b.b"] {
                try await caller.apply(domain, ["changed": 2, "added": 2], removing: ["removed"])
            }
            try await caller.set("c.c", "added", 2)
            let since = try await caller.synchronize()
            service.peer.forgetEvents()
            _ = try await restore(name, by: caller)
            func signal(
                _ domain: String, _ changed: [String], _ number: UInt64
            ) -> ChangedSignal {
                ChangedSignal(
                    domain: domain, layer: "domain", changed: changed, removed: ["added"],
                    generation: since + number, origin: caller.name)
            }
            #expect(
                service.peer.changes == [
                    signal("a.a", ["changed", "removed"], 1),
                    signal("b.b", ["changed", "removed"], 2), signal("c.c", [], 3),
                ])
            let changes = try await caller.changes(of: "a.a", since: since)
            #expect(changes.changed.map(\.0).sorted() == ["changed", "removed"])
            #expect(changes.removed == ["added"] && changes.isComplete)
            #expect(changes.generation == since + 3)
            #expect(try await everything(caller) == before)
            try await service.restart(.dropped)
            let next = try await service.caller()
            #expect(try await everything(next) == before)
            #expect(try await next.domains() == ["a.a", "b.b"])
        }
    }
}
