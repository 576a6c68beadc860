import DefaultsRoaming
import Foundation
import RoamingDirectory
import Testing

@Suite("The directory")
struct PlaceTests {
    static let key = RoamingKey(domain: "org.example.App", name: "key")

    private static func failure(of device: Device) async -> EngineError.Kind? {
        do {
            try await device.meet()
            return nil
        } catch {
            return (error as? EngineError)?.kind
        }
    }

    @Test("that is missing cannot be reached")
    func missing() async throws {
        let network = try Network(1)
        let device = network.devices[0]
        try FileManager.default.removeItem(atPath: device.directory)
        #expect(await Self.failure(of: device) == .unreachable)
        try Data().write(to: URL(filePath: device.directory))
        #expect(await Self.failure(of: device) == .refused)
    }

    @Test(
        "that is empty because nothing is mounted takes nothing away, and nothing is written there")
    func emptyMountPoint() async throws {
        let network = try Network(2)
        let (device, other) = (network.devices[0], network.devices[1])
        other.write("theirs", to: Self.key)
        try await other.round()
        try network.synchronize()
        try await device.round()
        let mounted = device.directory + ".mounted"
        try FileManager.default.moveItem(atPath: device.directory, toPath: mounted)
        try FileManager.default.createDirectory(
            atPath: device.directory, withIntermediateDirectories: false)
        #expect(await Self.failure(of: device) == .unreachable)
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.directory).isEmpty)
        #expect(try await device.shown() == [Self.key: "theirs"])
        await #expect(throws: EngineError.self) {
            try await device.engine.push(Batch(number: 9, nonce: [], edits: []))
        }

        try FileManager.default.removeItem(atPath: device.directory)
        try FileManager.default.moveItem(atPath: mounted, toPath: device.directory)
        try await device.round()
        #expect(device.value(of: Self.key) == "theirs")
    }

    @Test("without a marker is not used at first if others have used it")
    func filesWithoutMarker() async throws {
        let network = try Network(2)
        try await network.devices[0].round()
        try network.synchronize()
        let marker = "\(network.devices[1].directory)/defaultsd-roam"
        try FileManager.default.removeItem(atPath: marker)
        #expect(await Self.failure(of: network.devices[1]) == .unreachable)
        try Data("defaultsd-roam pla".utf8).write(to: URL(filePath: marker))
        #expect(await Self.failure(of: network.devices[1]) == .unreachable)
        try network.synchronize()
        #expect(await Self.failure(of: network.devices[1]) == nil)
    }

    @Test("that is another one gets what this replica knows, and loses nothing")
    func anotherDirectory() async throws {
        let network = try Network(2)
        let (device, other) = (network.devices[0], network.devices[1])
        device.write("mine", to: Self.key)
        try await device.round()
        let second = RoamingKey(domain: "org.example.App", name: "second")
        other.write("theirs", to: second)
        try await other.round()
        // Each has made a marker of its own; now one of them is everywhere.
        try network.synchronize()
        let meetings = [try await device.meet(), try await other.meet()]
        #expect(meetings.count { $0.state == .continued } == 1)
        #expect(meetings.count { $0.state == .rewound } == 1)
        #expect(meetings[0].place == meetings[1].place)
        try await network.settle()
        for machine in network.devices {
            #expect(try await machine.shown() == [Self.key: "mine", second: "theirs"])
        }
    }

    @Test("tells of a file of another machine")
    func news() async throws {
        let network = try Network(2)
        let (device, other) = (network.devices[0], network.devices[1])
        try await other.round()
        try await device.round()
        let (events, continuation) = AsyncStream.makeStream(of: Void.self)
        await device.engine.onNews { continuation.yield() }
        other.write("theirs", to: Self.key)
        try await other.round()
        try network.synchronize([device, other])
        var iterator = events.makeAsyncIterator()
        await iterator.next()
        try await device.round()
        #expect(device.value(of: Self.key) == "theirs")
        await device.engine.close()
    }
}
