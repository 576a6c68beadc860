import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// Machines that share one home, one after the other.
@Suite struct HostsTests {
    private static let box = TestMachine(
        id: "0123456789abcdef0123456789abcdef", name: "box.example.org")
    private static let far = TestMachine(id: "11111111111111111111111111111111", name: "far")

    /// Starts a service on a machine.
    private func withService(
        on machine: TestMachine, _ body: (TestCaller, TestService) async throws -> Void
    ) async throws {
        var setup = TestService.Setup()
        setup.machine = machine
        try await withCaller(setup, body)
    }

    private func move(_ service: TestService, to machine: TestMachine) async throws -> TestCaller {
        try await service.restart(on: machine)
        return try await service.caller()
    }

    @Test func `A machine that is renamed has its values, and the others know its new name`()
        async throws
    {
        try await withService(on: Self.box) { caller, service in
            try await caller.set("com.a@host", "k", 1)
            let renamed = try await move(
                service, to: TestMachine(id: Self.box.id, name: "tower"))
            for domain in ["com.a@host", "com.a@host:tower"] {
                #expect(try await renamed.get(domain, "k").value == 1)
            }
            try await renamed.set("com.b", "any", 1)
            let other = try await move(service, to: Self.far)
            #expect(try await other.get("com.a@host:tower", "k").value == 1)
            let refused = try await refusal { try await other.get("com.a@host:box", "k") }
            #expect(refused?.code == .notFound)
        }
    }

    @Test func `Values written for a machine by its name before it existed are its own afterwards`()
        async throws
    {
        try await withService(on: Self.box) { caller, service in
            try await caller.set("com.a@host:far", "k", 1)
            // The backup has it under the name still.
            let backup = try await caller.call(Contract.BackUp.self, ())
            let own = try await move(service, to: Self.far)
            #expect(try await own.get("com.a@host", "k").value == 1)
            #expect(try await own.domains() == ["com.a@host"])
            let since = try await own.set("com.a@host", "k", 2)
            let restoring = try await move(service, to: Self.far)
            _ = try await restoring.call(Contract.RestoreBackup.self, backup)
            #expect(try await restoring.get("com.a@host", "k").value == 1)
            #expect(try await restoring.domains() == ["com.a@host"])
            let changes = try await restoring.changes(of: "com.a@host", since: since)
            #expect(changes.changed.map(\.0) == ["k"])
        }
    }
}
