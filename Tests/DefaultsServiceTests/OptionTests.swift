import DBus
import DefaultsProtocol
import DefaultsTerms
import Testing

@testable import ServiceHarness

/// The options of the service: who sets them, and when they count.
@Suite struct OptionTests {
    private let domain = "org.example.App"

    /// Checks that a change goes to disk so long after it, and not a millisecond before.
    private func expectWriting(
        after delay: Int, of number: Int64, in service: TestService, by caller: TestCaller
    ) async throws {
        let generation = try await caller.set(domain, "Key", .int64(number))
        if delay > 0 {
            await service.advance(by: .milliseconds(delay - 1))
            #expect(try service.generationOnDisk(domain, "Key") != generation)
            await service.advance(by: .milliseconds(1))
        }
        await service.settle()
        #expect(try service.generationOnDisk(domain, "Key") == generation)
    }

    @Test func `An administrator's delay counts from the start, and the user cannot change it`()
        async throws
    {
        let files = ["managed/\(ServiceOption.domain).json": #"{"WriteDelay": 1000}"#]
        try await withService(.init(layerFiles: files)) { service in
            let caller = try await service.caller()
            try await expectWriting(after: 1000, of: 1, in: service, by: caller)
            let error = await #expect(throws: ContractError.self) {
                try await caller.set(ServiceOption.domain, "WriteDelay", .int64(0))
            }
            #expect(error?.code == .locked)
            // The file may change while the service runs.
            try await service.writeLayerFile(
                "managed/\(ServiceOption.domain).json", #"{"WriteDelay": 40}"#)
            await service.advance(by: .seconds(1))
            try await expectWriting(after: 40, of: 2, in: service, by: caller)
        }
    }

    @Test func `A user's delays count at once, also for what is pending`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            try await caller.set(ServiceOption.domain, "WriteDelay", .int64(5000))
            try await caller.set(ServiceOption.domain, "LongestWriteDelay", .int64(9000))
            for number in 0..<3 {
                if number > 0 { await service.advance(by: .milliseconds(3000)) }
                try await caller.set(domain, "Key", .int64(Int64(number)))
            }
            // 6 s after the first change.
            await service.advance(by: .milliseconds(2999))
            #expect(try service.generationOnDisk(domain, "Key") == nil)
            await service.advance(by: .milliseconds(1))
            let (_, generation) = try await caller.get(domain, "Key")
            #expect(try service.generationOnDisk(domain, "Key") == generation)
            // A shorter one hastens what waits.
            let next = try await caller.set(domain, "Key", .int64(7))
            await service.advance(by: .milliseconds(100))
            try await caller.set(ServiceOption.domain, "WriteDelay", .int64(0))
            await service.settle()
            #expect(try service.generationOnDisk(domain, "Key") == next)
        }
    }

    @Test func `Each bound counts, and what is beyond it is ignored and logged once`()
        async throws
    {
        let bounds = ServiceOption.writeDelay.bounds
        let wrong: [Value] = [
            .int64(Int64(bounds.lowerBound) - 1), .int64(Int64(bounds.upperBound) + 1),
            .string("250"), .double(0.5),
        ]
        try await withService { service in
            let caller = try await service.caller()
            try await caller.set(
                ServiceOption.domain, "LongestWriteDelay",
                .int64(Int64(ServiceOption.longestWriteDelay.bounds.upperBound)))
            for (number, delay) in [bounds.lowerBound, bounds.upperBound].enumerated() {
                try await caller.set(ServiceOption.domain, "WriteDelay", .int64(Int64(delay)))
                await service.advance(by: .seconds(60))
                try await expectWriting(
                    after: delay, of: Int64(number), in: service, by: caller)
            }
            for (number, value) in wrong.enumerated() {
                try await caller.set(ServiceOption.domain, "WriteDelay", value)
                await service.advance(by: .seconds(60))
                try await expectWriting(
                    after: ServiceOption.writeDelay.standard, of: Int64(10 + number), in: service,
                    by: caller)
            }
            let lines = service.log.filter { $0.text.contains("WriteDelay") }
            #expect(lines.count == 1)
            #expect(lines.allSatisfy { $0.text.contains("from 0 to 10000") })
        }
    }

    @Test func `A program in a sandbox cannot set an option, whatever was granted to it`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            let all = Value.array(of: "s", [.string("*")])
            try await caller.set(
                GrantTerms.domain, "org.example.Boxed",
                .dictionary(
                    key: "s", value: "v", [Value.Entry(.string("write"), .variant(all))]))
            let application = try await service.caller(.application("org.example.Boxed"))
            try await application.set("org.example.Other", "Key", .int64(1))
            let error = await #expect(throws: ContractError.self) {
                try await application.set(ServiceOption.domain, "WriteDelay", .int64(0))
            }
            #expect(error?.code == .accessDenied)
        }
    }
}
