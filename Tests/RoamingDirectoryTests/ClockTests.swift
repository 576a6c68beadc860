import DefaultsRoaming
import Foundation
import TestSupport
import Testing

@testable import RoamingDirectory

@Suite("Wrong clocks")
struct ClockTests {
    static let key = RoamingKey(domain: "org.example.App", name: "key")
    static let other = RoamingKey(domain: "org.example.App", name: "other")

    /// Lets machines exchange everything, each file half a second after it was written.
    private static func exchange(_ network: Network) async throws {
        for _ in 0..<3 {
            network.clock.now += 500_000
            try network.synchronize()
            for device in network.devices { try await device.round() }
        }
    }

    /// Machines with the same values, whose clocks are off by some days.
    private static func machines(_ days: Int64...) async throws -> Network {
        let network = try Network(days.count)
        for (device, days) in zip(network.devices, days) {
            device.clock.skew = days * TestClock.day
        }
        network.devices[0].write("first", to: key)
        try await network.devices[0].round()
        try await exchange(network)
        for (number, device) in network.devices.enumerated() {
            device.write("\(number)", to: RoamingKey(domain: "a.b", name: "\(number)"))
            try await device.round()
        }
        try await exchange(network)
        return network
    }

    /// Two machines change the key without knowing of each other.
    private static func conflict(
        _ network: Network, first: Device, then second: Device, _ number: Int = 0
    ) async throws {
        first.write("early \(number)", to: key)
        try await first.round()
        network.clock.now += 2_000_000
        second.write("late \(number)", to: key)
        try await second.round()
        try await exchange(network)
        for device in network.devices {
            #expect(try await device.shown()[key] == device.value(of: key))
        }
    }

    @Test(
        "of up to 400 days do not decide: the later of two edits stands", arguments: 0..<UInt64(4))
    func constant(seed: UInt64) async throws {
        var random = SeededGenerator(case: seed)
        let days = (0..<3).map { _ in Int64.random(in: -400...400, using: &random) }
        let network = try await Self.machines(days[0], days[1], days[2], 0)
        var wrong = 0
        for number in 0..<25 {
            let pair = network.devices.shuffled(using: &random).prefix(2)
            try await Self.conflict(network, first: pair[0], then: pair[1], number)
            if pair[0].value(of: Self.key) != "late \(number)" { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test("that are set back while the machine runs change nothing")
    func setBack() async throws {
        let network = try await Self.machines(0, 0)
        let (first, second) = (network.devices[0], network.devices[1])
        second.clock.skew = -400 * TestClock.day
        try await Self.conflict(network, first: first, then: second)
        #expect(first.value(of: Self.key) == "late 0")
    }

    @Test("that were set ahead decide nothing once others have read a file of that machine")
    func setAhead() async throws {
        let network = try await Self.machines(0, 0)
        let (first, second) = (network.devices[0], network.devices[1])
        first.clock.skew = 400 * TestClock.day
        first.write("of the future", to: Self.other)
        try await first.round()
        try await Self.exchange(network)
        try await Self.conflict(network, first: first, then: second, 1)
        #expect(first.value(of: Self.key) == "late 1")
        // They are mended, and the others do not have to know.
        first.clock.skew = 0
        try await Self.conflict(network, first: first, then: second, 2)
        #expect(first.value(of: Self.key) == "late 2")
        try await Self.conflict(network, first: second, then: first, 3)
        #expect(first.value(of: Self.key) == "late 3")
    }

    @Test("are known after the process and the machine have started again")
    func starts() async throws {
        let network = try await Self.machines(400, 0)
        let (first, second) = (network.devices[0], network.devices[1])
        try second.restart()
        try await Self.conflict(network, first: first, then: second, 1)
        #expect(first.value(of: Self.key) == "late 1")
        second.clock.boot = ReplicaID.random().bytes
        try second.restart()
        network.clock.now += 10 * TestClock.day
        try await Self.conflict(network, first: first, then: second, 2)
        #expect(first.value(of: Self.key) == "late 2")
        // With an empty battery, too.
        second.clock.boot = ReplicaID.random().bytes
        second.clock.skew = -network.clock.now
        try second.restart()
        try await Self.exchange(network)
        try await Self.conflict(network, first: first, then: second, 3)
        #expect(first.value(of: Self.key) == "late 3")
    }

    @Test("of a machine that was away: its edits have the time at which they were made")
    func age() async throws {
        let network = try await Self.machines(400, 0)
        let (first, second) = (network.devices[0], network.devices[1])
        try await second.meet()
        let edit = Edit(
            key: Self.key, archive: Array("old".utf8), age: .seconds(3600), base: nil,
            earliest: .unknown)
        first.write("new", to: Self.key)
        try await first.round()
        try network.synchronize()
        try await second.meet()
        let number = try #require(second.lastBatch).number + 1
        second.lastBatch = (number, Array(repeating: 1, count: 16), true)
        let (outcomes, losers) = try await second.engine.push(
            Batch(number: number, nonce: Array(repeating: 1, count: 16), edits: [edit]))
        #expect(outcomes.map(\.result) == [.lost])
        // People are told the time by their own clock.
        let time = network.clock.now - 3_600_000_000
        let told = try #require(losers.first?.time)
        #expect(told >= .known(time - 1_000_000) && told <= .known(time + 1_000_000))
        let seen = try #require(
            try await second.engine.machines().first { $0.id == first.id }?.seen)
        #expect(abs(seen - network.clock.now) <= 1_000_000)
    }

    @Test("of the largest number break nothing, and who knows such a version replaces it")
    func largest() async throws {
        let network = try await Self.machines(0, 0)
        let device = network.devices[0]
        let stranger = HostileFileTests.stranger
        let lines =
            HostileFileTests.header.filter { !$0.hasPrefix("written") } + [
                "written \(Dot.largestCounter)", "key org.example.App key",
                "set \(stranger) 1 \(Dot.largestCounter) aGk=",
            ]
        try network.put(
            Data(HostileFileTests.sealed(lines)), as: HostileFileTests.name, on: device)
        device.clock.skew = .max - network.clock.now - TestClock.day
        try await device.round()
        #expect(device.value(of: Self.key) == "hi")
        for number in 0..<3 {
            network.clock.now += 1_000_000
            device.write("\(number)", to: Self.key)
            try await device.round()
            try network.synchronize()
            try await network.devices[1].round()
            #expect(network.devices[1].value(of: Self.key) == "\(number)")
        }
    }

    @Test("of any numbers never overflow", arguments: [Int64.min, -1, 0, 1, .max])
    func bounds(number: Int64) {
        let numbers = [Int64.min, -1, 0, 1, .max]
        for (since, wall) in numbers.flatMap({ since in numbers.map { (since, $0) } }) {
            for boot in [[UInt8](), [1]] {
                let start = Moment(boot: boot, sinceBoot: since, wall: wall)
                var clock = MeetingClock(moment: start, time: number)
                clock.goOn(to: Moment(boot: [1], sinceBoot: number, wall: since))
                clock.set(to: wall)
                #expect(clock.time <= MeetingClock.latest)
                #expect(clock.time >= min(number, MeetingClock.latest))
                _ = clock.lead
            }
        }
    }
}
