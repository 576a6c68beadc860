import DBus
import DefaultsProtocol
import DefaultsTerms
import Testing

@testable import ServiceHarness

/// What programs may do, and how much.
@Suite struct RightsAndQuotaTests {
    private let domain = "org.example.App"

    @Test func `A program of another user, or of an unknown one, is refused every call`()
        async throws
    {
        try await withService { service in
            try await service.caller().set(domain, "Key", .int64(1))
            for kind in [TestCaller.Kind.stranger, .unknown] {
                let caller = try await service.caller(kind)
                let error = await #expect(throws: ContractError.self) {
                    try await caller.get(domain, "Key")
                }
                #expect(error?.code == .accessDenied)
                await #expect(throws: ContractError.self) {
                    try await caller.set(domain, "Key", .int64(2))
                }
            }
            #expect(try await service.peer.get(domain, "Key").value == .int64(1))
        }
    }

    @Test func `An application in a sandbox has its own domains, and no others`() async throws {
        try await withService { service in
            let (caller, own) = (try await service.caller(), "org.example.Boxed")
            let application = try await service.caller(.application(own))
            try await caller.set(domain, "Key", .int64(1))
            for name in [own, own + ".Part"] {
                try await application.set(name, "Key", .int64(2))
                #expect(try await caller.get(name, "Key").value == .int64(2))
            }
            let read = await #expect(throws: ContractError.self) {
                try await application.get(domain, "Key")
            }
            #expect(read?.code == .notFound)
            let written = await #expect(throws: ContractError.self) {
                try await application.set(domain, "Key", .int64(3))
            }
            #expect(written?.code == .accessDenied)
            #expect(try await caller.get(domain, "Key").value == .int64(1))
        }
    }

    /// Sets a bound for each program.
    private func bound(
        _ bound: QuotaTerms.Bound, to limit: Int64, by caller: TestCaller
    ) async throws {
        let entry = Value.Entry(.string(bound.rawValue), .variant(.int64(limit)))
        try await caller.set(
            QuotaTerms.domain, QuotaTerms.everybody,
            .dictionary(key: "s", value: "v", [entry]))
    }

    @Test func `What a program may set refills with the time, to the millisecond`() async throws {
        try await withService { service in
            let administrator = try await service.caller()
            try await bound(.bytesPerMinute, to: 6000, by: administrator)
            let (busy, other) = (try await service.caller(), try await service.caller())
            let value = Value.bytes([UInt8](repeating: 7, count: 9000))
            // With an empty account any number of bytes may be set.
            try await busy.set(domain, "Key1", value)
            let account = try await used(of: .bytesPerMinute, by: administrator)
            let size = try #require(account.max())
            // It empties at 100 bytes a second.
            await service.advance(by: .milliseconds(size * 10 - 1))
            let error = await #expect(throws: ContractError.self) {
                try await busy.set(domain, "Key2", value)
            }
            #expect(error?.code == .limitsExceeded)
            try await other.set(domain, "Key3", value)
            await service.advance(by: .milliseconds(1))
            try await busy.set(domain, "Key2", value)
            // Nothing of the refused call was made.
            #expect(try await busy.get(domain, "Key2").value == value)
        }
    }

    private func used(
        of bound: QuotaTerms.Bound, by caller: TestCaller
    ) async throws -> [UInt64] {
        try await caller.call(Contract.ListQuotas.self, 0).filter { $0.bound == bound.rawValue }
            .map(\.used)
    }

    @Test func `What programs have set is forgotten in the time of their bound`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            try await bound(.bytesPerMinute, to: 6000, by: caller)
            try await caller.set(domain, "Key", .bytes([UInt8](repeating: 7, count: 3000)))
            let full = try await used(of: .bytesPerMinute, by: caller)
            await service.advance(by: .seconds(10))
            #expect(try await used(of: .bytesPerMinute, by: caller) == full.map { $0 - 1000 })
            await service.advance(by: .seconds(50))
            #expect(try await used(of: .bytesPerMinute, by: caller).allSatisfy { $0 == 0 })
        }
    }
}
