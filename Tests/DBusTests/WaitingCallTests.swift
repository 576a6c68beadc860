import Testing

@testable import DBus

/// What waits is bounded, and shared out among the callers.
@Suite(.timeLimit(.minutes(2))) struct WaitingCallTests {
    /// Serves methods that note who calls: at once, and after keeping the loop for a millisecond.
    private static func serve(on connection: Connection) async -> Log<BusName> {
        let log = Log<BusName>()
        let quick = Method("Quick", in: [Argument("bytes", "ay")]) { call in
            if let sender = call.sender { log.append(sender) }
            try call.reply()
        }
        let long = Method("Long") { call in
            if let sender = call.sender { log.append(sender) }
            let clock = ContinuousClock()
            let end = clock.now + CallSchedule<WaitingCall>.allowance
            while clock.now < end {}
            try call.reply()
        }
        await connection.export([Interface("a.Service", methods: [quick, long])], at: "/")
        return log
    }

    private static func send(
        _ count: Int, size: Int = 0, from sender: BusName, to fake: FakeBus
    ) async throws -> [FakeBus.Pending] {
        var calls: [FakeBus.Pending] = []
        for _ in 0..<count {
            let call = try await fake.send(from: sender, "Quick") {
                try $0.writeBytes([UInt8](repeating: 0, count: size))
            }
            calls.append(call)
        }
        return calls
    }

    /// How many of the calls were carried out, the rest being refused for want of room.
    private static func carriedOut(_ calls: [FakeBus.Pending]) async throws -> Int {
        var count = 0
        for call in calls {
            do {
                _ = try await call.reply()
                count += 1
            } catch let error as DBusError {
                #expect(error == .tooMuchWaits)
            }
        }
        return count
    }

    @Test(arguments: [(5000, 0, 4096), (6, 16 << 20, 4)])
    func `Who fills the room is refused more, and room is made for others`(
        _ count: Int, _ size: Int, _ room: Int
    ) async throws {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.identifyCallers()
        let greedy = try await Self.send(count, size: size, from: ":1.7", to: fake)
        let modest = try await Self.send(2, from: ":1.8", to: fake)
        try await fake.passAll()
        try await fake.answer("credentials :1.8", [])
        #expect(try await Self.carriedOut(modest) == 2)
        try await fake.answer("credentials :1.7", [])
        // By bytes one call less makes room for both.
        #expect(try await Self.carriedOut(greedy) == room - (size == 0 ? 2 : 1))
        #expect(log.entries.prefix(2) == [":1.8", ":1.8"])
        #expect(await fake.service.waitingSize == 0)
    }

    @Test func `Calls that wait for their turn are carried out rather than refused`() async throws {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        let calls = try await Self.send(20_000, from: ":1.7", to: fake)
        #expect(try await Self.carriedOut(calls) == 20_000)
        #expect(log.entries.count == 20_000)
    }

    @Test func `Who keeps the loop busy lets others go first`() async throws {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        var calls: [FakeBus.Pending] = []
        for _ in 0..<400 { calls.append(try await fake.send(from: ":1.7", "Long")) }
        calls.append(try await fake.send(from: ":1.8", "Long"))
        for call in calls { _ = try await call.reply() }
        // Some are read and carried out on the way to it, but by far not all.
        let place = try #require(log.entries.firstIndex(of: ":1.8"))
        #expect(place < 200)
    }
}

extension Connection {
    fileprivate var waitingSize: Int { calls.schedule.size }
}
