import DefaultsRoaming
import Foundation
import RoamingDirectory
import Testing

/// The rules of who is forgotten, and of what becomes of its versions.
@Suite("A forgotten replica")
struct ForgettingTests {
    private static let key = LifeOfReplicaTests.key
    private static let second = LifeOfReplicaTests.second

    /// The versions of the key in the files of some machines.
    private static func heads(_ devices: [Device]) throws -> [Head] {
        try devices.flatMap { device in
            let data = try #require(FileManager.default.contents(atPath: device.file))
            return try ReplicaFile(bytes: Array(data)).entries
                .filter { $0.key == key }.flatMap(\.heads)
        }
    }

    /// Lets days pass on which only some machines are on.
    private static func passDays(_ network: Network, _ devices: [Device]) async throws {
        for _ in 0..<20 {
            network.clock.now += TestClock.day
            for device in devices { try await device.round() }
            try network.synchronize(devices)
        }
    }

    @Test("forgets its name, too, so that nobody waits for it, also if a forgotten one says so")
    func oldName() async throws {
        let network = try await LifeOfReplicaTests.machines(3)
        let (first, other, gone) = (network.devices[0], network.devices[1], network.devices[2])
        try await first.engine.forget(gone.id)
        let file = try #require(FileManager.default.contents(atPath: first.file))
        // The one who has forgotten it never comes back, and nobody else has read its file.
        try await other.engine.forget(first.id)
        try network.synchronize([other, gone])
        try await gone.round()
        try network.put(file, as: "\(first.id).roam", on: gone)
        try await gone.round()
        #expect(gone.joins == 1)
        try network.synchronize([other, gone])
        for device in [other, gone] { try await device.round() }
        for device in [other, gone] {
            let machines = try await device.engine.machines()
            #expect(Set(machines.map(\.id)) == [other.id, gone.id])
            #expect(try await device.shown() == [Self.key: "first"])
        }
    }

    @Test("takes along what it had taken over from another, though it has not handed it out yet")
    func takenOver() async throws {
        let network = try await LifeOfReplicaTests.machines(3)
        let (first, other, gone) = (network.devices[0], network.devices[1], network.devices[2])
        gone.write("seen by one", to: Self.second)
        try await gone.round()
        try network.synchronize([other, gone])
        try await other.meet()
        try await first.engine.forget(gone.id)
        try await first.engine.forget(other.id)
        // The synchroniser removes the file everywhere.
        try FileManager.default.removeItem(atPath: "\(other.directory)/\(gone.id).roam")
        try network.synchronize([first, other])
        try await other.round()
        #expect(other.joins == 1)
        try network.synchronize([first, other])
        for device in [first, other] { try await device.round() }
        for device in [first, other] {
            #expect(try await device.shown()[Self.second] == "seen by one")
        }
    }

    @Test("replaces nothing by a file that does not count: what replaced it would be nowhere")
    func lateFile() async throws {
        let network = try await LifeOfReplicaTests.machines(3)
        let (first, other, gone) = (network.devices[0], network.devices[1], network.devices[2])
        gone.write("after it was forgotten", to: Self.key)
        try await gone.round()
        try await first.engine.forget(gone.id)
        let file = try #require(FileManager.default.contents(atPath: gone.file))
        try network.synchronize([first, other])
        try await other.round()
        for device in [first, other] { try network.put(file, as: "\(gone.id).roam", on: device) }
        try await Self.passDays(network, [first, other])
        for device in [first, other] {
            #expect(try await device.shown() == [Self.key: "first"])
        }
        #expect(try Self.heads([first, other]).map { Device.text($0.archive) } == ["first"])
    }

    @Test("leaves no removal for ever, though several have taken it over")
    func removal() async throws {
        let network = try await LifeOfReplicaTests.machines(3)
        let here = Array(network.devices.prefix(2))
        let gone = network.devices[2]
        gone.write(nil, to: Self.key)
        try await gone.round()
        try network.synchronize()
        for device in here { try await device.round() }
        for device in here { try await device.engine.forget(gone.id) }
        #expect(try Self.heads(here).count(where: { $0.archive == nil }) == 2)
        try network.synchronize(here)
        try await Self.passDays(network, here)
        #expect(try Self.heads(here).isEmpty)
        for device in here { #expect(try await device.shown().isEmpty) }
    }

    @Test("leaves each value once, though its machine has joined again with the same values")
    func valueOfFormerName() async throws {
        let network = try await LifeOfReplicaTests.machines(2)
        let (author, other) = (network.devices[0], network.devices[1])
        let former = author.id
        let tables = author.savedTables()
        author.write("later", to: Self.second)
        try await author.round()
        try author.restart(with: tables)
        try await author.round()
        #expect(author.joins == 1)
        // The file of the former name may be that of a copy, so the value is in the new one, too.
        #expect(try Self.heads([author]).map { Device.text($0.archive) } == ["first"])
        try network.synchronize()
        try await other.round()
        try await other.engine.forget(former)
        try network.synchronize()
        try? FileManager.default.removeItem(atPath: "\(author.directory)/\(former).roam")
        try await Self.passDays(network, network.devices)
        #expect(try Self.heads(network.devices).map { Device.text($0.archive) } == ["first"])
        for device in network.devices {
            #expect(try await device.shown()[Self.key] == "first")
        }
        // Nor does it say so again.
        author.write("first", to: Self.key)
        try await author.round()
        #expect(try Self.heads(network.devices).map { Device.text($0.archive) } == ["first"])
    }

    @Test("leaves its last version only, though another has taken over an earlier one")
    func earlierVersion() async throws {
        let network = try await LifeOfReplicaTests.machines(3)
        let (first, other, gone) = (network.devices[0], network.devices[1], network.devices[2])
        gone.write("earlier", to: Self.key)
        try await gone.round()
        try network.synchronize()
        try await first.round()
        gone.write("later", to: Self.key)
        try await gone.round()
        try network.synchronize([other, gone])
        try await other.round()
        for device in [first, other] { try await device.engine.forget(gone.id) }
        try network.synchronize([first, other])
        try await Self.passDays(network, [first, other])
        #expect(try Self.heads([first, other]).map { Device.text($0.archive) } == ["later"])
        for device in [first, other] {
            #expect(try await device.shown() == [Self.key: "later"])
        }
    }
}
