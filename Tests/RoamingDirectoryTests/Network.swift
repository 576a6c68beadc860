import DBus
import DefaultsRoaming
import Foundation
import RoamingDirectory
import TestSupport

/// Machines whose directories a synchroniser keeps the same: late, in any order, and sometimes wrongly.
final class Network {
    let parent: TemporaryDirectory
    let clock = TestClock()
    let ledger = Ledger()
    let loop: EventLoop
    private var random: SeededGenerator
    private(set) var devices: [Device] = []
    /// All contents that each file has ever had.
    private(set) var history: [String: [Data]] = [:]

    /// In memory, if the system has a directory there: all calls wait for the disk.
    ///
    /// - Parameter random: Gives the names of the replicas, which decide between edits of the same time.
    init(_ count: Int, using random: SeededGenerator = SeededGenerator(seed: 0)) throws {
        self.random = random
        let memory = "/dev/shm"
        parent = try TemporaryDirectory(
            in: FileManager.default.isWritableFile(atPath: memory) ? memory : nil)
        loop = try EventLoop.startThread(named: "directory")
        for _ in 0..<count { try addDevice() }
    }

    deinit { loop.stop() }

    @discardableResult
    func addDevice() throws -> Device {
        let device = try Device(
            "m\(devices.count)", ids: SeededGenerator(seed: random.next()), in: parent.path,
            clock: clock, on: loop, ledger: ledger)
        devices.append(device)
        return device
    }

    /// The names in a machine's directory.
    func names(of device: Device) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: device.directory)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Remembers what a machine has written.
    func record(_ device: Device) {
        let name = "\(device.id).roam"
        guard let data = FileManager.default.contents(atPath: device.file),
            history[name]?.last != data
        else { return }
        history[name, default: []].append(data)
    }

    /// Copies the marker and the files that machines have written themselves to all.
    func synchronize(_ chosen: [Device]? = nil) throws {
        let devices = chosen ?? devices
        let marker = devices.lazy.compactMap {
            FileManager.default.contents(atPath: "\($0.directory)/defaultsd-roam")
        }.first
        for device in devices {
            record(device)
            if let marker { try put(marker, as: "defaultsd-roam", on: device) }
            for other in devices where other !== device {
                guard let data = FileManager.default.contents(atPath: other.file) else { continue }
                try put(data, as: "\(other.id).roam", on: device)
            }
        }
    }

    /// As a synchroniser, which renames a whole file.
    func put(_ data: Data, as name: String, on device: Device) throws {
        try data.write(to: URL(filePath: "\(device.directory)/\(name)"), options: .atomic)
    }

    /// Lets machines synchronise and look until nothing changes any more.
    func settle(rounds: Int = 4) async throws {
        for _ in 0..<rounds {
            for device in devices { try await device.round() }
            try synchronize()
        }
    }

    /// Lets days pass in which all machines are on.
    func passDays(_ count: Int) async throws {
        for _ in 0..<count {
            clock.now += TestClock.day
            for device in devices { try await device.round() }
            try synchronize()
        }
    }
}
