import DefaultsRoaming
import Foundation
import RoamingDirectory
import TestSupport
import Testing

@Suite("Machines that share a directory")
struct RandomOperationTests {
    static let keys = (0..<6).map { RoamingKey(domain: "org.example.App", name: "key \($0)") }

    @Test(
        "are the same in the end, and no value is lost, whatever the synchroniser does",
        arguments: 0..<UInt64(8))
    func torture(seed: UInt64) async throws {
        try await run(SeededGenerator(case: seed), "\(seed)", forgetting: false)
    }

    @Test(
        "are the same in the end, and no value is lost, also if they are forgotten and come back",
        arguments: 0..<UInt64(6))
    func forgetting(seed: UInt64) async throws {
        try await run(SeededGenerator(case: seed), "\(seed)", forgetting: true)
    }

    /// Drawn once by ``forgetting(seed:)``.
    @Test("have each value once in their files, also if a forgotten machine has it again")
    func valueOfForgotten() async throws {
        let random = SeededGenerator(case: 5, testSeed: 4, function: "forgetting(seed:)")
        try await run(random, "5", forgetting: true)
    }

    private func run(
        _ generator: SeededGenerator, _ name: String, forgetting: Bool
    ) async throws {
        var random = generator
        let network = try Network(Int.random(in: 2...5, using: &random), using: random)
        try await network.devices[0].round()
        try network.synchronize()
        var number = 0
        for _ in 0..<1000 {
            let device = try #require(network.devices.randomElement(using: &random))
            try await step(on: device, in: network, &number, using: &random)
            if forgetting, Int.random(in: 0..<50, using: &random) == 0 {
                try await device.meet()
                let other = try #require(network.devices.randomElement(using: &random))
                if other !== device { try await device.engine.forget(other.id) }
            }
        }
        let joins = network.devices.reduce(0) { $0 + $1.joins }
        try await Self.checkEnd(of: network, "seed \(name)")
        #expect(forgetting || joins == 0, "seed \(name)")
    }

    private func step(
        on device: Device, in network: Network, _ number: inout Int,
        using random: inout SeededGenerator
    ) async throws {
        network.clock.now += Int64.random(in: 1...3_000_000, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40:
            let key = try #require(Self.keys.randomElement(using: &random))
            number += 1
            device.write(
                Int.random(in: 0..<5, using: &random) == 0 ? nil : "value \(number)", to: key)
            if Bool.random(using: &random) { try await Self.round(device, &random) }
        case 40..<60: try await Self.round(device, &random)
        case 60..<85: try deliver(to: device, in: network, using: &random)
        case 85..<90: try device.restart()
        case 90..<95: try crashBeforeRename(device, in: network, using: &random)
        case 95..<98: network.clock.now += TestClock.day
        default: try network.synchronize()
        }
        network.record(device)
    }

    private static func round(_ device: Device, _ random: inout SeededGenerator) async throws {
        try await device.round(repeatingBatch: Int.random(in: 0..<8, using: &random) == 0)
    }

    /// Brings a file of another machine: the last one, an old one, a half, or a copy with another name.
    private func deliver(
        to device: Device, in network: Network, using random: inout SeededGenerator
    ) throws {
        let others = network.history.keys.filter { $0 != "\(device.id).roam" }.sorted()
        guard let name = others.randomElement(using: &random),
            let versions = network.history[name], let last = versions.last
        else { return }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5: try network.put(last, as: name, on: device)
        case 5..<7:
            try network.put(versions.randomElement(using: &random) ?? last, as: name, on: device)
        case 7: try network.put(last.prefix(last.count / 2), as: name, on: device)
        default:
            let copy = name.replacing(".roam", with: ".sync-conflict-20261124-1.roam")
            try network.put(versions.randomElement(using: &random) ?? last, as: copy, on: device)
        }
    }

    /// The process ends when the tables are written, and the file is not.
    private func crashBeforeRename(
        _ device: Device, in network: Network, using random: inout SeededGenerator
    ) throws {
        let name = "\(device.id).roam"
        guard let versions = network.history[name], versions.count > 1 else { return }
        let isGone = Bool.random(using: &random)
        if isGone {
            try? FileManager.default.removeItem(atPath: device.file)
        } else {
            try network.put(versions[versions.count - 2], as: name, on: device)
        }
        try network.put(Data("half".utf8), as: ".\(name).new", on: device)
        try device.restart()
    }

    /// Checks what holds at the end of each run.
    static func checkEnd(of network: Network, _ comment: Comment) async throws {
        try await network.settle(rounds: 6)
        let shown = try await network.devices[0].shown()
        for device in network.devices {
            #expect(try await device.shown() == shown, comment)
            #expect(Self.keys.allSatisfy { device.value(of: $0) == shown[$0] }, comment)
        }
        try checkLedger(of: network, shown, comment)
        try await checkNewcomer(of: network, shown, comment)
        try await checkGarbage(of: network, shown, comment)
    }

    static func checkLedger(
        of network: Network, _ shown: [RoamingKey: String], _ comment: Comment
    ) throws {
        let ledger = network.ledger
        for (key, value) in ledger.acknowledged {
            let isThere = shown[key] == value
            #expect(
                isThere || ledger.replaced.contains(value) || ledger.told.contains(value),
                "\(comment): \(value) of \(key.name) is gone")
        }
    }

    /// A machine that reads the files for the first time shows the same.
    private static func checkNewcomer(
        of network: Network, _ shown: [RoamingKey: String], _ comment: Comment
    ) async throws {
        let newcomer = try network.addDevice()
        try network.synchronize()
        try await newcomer.round()
        #expect(try await newcomer.shown() == shown, comment)
    }

    /// After some quiet days the files have the shown versions and nothing else.
    ///
    /// Several files may have a version of a replica that was forgotten.
    private static func checkGarbage(
        of network: Network, _ shown: [RoamingKey: String], _ comment: Comment
    ) async throws {
        try await network.passDays(20)
        var heads: [RoamingKey: [Dot: String?]] = [:]
        for device in network.devices {
            let data = try #require(FileManager.default.contents(atPath: device.file))
            for entry in try ReplicaFile(bytes: Array(data)).entries {
                #expect(entry.covers == VersionVector(), comment)
                for head in entry.heads {
                    heads[entry.key, default: [:]][head.dot] = .some(Device.text(head.archive))
                }
            }
        }
        #expect(heads.mapValues { Array($0.values) } == shown.mapValues { [$0] }, comment)
        for device in network.devices { #expect(try await device.shown() == shown, comment) }
    }
}
