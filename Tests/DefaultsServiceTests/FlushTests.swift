import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// When changes are written to disk, in a service whose clock is moved by hand.
@Suite struct FlushTests {
    private let domain = "org.example.App"

    @Test(arguments: [TestPlace.Kind.memory, .disk])
    func `A change is not on disk after 249 ms, and is on disk after 250 ms`(
        on kind: TestPlace.Kind
    ) async throws {
        try await withService(in: kind) { service in
            let caller = try await service.caller()
            let generation = try await caller.set(domain, "Key", .int64(1))
            await service.advance(by: .milliseconds(249))
            #expect(try service.generationOnDisk(domain, "Key") == nil)
            await service.advance(by: .milliseconds(1))
            #expect(try service.generationOnDisk(domain, "Key") == generation)
            #expect(try await caller.statistic(.flushes) == 1)
        }
    }

    @Test func `Each change puts the flush off, but not beyond 2 s after the first`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            for number in 0..<10 {
                if number > 0 { await service.advance(by: .milliseconds(200)) }
                try await caller.set(domain, "Key", .int64(Int64(number)))
            }
            // 1.8 s after the first change.
            await service.advance(by: .milliseconds(199))
            #expect(try service.generationOnDisk(domain, "Key") == nil)
            await service.advance(by: .milliseconds(1))
            let (_, generation) = try await caller.get(domain, "Key")
            #expect(try service.generationOnDisk(domain, "Key") == generation)
            #expect(try await caller.statistic(.flushes) == 1)
        }
    }

    @Test func `A change during the pause puts the flush off by 250 ms`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            try await caller.set(domain, "First", .int64(1))
            await service.advance(by: .milliseconds(249))
            let last = try await caller.set(domain, "Last", .int64(1))
            await service.advance(by: .milliseconds(249))
            #expect(try service.generationOnDisk(domain, "First") == nil)
            await service.advance(by: .milliseconds(1))
            #expect(try service.generationOnDisk(domain, "First") == last - 1)
            #expect(try service.generationOnDisk(domain, "Last") == last)
        }
    }

    @Test func `The same value again has the same generation, and no flush and no signal`()
        async throws
    {
        try await withService { service in
            let (caller, other) = (try await service.caller(), try await service.caller())
            try await other.follow(domain)
            let generation = try await caller.set(domain, "Key", .string("value"))
            await service.advance(by: .seconds(1))
            let changes = other.changes
            #expect(try await caller.set(domain, "Key", .string("value")) == generation)
            await service.advance(by: .seconds(10))
            #expect(try await caller.statistic(.flushes) == 1)
            #expect(other.changes == changes && changes.count == 1)
        }
    }

    @Test func `8 MiB of pending changes are written at once, and a little less is not`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            let mebibyte = Value.bytes([UInt8](repeating: 7, count: 1 << 20))
            for number in 1...7 { try await caller.set(domain, "Key\(number)", mebibyte) }
            #expect(try await caller.statistic(.flushes) == 0)
            let generation = try await caller.set(domain, "Key8", mebibyte)
            #expect(try await caller.statistic(.flushes) == 1)
            #expect(try service.generationOnDisk(domain, "Key8") == generation)
        }
    }

    @Test func `A durable change is answered when it is on disk, and others read it before`()
        async throws
    {
        try await withService { service in
            let (caller, other) = (try await service.caller(), try await service.caller())
            let hold = await service.disk.hang()
            let call = try await caller.setDurably(domain, "Key", .int64(7))
            await service.advance(by: .seconds(60))
            #expect(!call.isAnswered)
            #expect(try await other.get(domain, "Key").value == .int64(7))
            #expect(try service.generationOnDisk(domain, "Key") == nil)
            await hold.release()
            #expect(try service.generationOnDisk(domain, "Key") == call.get())
        }
    }

    @Test func `Synchronize waits for the changes of all, and for no later ones`() async throws {
        try await withService { service in
            let (caller, other) = (try await service.caller(), try await service.caller())
            let earlier = try await other.set(domain, "Earlier", .int64(1))
            let hold = await service.disk.hang()
            let call = try await caller.send(Contract.Synchronize.self, ())
            try await other.set(domain, "Later", .int64(1))
            #expect(!call.isAnswered)
            await hold.release()
            #expect(try call.get() == earlier)
            #expect(try service.generationOnDisk(domain, "Earlier") == earlier)
            #expect(try service.generationOnDisk(domain, "Later") == nil)
        }
    }

    @Test func `A day without calls has no flush and no log line`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            try await caller.set(domain, "Key", .int64(1))
            await service.advance(by: .seconds(1))
            let log = service.log
            await service.advance(by: .seconds(24 * 60 * 60))
            #expect(service.log == log)
            #expect(try await caller.statistic(.flushes) == 1)
            #expect(try await caller.statistic(.uptime) == 24 * 60 * 60 + 1)
        }
    }
}
