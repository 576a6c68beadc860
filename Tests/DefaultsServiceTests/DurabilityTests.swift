import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// Acknowledged changes survive, and generations are not given twice.
@Suite struct DurabilityTests {
    private let app = "org.example.App"

    @Test func `Generations continue above the ceiling if the journal is gone`() async throws {
        try await withCaller { caller, service in
            try await caller.set(app, "Key", 1)
            try await caller.synchronize()
            try await service.restart(.dropped) { try service.files.loseRuntimeDirectory() }
            #expect(try await service.caller().set(app, "Key", 2) > 2 + (1 << 20))
        }
    }

    @Test func `A change reaches the disk by itself, and Synchronize waits for it`() async throws {
        try await withCaller { caller, service in
            try await caller.set(app, "Key", 1)
            #expect(try await caller.synchronize() == 2)
            #expect(try await caller.durableGeneration() == 2)
            try await caller.set(app, "Key", 2)
            #expect(try await caller.durableGeneration() == 2)
            #expect(try await caller.property("PendingChanges") == .uint32(1))
            await service.advance(by: .milliseconds(250))
            #expect(try await caller.durableGeneration() == 3)
            #expect(try await caller.property("PendingChanges") == .uint32(0))
        }
    }
}
