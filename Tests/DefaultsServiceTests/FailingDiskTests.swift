import DBus
import DefaultsProtocol
import Logging
import Testing

@testable import ServiceHarness

/// A disk that refuses what is to be written.
@Suite struct FailingDiskTests {
    private let domain = "org.example.App"

    @Test func `A flush that failed is tried again after 1, 2, 4 s and so on, up to 60 s`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            let refusal = try await service.disk.refuse()
            try await caller.set(domain, "Key", .int64(1))
            await service.advance(by: .milliseconds(250))
            var failures: UInt64 = 1
            for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
                await service.advance(by: .seconds(pause) - .milliseconds(1))
                #expect(try await caller.statistic(.failedFlushes) == failures)
                await service.advance(by: .milliseconds(1))
                failures += 1
                #expect(try await caller.statistic(.failedFlushes) == failures)
            }
            try refusal.end()
            await service.advance(by: .seconds(60))
            let (_, generation) = try await caller.get(domain, "Key")
            #expect(try service.generationOnDisk(domain, "Key") == generation)
        }
    }

    @Test func `Changes are made and read meanwhile, and do not hasten the next attempt`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            let refusal = try await service.disk.refuse()
            try await caller.set(domain, "First", .int64(1))
            // The second attempt, after which the third is due in 2 s.
            await service.advance(by: .milliseconds(1250))
            let generation = try await caller.set(domain, "Second", .int64(2))
            #expect(try await caller.get(domain, "Second").value == .int64(2))
            await service.advance(by: .milliseconds(1999))
            #expect(try await caller.statistic(.failedFlushes) == 2)
            try refusal.end()
            await service.advance(by: .milliseconds(1))
            #expect(try service.generationOnDisk(domain, "First") == generation - 1)
            #expect(try service.generationOnDisk(domain, "Second") == generation)
        }
    }

    @Test func `The trouble is announced and logged once, and so is its end`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            let refusal = try await service.disk.refuse()
            try await caller.set(domain, "Key", .int64(1))
            await service.advance(by: .seconds(30))
            let sentence = try await caller.storageError()
            #expect(sentence.contains("cannot be written"))
            #expect(service.log.filter { $0.level == .error }.map(\.text) == [sentence])
            try refusal.end()
            await service.advance(by: .seconds(60))
            #expect(try await caller.storageError() == "")
            #expect(
                service.log.filter { $0.level == .notice && $0.text.contains("accepts") }.count == 1
            )
            // The peer gets a signal about the property both times.
            let announced = service.peer.events.filter { $0 == .signal("PropertiesChanged") }
            #expect(announced.count == 2)
        }
    }

    @Test func `A durable change is refused as not durable, and stays made`() async throws {
        try await withService { service in
            let caller = try await service.caller()
            let refusal = try await service.disk.refuse()
            let call = try await caller.setDurably(domain, "Key", .int64(1))
            let error = #expect(throws: ContractError.self) { try call.get() }
            #expect(error?.code == .notDurable)
            #expect(try await caller.get(domain, "Key").value == .int64(1))
            try refusal.end()
            await service.advance(by: .seconds(1))
            #expect(try service.generationOnDisk(domain, "Key") != nil)
        }
    }
}
