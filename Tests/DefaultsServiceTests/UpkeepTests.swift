import DBus
import DefaultsProtocol
import Foundation
import TestSupport
import Testing

@testable import DefaultsCore
@testable import ServiceHarness

/// The daily backup, files of administrators, and calls that take long.
@Suite struct UpkeepTests {
    private let domain = "org.example.App"

    /// Makes a change and has it written.
    private func change(_ number: Int64, in service: TestService) async throws {
        try await service.peer.set(domain, "Key", .int64(number))
        await service.advance(by: .milliseconds(250))
    }

    private func backups(in service: TestService) async throws -> [String] {
        try await service.peer.call(Contract.ListBackups.self, ()).map(\.name)
    }

    /// The days of the backups in the order of their generations, all of which are daily ones.
    private func dailyBackups(in service: TestService) async throws -> [Substring] {
        let backups = try await service.peer.call(Contract.ListBackups.self, ())
        #expect(backups.allSatisfy { $0.name.hasSuffix("-daily") })
        return backups.sorted { $0.generation < $1.generation }.map { $0.name.prefix(10) }
    }

    @Test func `The first flush of a day makes a backup, and later ones do not`() async throws {
        try await withService { service in
            try await change(1, in: service)
            #expect(try await dailyBackups(in: service) == ["2024-02-29"])
            service.date.move(by: .seconds(86_399))
            try await change(2, in: service)
            #expect(try await dailyBackups(in: service) == ["2024-02-29"])
            // The next process finds the backup of the day before.
            try await service.restart { service.date.move(by: .seconds(1)) }
            try await change(3, in: service)
            #expect(try await dailyBackups(in: service) == ["2024-02-29", "2024-03-01"])
        }
    }

    @Test func `A week of backups is kept, whatever is done to the clock`() async throws {
        try await withService { service in
            for day in 0..<9 {
                try await change(Int64(day), in: service)
                service.date.move(by: .seconds(86_400))
            }
            let week = (2...8).map { "2024-03-0\($0)"[...] }
            #expect(try await dailyBackups(in: service) == week)
            // Set back by a year, it is a day away from the newest backup, too.
            service.date.move(by: .seconds(-366 * 86_400))
            try await change(9, in: service)
            #expect(try await dailyBackups(in: service) == week.dropFirst() + ["2023-03-09"])
        }
    }

    @Test func `A daily backup that failed is tried again after an hour, with the next flush`()
        async throws
    {
        try await withService { service in
            let folder = "\(service.files.database)/backups"
            #expect(FileManager.default.createFile(atPath: folder, contents: nil))
            try await change(1, in: service)
            #expect(service.log.filter { $0.text.contains("retried every hour") }.count == 1)
            try FileManager.default.removeItem(atPath: folder)
            // The flush comes 250 ms after the change.
            await service.advance(by: .seconds(3600) - .milliseconds(251))
            try await change(2, in: service)
            #expect(try await backups(in: service).isEmpty)
            await service.advance(by: .milliseconds(1))
            #expect(try await backups(in: service).isEmpty)
            try await change(3, in: service)
            #expect(try await backups(in: service).count == 1)
        }
    }

    @Test func `A file of the administrator is read when it is quiet for 10 ms`() async throws {
        var setup = TestService.Setup()
        setup.layerFiles = ["managed/\(domain).json": #"{"Key": 1}"#]
        try await withService(setup) { service in
            let caller = try await service.caller()
            func effective() async throws -> Value {
                try await caller.call(Contract.LookupValue.self, (domain: domain, key: "Key")).value
            }
            #expect(try await effective() == .int64(1))
            try await service.writeLayerFile("managed/\(domain).json", #"{"Key": 2}"#)
            await service.advance(by: .milliseconds(10) - .nanoseconds(1))
            #expect(try await effective() == .int64(1))
            await service.advance(by: .nanoseconds(1))
            #expect(try await effective() == .int64(2))
            let error = await #expect(throws: ContractError.self) {
                try await caller.set(domain, "Key", .int64(3))
            }
            #expect(error?.code == .locked)
        }
    }

    @Test func `A large value is checked beside the calls of others, and those of its caller wait`()
        async throws
    {
        try await withService { service in
            let (caller, other) = (try await service.caller(), try await service.caller())
            let hold = try await service.hold(.conversions)
            let large = try await caller.send(
                Contract.SetValue.self,
                (domain: domain, key: "Key", value: .bytes([UInt8](repeating: 7, count: 1 << 20))))
            let next = try await caller.send(
                Contract.SetValue.self, (domain: domain, key: "Key", value: .int64(2)))
            let others = try await other.set(domain, "Other", .int64(1))
            #expect(!large.isAnswered && !next.isAnswered)
            await hold.release()
            #expect(try large.get() == others + 1)
            #expect(try next.get() == others + 2)
            #expect(try await other.get(domain, "Key").value == .int64(2))
        }
    }
}
