import DBus
import DefaultsProtocol
import DefaultsTerms
import Glibc
import Testing

@testable import DefaultsService
@testable import ServiceHarness

/// What every door has from the service, shown by one that does next to nothing itself.
@Suite struct DoorTests {
    /// A program that listens to the door's signals.
    private static let listener = ":1.7"
    private static let rule =
        "type='signal',interface='org.example.Desk',member='SettingChanged'"

    /// A service that has the door, on a bus with a listener.
    private func withDoor(
        _ setup: TestService.Setup = .init(), _ body: (ServiceOnBus) async throws -> Void
    ) async throws {
        let service = try await ServiceOnBus.start(serving: [FakeDoor.self], setup)
        await service.bus.connect(Self.listener, .init(user: geteuid(), rules: [Self.rule]))
        try await body(service)
        try await service.end()
    }

    private func call(
        _ member: MemberName, _ arguments: Value..., in service: ServiceOnBus
    ) async throws -> [Value] {
        try await service.caller.request(FakeDoor.path, FakeDoor.interface, member, arguments)
    }

    @Test func `What a door's program writes is what all others read, and the reverse`()
        async throws
    {
        try await withDoor { service in
            _ = try await call("Write", .string("Color"), .variant(.string("red")), in: service)
            #expect(
                try await service.caller.get(FakeDoor.domain, "Color").value == .string("red"))
            try await service.caller.set(FakeDoor.domain, "Size", .int64(9))
            #expect(
                try await call("Read", .string("Size"), in: service) == [.variant(.int64(9))])
            _ = try await call("Reset", .string("Color"), in: service)
            await #expect(throws: ContractError.self) {
                try await service.caller.get(FakeDoor.domain, "Color")
            }
        }
    }

    @Test func `A door's programs hear of each change that they see`()
        async throws
    {
        try await withDoor(
            .init(layerFiles: ["managed/org.example.Desk.json": #"{"Locked": 1}"#])
        ) { service in
            try await service.caller.set(FakeDoor.domain, "Color", .string("red"))
            try await service.caller.set("org.example.Other", "Color", .string("red"))
            _ = try await call("Write", .string("Size"), .variant(.int64(9)), in: service)
            await service.settle()
            let heard = await service.bus.heard(by: Self.listener).map(\.subject)
            #expect(heard == [FakeDoor.domain, FakeDoor.domain])
        }
    }

    @Test func `A locked key is refused by the door's own error, and stays as it is`()
        async throws
    {
        try await withDoor(
            .init(layerFiles: ["managed/org.example.Desk.json": #"{"Locked": 1}"#])
        ) { service in
            let error = await #expect(throws: DBusError.self) {
                try await call("Write", .string("Locked"), .variant(.int64(2)), in: service)
            }
            #expect(error?.name == "org.example.Desk.Refused")
            let message = error?.message ?? ""
            #expect(message.contains("locked"))
            let kept = try await call("Read", .string("Locked"), in: service)
            #expect(kept == [.variant(.int64(1))])
        }
    }

    @Test func `A value of this machine is changed there, as programs see it`() async throws {
        try await withDoor { service in
            try await service.caller.set(FakeDoor.domain, "Size", .int64(2))
            try await service.caller.set("\(FakeDoor.domain)@host", "Size", .int64(1))
            _ = try await call("Write", .string("Size"), .variant(.int64(9)), in: service)
            let seen = try await call("Read", .string("Size"), in: service)
            #expect(seen == [.variant(.int64(9))])
            _ = try await call("Reset", .string("Size"), in: service)
            await #expect(throws: DBusError.self) {
                try await call("Read", .string("Size"), in: service)
            }
        }
    }

    @Test func `An error that comes later, from another thread, is the door's own, too`()
        async throws
    {
        try await withDoor { service in
            let large = Value.string(String(repeating: "x", count: 1 << 20))
            let error = await #expect(throws: DBusError.self) {
                // The name is checked where the value is read, which is another thread.
                try await call("Write", .string(""), .variant(large), in: service)
            }
            #expect(error?.name == "org.example.Desk.Refused")
        }
    }
}
