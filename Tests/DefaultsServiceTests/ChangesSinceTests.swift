import DBus
import DefaultsProtocol
import Foundation
import Testing

@testable import ServiceHarness

/// What has changed since a generation, over the end of a process and of a journal.
@Suite struct ChangesSinceTests {
    private let app = "org.example.App"

    /// A reply of GetChanges without its generation.
    private struct Changes: Equatable {
        var changed: [String] = []
        var removed: [String] = []
        var isComplete = true
    }

    private func changes(
        _ caller: TestCaller, since generation: UInt64, of domain: String? = nil
    ) async throws -> Changes {
        let reply = try await caller.changes(of: domain ?? app, since: generation)
        #expect(reply.large.isEmpty)
        return Changes(
            changed: reply.changed.map(\.0).sorted(), removed: reply.removed,
            isComplete: reply.isComplete)
    }

    @Test func `Changes are known after a restart or a kill, but not after a lost journal`()
        async throws
    {
        try await withCaller { caller, service in
            try await caller.set(app, "a", 1)
            try await caller.set(app, "b", 1)
            try await caller.remove(app, "a")
            try await caller.set(app + "@host", "c", 1)
            try await service.inEachProcess { (caller) async throws in
                #expect(
                    try await changes(caller, since: 2) == Changes(changed: ["b"], removed: ["a"]))
                #expect(try await changes(caller, since: 3) == Changes(removed: ["a"]))
                #expect(try await changes(caller, since: 5) == Changes())
                let unknown = Changes(changed: ["b"], isComplete: false)
                #expect(try await changes(caller, since: 6) == unknown)
                // It was removed for all that is known, and values before that may have been others.
                #expect(
                    try await changes(caller, since: 0)
                        == Changes(changed: ["b"], removed: ["a"], isComplete: false))
                let host = app + "@host"
                #expect(
                    try await changes(caller, since: 4, of: host) == Changes(changed: ["c"]))
            }
            // As after a power cut: the runtime directory is gone.
            try await service.restart(.dropped) { try service.files.loseRuntimeDirectory() }
            let next = try await service.caller()
            // What was on the disk is known; nobody can say what came after it.
            #expect(try await changes(next, since: 5) == Changes())
            let unknown = Changes(changed: ["b"], isComplete: false)
            #expect(try await changes(next, since: 6) == unknown)
            #expect(try await changes(next, since: next.generation()) == Changes())
        }
    }

    @Test func `A store that is put back makes later changes incomplete`() async throws {
        try await withCaller { caller, service in
            try await caller.set(app, "a", 1)
            try await caller.synchronize()
            let (store, copy) = (service.files.store, service.files.store + ".copy")
            try await service.restart {
                try FileManager.default.copyItem(atPath: store, toPath: copy)
            }
            try await service.caller().set(app, "b", 1)
            try await service.restart {
                try FileManager.default.removeItem(atPath: store)
                try FileManager.default.moveItem(atPath: copy, toPath: store)
            }
            let changes = try await changes(service.caller(), since: 3)
            #expect(changes == Changes(changed: ["a"], isComplete: false))
        }
    }

    @Test func `A removed domain is reported key by key, a very large one as incomplete`()
        async throws
    {
        try await withCaller { caller, _ in
            func fill(_ domain: String, _ count: Int) async throws {
                let keys = (0..<count).map { "\(100_000 + $0)" }
                try await caller.call(
                    Contract.ApplyValues.self,
                    .init(domain: domain, set: keys.map { ($0, .int64(1)) }))
            }
            try await fill("few.keys", 3)
            try await fill("many.keys", 3000)
            try await caller.removeDomain("few.keys")
            let many = try await caller.removeDomain("many.keys")
            #expect(try await caller.removeDomain("many.keys") == many)
            // It is the same before and after the flush.
            for _ in 0..<2 {
                #expect(
                    try await changes(caller, since: 2, of: "few.keys")
                        == Changes(removed: ["100000", "100001", "100002"]))
                #expect(
                    try await changes(caller, since: 3, of: "many.keys")
                        == Changes(isComplete: false))
                #expect(try await changes(caller, since: many, of: "many.keys") == Changes())
                #expect(try await caller.domains().isEmpty)
                #expect(try await caller.keys("many.keys").isEmpty)
                try await caller.synchronize()
            }
        }
    }
}
