import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// What the next process has of a service that has ended, in order or by a kill.
///
/// That the kernel keeps what a killed process has written is for the tests of the storage.
@Suite struct RestartTests {
    private let domain = "org.example.App"

    @Test func `After an orderly end everything is on disk, at once`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            let generation = try await caller.set(domain, "Key", .int64(1))
            var onDisk: UInt64?
            try await service.restart {
                onDisk = try service.generationOnDisk(domain, "Key")
            }
            #expect(onDisk == generation)
            let next = try await service.caller()
            #expect(try await next.get(domain, "Key") == (.int64(1), generation))
            #expect(try await next.statistic(.journalBytes) < 4096)
        }
    }

    @Test func `After a kill the journal has what was acknowledged, and it goes to disk`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            let generation = try await caller.set(domain, "Key", .string("kept"))
            try await service.restart(.dropped)
            #expect(try service.generationOnDisk(domain, "Key") == nil)
            let next = try await service.caller()
            #expect(try await next.get(domain, "Key") == (.string("kept"), generation))
            await service.advance(by: .milliseconds(249))
            #expect(try service.generationOnDisk(domain, "Key") == nil)
            await service.advance(by: .milliseconds(1))
            #expect(try service.generationOnDisk(domain, "Key") == generation)
        }
    }

    @Test func `A kill during a flush loses nothing, and no generation is given twice`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            let before = try await caller.set(domain, "Before", .int64(1))
            // The disk hangs until the end.
            _ = await service.disk.hang()
            await service.advance(by: .milliseconds(250))
            let during = try await caller.set(domain, "During", .int64(2))
            let durable = try await caller.setDurably(domain, "Durable", .int64(3))
            #expect(!durable.isAnswered)
            try await service.restart(.dropped)
            let next = try await service.caller()
            #expect(try await next.get(domain, "Before") == (.int64(1), before))
            #expect(try await next.get(domain, "During") == (.int64(2), during))
            // It was made, though nobody was told.
            #expect(try await next.get(domain, "Durable") == (.int64(3), during + 1))
            #expect(try await next.set(domain, "After", .int64(4)) > during + 1)
            await service.advance(by: .milliseconds(250))
            #expect(try service.generationOnDisk(domain, "During") == during)
        }
    }

    @Test func `The callers of a service that was killed are disconnected`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            let hold = await service.disk.hang()
            let call = try await caller.setDurably(domain, "Key", .int64(1))
            await #expect(throws: StillWaiting(names: ["ApplyValues", "writer, which is held"])) {
                try await service.end()
            }
            await hold.release()
            #expect(call.isAnswered)
            try await service.restart(.dropped)
            await #expect(throws: ServiceHasEnded.self) {
                try await caller.get(domain, "Key")
            }
        }
    }
}
