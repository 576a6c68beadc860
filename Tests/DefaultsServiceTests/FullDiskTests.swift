import DBus
import DefaultsProtocol
import DefaultsTerms
import TestSupport
import Testing

@testable import ServiceHarness

/// A disk that refuses: a small file system, filled to the last byte.
@Suite(.enabled(if: SmallMount.isAvailable, "only root may mount a file system"))
struct FullDiskTests {
    private let app = "org.example.App"
    /// More than the space that the log gives back.
    private let large = Value.text(of: 100_000)

    /// Starts a service whose database is on a small disk.
    private func withDisk(
        kilobytes size: Int = 512,
        _ body: (TestCaller, SmallMount, TestService) async throws -> Void
    ) async throws {
        try await withService(in: .disk) { service in
            var disk: SmallMount?
            try await service.restart {
                disk = try SmallMount(over: service.files.database, kilobytes: size)
            }
            try await body(service.caller(), #require(disk), service)
        }
    }

    @Test func `A damaged store that cannot be rebuilt is reported by StorageError`() async throws {
        try await withDisk { caller, disk, service in
            try await caller.set(app, "Key", "to be damaged")
            try await service.restart { try service.files.damage("Key") }
            let next = try await service.caller()
            try disk.fill()
            #expect(try await next.storageError() == "")
            for _ in 1...2 {
                #expect(try await refusal { try await next.get(app, "Key") } != nil)
            }
            #expect(try await next.storageError().contains("could not be repaired"))
            // It was tried once.
            #expect(service.log(containing: "could not be repaired").count == 1)
            #expect(service.log(containing: "gives up").isEmpty)
        }
    }

    @Test func `A large domain cannot take the space that is left for small ones`() async throws {
        try await withDisk(kilobytes: 16 << 10) { caller, _, service in
            var refused: ContractError?
            for number in 1...160 where refused == nil {
                refused = try await refusal {
                    try await caller.set("org.example.Large", "Key\(number)", large)
                }
                // As much is asked about the disk as there is time for.
                await service.advance(by: .milliseconds(250))
            }
            #expect(refused?.code == .limitsExceeded)
            #expect(refused?.message.contains("(\(QuotaTerms.Bound.freeDisk.rawValue))") == true)
            for number in 1...5 {
                try await caller.set("org.example.D\(number)", "Key", large)
            }
            try await caller.synchronize()
            #expect(try await caller.storageError() == "")
            try await caller.removeDomain("org.example.Large")
            try await caller.synchronize()
            await service.advance(by: .seconds(1))
            try await caller.set("org.example.Large", "Key", large)
        }
    }
}
