import DBus
import DefaultsProtocol
import TestSupport
import Testing

@testable import DefaultsService
@testable import ServiceHarness

/// A home that cannot be written, and a disk that does not answer.
@Suite(.enabled(if: ReadOnlyMount.isAvailable, "only root may mount a directory"))
struct UnwritableDiskTests {
    private let domain = "org.example.App"

    @Test func `A read-only home is served, StorageError says so, and it is written later`()
        async throws
    {
        try await withService(in: .disk) { service in
            let first = try await service.caller()
            try await first.set(domain, "Early", .int64(1))
            var mount: ReadOnlyMount?
            try await service.restart {
                mount = try ReadOnlyMount(over: service.files.database)
            }
            let caller = try await service.caller()
            #expect(try await caller.get(domain, "Early").value == .int64(1))
            try await caller.set(domain, "Late", .int64(2))
            let sentence = try await caller.storageError()
            #expect(sentence.contains("cannot be written"), "\(sentence)")
            #expect(sentence.contains("Read-only file system"), "\(sentence)")
            await service.advance(by: .seconds(10))
            #expect(try await caller.storageError() == sentence)
            withExtendedLifetime(mount) {}
            mount = nil
            await service.advance(by: .seconds(60))
            #expect(try await caller.storageError() == "")
            let generation = try await caller.get(domain, "Late").generation
            #expect(try service.generationOnDisk(domain, "Late") == generation)
        }
    }

    @Test func `A disk that does not answer is not repaired, and the service goes on`()
        async throws
    {
        try await withService(in: .disk) { service in
            let caller = try await service.caller()
            try await caller.set(domain, "Early", .int64(1))
            await service.advance(by: .milliseconds(250))
            var mount: ReadOnlyMount? = try ReadOnlyMount(over: service.files.database)
            try await service.disk.claimDamage()
            let sentence = try await caller.storageError()
            #expect(sentence.contains("cannot be used"), "\(sentence)")
            #expect(!sentence.contains("damaged"), "\(sentence)")
            #expect(!service.log.contains { $0.text.contains("gives up") })
            #expect(try await caller.get(domain, "Early").value == .int64(1))
            let generation = try await caller.set(domain, "Late", .int64(2))
            withExtendedLifetime(mount) {}
            mount = nil
            await service.advance(by: .seconds(1))
            #expect(try await caller.storageError() == "")
            #expect(try service.generationOnDisk(domain, "Late") == generation)
            #expect(try await caller.statistic(.repairs) == 0)
            // Damage of a disk that answers is repaired.
            try await service.disk.claimDamage()
            #expect(try await caller.statistic(.repairs) == 1)
            #expect(try await caller.get(domain, "Early").value == .int64(1))
        }
    }
}
