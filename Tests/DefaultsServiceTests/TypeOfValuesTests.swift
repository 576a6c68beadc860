import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// The exact types of the settings of desktop programs, which other programs do not know.
@Suite struct TypeOfValuesTests {
    private let domain = "org.example.App"

    private func marker(_ type: String, _ value: Value) -> Value {
        .dictionary(
            key: "s", value: "v",
            [("$class", .string("GVariant")), ("type", .string(type)), ("value", value)]
                .map { Value.Entry(.string($0), .variant($1)) })
    }

    private func list(_ values: [Value]) -> Value { .array(of: "v", values.map(Value.variant)) }

    @Test func `A value keeps the type it came with when a program sets it that knows less`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            let cases: [(type: String, before: Value, after: Value, other: Value)] = [
                ("u", .int64(300), .int64(400), .int64(-1)),
                ("x", .int64(1), .int64(2), .string("a")),
                ("ai", list([.int64(1)]), list([.int64(2), .int64(3)]), list([.string("a")])),
                ("(ii)", list([.int64(1), .int64(2)]), list([.int64(3), .int64(4)]), .int64(5)),
                ("ms", .string("a"), .string("b"), .int64(5)),
                ("ad", list([.double(1)]), list([.int64(2)]), .double(5)),
            ]
            for (type, before, after, other) in cases {
                try await caller.set(domain, "Key", marker(type, before))
                try await caller.set(domain, "Key", after)
                let kept = try await caller.get(domain, "Key").value
                let value = ExactValue(kept, plainInteger: .int64)
                #expect(value == ExactValue(after, as: try #require(ExactType(type))), "\(type)")
                // What does not fit has its own type.
                try await caller.set(domain, "Key", other)
                #expect(try await caller.get(domain, "Key").value == other, "\(type)")
            }
        }
    }

    @Test func `A value for this machine has the type of the value for all machines`() async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            try await caller.set(domain, "Key", marker("u", .int64(300)))
            try await caller.set(domain + "@host", "Key", .int64(400))
            #expect(try await caller.get(domain + "@host", "Key").value == marker("u", .int64(400)))
        }
    }

    @Test func `The same value without its type is no change`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            let generation = try await caller.set(domain, "Key", marker("u", .int64(300)))
            #expect(try await caller.set(domain, "Key", .int64(300)) == generation)
        }
    }

    @Test func `Changes of several keys keep the types, too`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            try await caller.set(domain, "Key", marker("u", .int64(300)))
            _ = try await caller.call(
                Contract.ApplyValues.self,
                TransactionArguments(domain: domain, set: [("Key", .int64(400))]))
            #expect(try await caller.get(domain, "Key").value == marker("u", .int64(400)))
        }
    }

    @Test func `A real number stays one where desktop programs have settings, and only there`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            for name in [domain, "org.example.Setting"] {
                try await caller.set(name, "Key", .double(1.5))
            }
            try await caller.set("org.defaultsd.Dconf", "org.example.Setting", .boolean(true))
            for name in [domain, "org.example.Setting"] {
                try await caller.set(name, "Key", .int64(2))
            }
            #expect(try await caller.get(domain, "Key").value == .int64(2))
            #expect(try await caller.get("org.example.Setting", "Key").value == .double(2))
        }
    }
}
