import DefaultsRoaming
import Foundation
import SQLite
import TestSupport
import Testing

@testable import RoamingDirectory

@Suite("Joining files")
struct JoinTests {
    /// What all files say together.
    struct Facts: Equatable {
        var snapshots: [ReplicaID: [Int64]] = [:]
        var covers: [RoamingKey: VersionVector] = [:]
        var winners: [RoamingKey: Head] = [:]
    }

    @Test(
        "gives the same in any order, with duplicates, and in parts that are joined again",
        arguments: 0..<UInt64(12))
    func laws(seed: UInt64) async throws {
        var random = SeededGenerator(case: seed)
        let files = try await Self.randomFiles(using: &random)
        try #require(files.count > 10)
        let reader = FileFormatTests.replica(9)
        for _ in 0..<10 {
            let some = files.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
            let expected = try Self.facts(some, as: reader)
            let doubled = (some + some.prefix(5)).shuffled(using: &random)
            #expect(try Self.facts(doubled, as: reader) == expected, "seed \(seed)")
            #expect(try Self.facts(some.reversed(), as: reader) == expected, "seed \(seed)")
        }
    }

    /// Files of several replicas, early and late ones.
    private static func randomFiles(
        using random: inout SeededGenerator
    ) async throws -> [ReplicaFile] {
        let network = try Network(3, using: random)
        try await network.devices[0].round()
        try network.synchronize()
        for number in 0..<60 {
            guard let device = network.devices.randomElement(using: &random),
                let key = RandomOperationTests.keys.randomElement(using: &random)
            else { continue }
            network.clock.now += Int64.random(in: 1...TestClock.day / 2, using: &random)
            device.write(number % 5 == 0 ? nil : "value \(number)", to: key)
            try await device.round()
            network.record(device)
            if Bool.random(using: &random) { try network.synchronize() }
        }
        return try network.history.sorted { $0.key < $1.key }.flatMap(\.value)
            .map { try ReplicaFile(bytes: Array($0)) }
    }

    private static func facts(_ files: [ReplicaFile], as replica: ReplicaID) throws -> Facts {
        let state = try DirectoryState(path: ":memory:")
        try state.begin(as: replica, named: "reader")
        for file in files { _ = try state.join(file) }
        var facts = Facts()
        let snapshots = try state.connection.rows(
            "SELECT replica, sequence, content FROM directory_snapshot"
        ) { ($0.replica(at: 0), [$0.integer(at: 1), $0.integer(at: 2)]) }
        for (replica, numbers) in snapshots { facts.snapshots[replica] = numbers }
        for key in RandomOperationTests.keys {
            let versions = try state.versions(of: key)
            facts.covers[key] = versions.covers
            facts.winners[key] = versions.live.max()
            if let winner = versions.live.max() {
                #expect(try state.shown(of: key)?.head == winner)
            }
        }
        return facts
    }
}
