import DBus
import DefaultsProtocol
import DefaultsTerms
import Testing

@testable import ServiceHarness

/// The object of the contract: its parents, its properties, and what it does not have.
@Suite struct ContractTests {
    @Test func `A parent of the object answers Introspect and names the next node`() async throws {
        try await withCaller { caller, _ in
            let nodes: [(path: ObjectPath, next: String)] = [
                ("/", "org"), ("/org", "defaultsd"), ("/org/defaultsd", "Defaults1"),
            ]
            for (path, next) in nodes {
                let reply = try await caller.ask(
                    "Introspect", of: "org.freedesktop.DBus.Introspectable", at: path)
                guard case .string(let text) = reply.first else {
                    Issue.record("\(path) does not answer.")
                    continue
                }
                #expect(text.contains("<node name=\"\(next)\"/>"))
            }
        }
    }

    @Test func `A method that the contract does not have answers UnknownMethod`() async throws {
        try await withCaller { caller, _ in
            for method: MemberName in ["History", "Revert", "ForgetHistory"] {
                let error = await #expect(throws: DBusError.self) {
                    try await caller.ask(method, ["7"])
                }
                #expect(error?.name == .unknownMethod)
            }
        }
    }

    @Test func `The properties have the contract's types`() async throws {
        try await withCaller { caller, service in
            let values: [(name: String, value: Value)] = [
                ("Generation", .uint64(1)), ("DurableGeneration", .uint64(1)),
                ("RecordStart", .uint64(1)), ("PendingChanges", .uint32(0)), ("StorageError", ""),
                ("MaximumValueSize", .uint64(16_777_216)),
                ("DatabasePath", .string(service.files.store)),
            ]
            for (name, value) in values {
                #expect(try await caller.property(name) == value, "\(name)")
            }
            let all = try await caller.ask(
                "GetAll", [.string(Contract.interface.string)],
                of: "org.freedesktop.DBus.Properties")
            guard case .dictionary(_, _, let entries) = all.first else {
                return #expect(Bool(false), "\(all)")
            }
            for (name, value) in values {
                #expect(entries.contains(.init(.string(name), .variant(value))), "\(name)")
            }
        }
    }

    @Test func `A property cannot be set`() async throws {
        try await withCaller { (caller, _) async throws in
            let error = await #expect(throws: DBusError.self) {
                try await caller.ask(
                    "Set",
                    [
                        .string(Contract.interface.string), "Generation",
                        .variant(.uint64(7)),
                    ], of: "org.freedesktop.DBus.Properties")
            }
            #expect(error?.name == .propertyReadOnly)
            #expect(try await caller.generation() == 1)
        }
    }

    @Test func `Statistics count what has happened`() async throws {
        try await withCaller { caller, _ in
            try await caller.set("a.b", "key", 1)
            try await caller.set("a.b", "key", 1)
            try await caller.synchronize()
            try await caller.set("a.b", "key", 2)
            let facts = try await caller.call(Contract.GetStatistics.self, ())
            #expect(facts[.changes] == .uint64(2) && facts[.flushes] == .uint64(1))
            #expect(facts[.failedFlushes] == .uint64(0) && facts[.calls] == .uint64(5))
            for fact in [
                Contract.GetStatistics.Fact.uptime, .pendingBytes, .journalBytes, .databaseBytes,
            ] {
                guard case .uint64 = facts[fact] else {
                    Issue.record("\(fact)")
                    continue
                }
            }
        }
    }
}
