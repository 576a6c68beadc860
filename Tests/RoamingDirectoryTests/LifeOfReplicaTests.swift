import DefaultsRoaming
import Foundation
import RoamingDirectory
import SQLite
import Testing

@Suite("A replica")
struct LifeOfReplicaTests {
    static let key = RoamingKey(domain: "org.example.App", name: "key")
    static let second = RoamingKey(domain: "org.example.App", name: "second")

    /// Machines that have the same value.
    static func machines(_ count: Int) async throws -> Network {
        let network = try Network(count)
        network.devices[0].write("first", to: key)
        try await network.devices[0].round()
        try network.synchronize()
        try await network.settle()
        return network
    }

    // MARK: Removals

    @Test("that was away does not bring a removed key back, by its file or an old copy of another")
    func removal() async throws {
        let network = try await Self.machines(3)
        let (device, old) = (network.devices[0], network.devices[2])
        // Its file has the version that is removed.
        old.write("second", to: Self.key)
        try await old.round()
        try network.synchronize()
        try await device.round()
        let copies = try network.devices.map {
            ($0.id, try #require(FileManager.default.contents(atPath: $0.file)))
        }
        device.write(nil, to: Self.key)
        try await device.round()
        for _ in 0..<30 {
            network.clock.now += TestClock.day
            for machine in network.devices.prefix(2) { try await machine.round() }
            try network.synchronize(Array(network.devices.prefix(2)))
        }
        // The one that was away has not joined the removal, so it is still there.
        #expect(try String(contentsOfFile: device.file, encoding: .utf8).contains("removed"))
        for (id, data) in copies where id != device.id {
            try network.put(data, as: "\(id).sync-conflict-1.roam", on: device)
        }
        try network.synchronize()
        try await network.settle()
        try await network.passDays(20)
        for machine in network.devices { #expect(try await machine.shown().isEmpty) }
        for machine in network.devices {
            #expect(try !String(contentsOfFile: machine.file, encoding: .utf8).contains("key "))
        }
        // Not even after the removal is forgotten everywhere.
        for (id, data) in copies {
            for machine in network.devices {
                try network.put(data, as: "\(id).sync-conflict-1.roam", on: machine)
            }
        }
        try await network.settle()
        for machine in network.devices { #expect(try await machine.shown().isEmpty) }
    }

    /// Two machines that have replaced the first value, and have dropped its version, and a newcomer that
    /// has read an old copy only.
    private static func afterOldCopy(of value: String?) async throws -> (Network, newcomer: Device)
    {
        let network = try await machines(2)
        let author = network.devices[0]
        let copy = try #require(FileManager.default.contents(atPath: author.file))
        network.devices[1].write(value, to: key)
        try await network.devices[1].round()
        try network.synchronize()
        try await network.passDays(20)
        #expect(try !String(contentsOfFile: author.file, encoding: .utf8).contains("key "))
        let newcomer = try network.addDevice()
        let marker = try #require(
            FileManager.default.contents(atPath: "\(author.directory)/defaultsd-roam"))
        try network.put(marker, as: "defaultsd-roam", on: newcomer)
        try network.put(copy, as: "\(author.id).roam", on: newcomer)
        try await newcomer.round()
        #expect(newcomer.value(of: key) == "first")
        return (network, newcomer)
    }

    @Test("that has only read an old copy learns of a removal that no file has any more")
    func removalInNoFile() async throws {
        let (network, newcomer) = try await Self.afterOldCopy(of: nil)
        try network.synchronize()
        try await newcomer.round()
        #expect(newcomer.value(of: Self.key) == nil)
        try await network.settle()
        for machine in network.devices { #expect(try await machine.shown().isEmpty) }
    }

    @Test("does not take a key for removed while it waits for the file that has its value")
    func valueInMissingFile() async throws {
        let (network, newcomer) = try await Self.afterOldCopy(of: "second")
        let author = network.devices[0]
        let file = try #require(FileManager.default.contents(atPath: author.file))
        try network.put(file, as: "\(author.id).roam", on: newcomer)
        try await newcomer.round()
        #expect(newcomer.value(of: Self.key) == "first")
        try network.synchronize()
        try await newcomer.round()
        #expect(newcomer.value(of: Self.key) == "second")
    }

    @Test("that was away for half a year is not waited for, and joins anew")
    func absence() async throws {
        let network = try await Self.machines(3)
        let (device, old) = (network.devices[0], network.devices[2])
        device.write(nil, to: Self.key)
        device.write("kept", to: Self.second)
        old.write("made while away", to: RoamingKey(domain: "org.example.App", name: "third"))
        try await old.round()
        try await device.round()
        let here = Array(network.devices.prefix(2))
        try network.synchronize(here)
        for _ in 0..<190 {
            network.clock.now += TestClock.day
            for machine in here { try await machine.round() }
            try network.synchronize(here)
        }
        #expect(try !String(contentsOfFile: device.file, encoding: .utf8).contains("removed"))
        #expect(try await device.engine.machines().count == 2)
        try network.synchronize()
        try await network.settle()
        #expect(old.joins == 1)
        let shown = try await device.shown()
        #expect(shown[Self.second] == "kept")
        #expect(shown[RoamingKey(domain: "org.example.App", name: "third")] == "made while away")
        for machine in network.devices { #expect(try await machine.shown() == shown) }
    }

    // MARK: Forgetting

    @Test("that is forgotten leaves its values to the others, also those that only some have seen")
    func forgetting() async throws {
        let network = try await Self.machines(3)
        let (device, other, gone) = (network.devices[0], network.devices[1], network.devices[2])
        gone.write("by the one that is gone", to: Self.key)
        try await gone.round()
        try network.synchronize()
        try await device.round()
        gone.write("seen by one", to: Self.second)
        try await gone.round()
        try network.synchronize([other, gone])
        try await other.round()
        try await device.engine.forget(gone.id)
        #expect(!FileManager.default.fileExists(atPath: "\(device.directory)/\(gone.id).roam"))
        try FileManager.default.removeItem(atPath: "\(other.directory)/\(gone.id).roam")
        for _ in 0..<3 {
            try network.synchronize([device, other])
            try await device.round()
            try await other.round()
        }
        let expected = [Self.key: "by the one that is gone", Self.second: "seen by one"]
        for machine in [device, other] {
            #expect(try await machine.shown() == expected)
            #expect(try await machine.engine.machines().count == 2)
        }
        let newcomer = try network.addDevice()
        try network.synchronize([device, other, newcomer])
        try await newcomer.round()
        #expect(try await newcomer.shown() == expected)

        // It comes back: under another name, and nothing is overwritten.
        try network.synchronize()
        try await network.settle()
        #expect(gone.joins == 1)
        for machine in network.devices { #expect(try await machine.shown() == expected) }
    }

    @Test("that is forgotten has what it lost told by the others")
    func forgottenLoser() async throws {
        let network = try await Self.machines(3)
        let (device, other, gone) = (network.devices[0], network.devices[1], network.devices[2])
        gone.write("loses", to: Self.key)
        try await gone.round()
        network.clock.now += 1_000_000
        other.write("wins", to: Self.key)
        try await other.round()
        try network.synchronize()
        try await device.round()
        #expect(device.value(of: Self.key) == "wins")
        #expect(network.ledger.told.isEmpty)
        try await device.engine.forget(gone.id)
        try await device.round()
        #expect(network.ledger.told == ["loses"])
        await #expect(throws: EngineError.self) { try await device.engine.forget(device.id) }
    }

    // MARK: Copies

    @Test("of which there are two copies goes on as two, and no value is lost")
    func clone() async throws {
        let network = try await Self.machines(2)
        let (original, clone) = try Self.clone(in: network)
        original.write("by the original", to: Self.key)
        clone.write("by the clone", to: Self.second)
        try await original.round()
        try await clone.round()
        // The synchroniser has two files of one name.
        let data = try #require(FileManager.default.contents(atPath: clone.file))
        try network.put(data, as: "\(clone.id).sync-conflict-1.roam", on: original)
        let other = try #require(FileManager.default.contents(atPath: original.file))
        try network.put(other, as: "\(original.id).roam", on: clone)
        try await network.settle()
        #expect(original.joins + clone.joins >= 1)
        #expect(original.id != clone.id)
        let shown = try await original.shown()
        #expect(shown[Self.second] == "by the clone")
        for machine in network.devices { #expect(try await machine.shown() == shown) }
        let key = shown[Self.key]
        #expect(key == "by the original" || network.ledger.told.contains("by the original"))
    }

    @Test("whose file a copy replaces keeps what only that file had")
    func replacedByClone() async throws {
        let network = try await Self.machines(2)
        let (original, clone) = try Self.clone(in: network)
        let third = RoamingKey(domain: Self.key.domain, name: "third")
        original.write("by the original", to: third)
        try await original.round()
        for number in 0..<3 {
            clone.write("\(number)", to: Self.second)
            try await clone.round()
        }
        // The original learns of the copy by the file of a machine that has read the copy's.
        let other = network.devices[1]
        let copied = try #require(FileManager.default.contents(atPath: clone.file))
        try network.put(copied, as: "\(clone.id).roam", on: other)
        other.write("by the other", to: Self.key)
        try await other.round()
        let knowing = try #require(FileManager.default.contents(atPath: other.file))
        try network.put(knowing, as: "\(other.id).roam", on: original)
        try await original.round()
        #expect(original.joins == 1)
        // From now on, everybody has the copy's file in the place of the original's.
        try await network.settle()
        for machine in network.devices {
            let shown = try await machine.shown()
            #expect(
                shown == [Self.key: "by the other", Self.second: "2", third: "by the original"])
        }
    }

    /// The first machine, and a copy of it.
    private static func clone(in network: Network) throws -> (original: Device, clone: Device) {
        let original = network.devices[0]
        let clone = try network.addDevice()
        try network.synchronize()
        clone.id = original.id
        (clone.place, clone.revision, clone.lastBatch) = (
            original.place, original.revision, original.lastBatch
        )
        clone.bases = original.bases
        try network.put(
            try #require(FileManager.default.contents(atPath: original.file)),
            as: "\(original.id).roam", on: clone)
        try clone.restart(with: original.savedTables())
        return (original, clone)
    }

    @Test("that was put back to an earlier state joins anew")
    func restored() async throws {
        let network = try await Self.machines(2)
        let device = network.devices[0]
        let saved = device.savedTables()
        let (revision, batch, bases) = (device.revision, device.lastBatch, device.bases)
        device.write("later", to: Self.key)
        try await device.round()
        try network.synchronize()

        (device.revision, device.lastBatch, device.bases) = (revision, batch, bases)
        try device.restart(with: saved)
        try await network.settle()
        #expect(device.joins == 1)
        for machine in network.devices {
            #expect(try await machine.shown() == [Self.key: "later"])
        }
    }

    // MARK: Batches

    @Test("pushes a batch once, and not under another nonce")
    func batches() async throws {
        let network = try await Self.machines(1)
        let device = network.devices[0]
        let number = try #require(device.lastBatch).number + 1
        func batch(_ nonce: UInt8, _ archive: [UInt8]) -> Batch {
            let edit = Edit(
                key: Self.second, archive: archive, age: .zero, base: nil, earliest: .unknown)
            return Batch(number: number, nonce: Array(repeating: nonce, count: 16), edits: [edit])
        }
        let first = try await device.engine.push(batch(1, [1]))
        let again = try await device.engine.push(batch(1, [1]))
        #expect(first.outcomes == again.outcomes)
        await #expect(throws: EngineError.self) { try await device.engine.push(batch(2, [2])) }
        let large = [UInt8](repeating: 0, count: FileLimits.archive + 1)
        let edit = Edit(key: Self.key, archive: large, age: .zero, base: nil, earliest: .unknown)
        let error = await #expect(throws: EngineError.self) {
            try await device.engine.push(
                Batch(
                    number: number + 1, nonce: Array(repeating: 3, count: 16), edits: [edit]))
        }
        #expect(error?.kind == .full([Self.key]))
    }

    @Test("whose file is full still takes removals, and smaller values")
    func fullFile() async throws {
        let network = try await Self.machines(1)
        let device = network.devices[0]
        // As many versions as this machine may have.
        let connection = try Connection(path: device.database, flags: [.readWrite])
        try connection.execute(
            """
            WITH RECURSIVE number (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number
                WHERE n < \(FileLimits.keys / 2))
            INSERT INTO directory_head (domain, key, voucher, replica, counter, archive)
            SELECT 'a.b', 'key ' || n, '\(device.id)', '\(device.id)', n, x'01' FROM number
            """)
        func push(_ key: RoamingKey, _ archive: [UInt8]?) async throws -> Outcome.Result? {
            network.clock.now += 1_000_000
            let number = try #require(device.lastBatch).number + 1
            device.lastBatch = (number, Array(repeating: 1, count: 16), true)
            let edit = Edit(key: key, archive: archive, age: .zero, base: nil, earliest: .unknown)
            return try await device.engine.push(
                Batch(number: number, nonce: Array(repeating: 1, count: 16), edits: [edit])
            ).outcomes.first?.result
        }
        let error = await #expect(throws: EngineError.self) { try await push(Self.second, [1]) }
        #expect(error?.kind == .full([Self.second]))
        device.lastBatch?.number -= 1
        #expect(try await push(Self.key, Array("f".utf8)) == .stands)
        #expect(try await push(Self.key, nil) == .stands)
    }

    @Test("that joins with a value of its own loses to what is there, and the value is told")
    func unknownTime() async throws {
        let network = try await Self.machines(1)
        let newcomer = try network.addDevice()
        newcomer.joins = 1
        newcomer.write("from before", to: Self.key)
        newcomer.write("only here", to: Self.second)
        try network.synchronize()
        try await newcomer.meet()
        try await newcomer.round()
        #expect(newcomer.value(of: Self.key) == "first")
        #expect(network.ledger.told == ["from before"])
        try network.synchronize()
        try await network.settle()
        #expect(network.devices[0].value(of: Self.second) == "only here")
    }

    @Test("that has the same value as another has no conflict, also after the next edit")
    func sameValue() async throws {
        let network = try await Self.machines(2)
        for device in network.devices {
            network.clock.now += 1
            device.write("same", to: Self.key)
            try await device.round()
        }
        try network.synchronize()
        try await network.settle()
        network.devices[0].write("next", to: Self.key)
        try await network.devices[0].round()
        try network.synchronize()
        try await network.settle()
        #expect(network.ledger.told.isEmpty)
        #expect(try await network.devices[1].shown() == [Self.key: "next"])
    }
}
