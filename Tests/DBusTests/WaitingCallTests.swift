import Glibc
import Synchronization
import SystemCalls
import TestTiers
import Testing

@testable import DBus

/// Waiting calls are limited, and the room is shared among the callers.
@Suite(.startsPrograms) struct WaitingCallTests {
    /// Serves methods that note who calls: in no time, and after keeping the loop for two milliseconds,
    /// by a clock that stands still otherwise.
    private static func serve(on connection: Connection) async -> Log<BusName> {
        let log = Log<BusName>()
        let clock = StoppedClock()
        await connection.setClock { clock.now }
        let quick = Method("Quick", in: [Argument("bytes", "ay")]) { call in
            if let sender = call.sender { log.append(sender) }
            try call.reply()
        }
        let long = Method("Long") { call in
            if let sender = call.sender { log.append(sender) }
            clock.advance(by: CallSchedule<WaitingCall>.allowance * 2)
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

    @Test(arguments: [(40, 0, 32), (6, 16 << 20, 4)])
    func `A caller that fills the room is refused more, and room is made for others`(
        _ count: Int, _ size: Int, _ room: Int
    ) async throws {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.boundWaitingCalls(to: 32)
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

    @Test func `The answer of the bus is read however much waits for it (Link 8)`() async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        await fake.service.identifyCallers()
        // The last one finds room for a byte, and is as large as messages are.
        let small = try await Self.send(1, size: 63 << 20, from: ":1.7", to: fake)
        let large = try await fake.send(from: ":1.7", "Large") {
            for _ in 0..<2 { try $0.writeBytes([UInt8](repeating: 0, count: 63 << 20)) }
        }
        var questions = fake.questions.makeAsyncIterator()
        #expect(await questions.next() == "credentials :1.7")
        while await fake.service.waitingCalls < 2 { await Task.yield() }
        try await fake.answer("credentials :1.7", [])
        #expect(try await Self.carriedOut(small) == 1)
        let error = await #expect(throws: DBusError.self) { try await large.reply() }
        #expect(error?.name == .unknownMethod)
    }

    @Test func `The answer is read however many descriptors wait for it (Link 8)`() async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        await fake.service.identifyCallers()
        let file = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        let files = Value.array(of: "h", [Value](repeating: .unixFD(file), count: 253))
        var calls: [FakeBus.Pending] = []
        for _ in 0..<5 { calls.append(try await fake.sendUnchecked(files, from: ":1.7", "Files")) }
        for call in calls[2...] {
            await #expect(throws: DBusError.tooMuchWaits) { try await call.reply() }
        }
        #expect(await fake.service.waitingCalls == 2)
        try await fake.answer("credentials :1.7", [])
        for call in calls[..<2] {
            let error = await #expect(throws: DBusError.self) { try await call.reply() }
            #expect(error?.name == .unknownMethod)
        }
    }

    @Test func `Calls that wait for their turn are carried out rather than refused`() async throws {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.boundWaitingCalls(to: 10)
        var calls: [FakeBus.Pending] = []
        for _ in 0..<400 { calls.append(try await fake.send(from: ":1.7", "Long")) }
        #expect(try await Self.carriedOut(calls) == 400)
        #expect(log.entries.count == 400)
    }

    @Test func `A caller that keeps the loop busy lets others go first`() async throws {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        // As if all had come in one piece.
        await fake.service.holdCalls()
        var calls: [FakeBus.Pending] = []
        for _ in 0..<400 { calls.append(try await fake.send(from: ":1.7", "Long")) }
        calls.append(try await fake.send(from: ":1.8", "Long"))
        try await fake.passAll()
        await fake.service.releaseCalls()
        for call in calls { _ = try await call.reply() }
        let place = try #require(log.entries.firstIndex(of: ":1.8"))
        #expect(place <= 1)
    }
}

/// A clock that goes on when it is told to.
private final class StoppedClock: Sendable {
    private let start = SuspendingClock.now
    private let passed = Mutex(Duration.zero)

    var now: SuspendingClock.Instant { start.advanced(by: passed.withLock { $0 }) }

    func advance(by time: Duration) {
        passed.withLock { $0 += time }
    }
}

extension Connection {
    fileprivate var waitingSize: Int { calls.schedule.size }

    fileprivate func setClock(_ now: @escaping @Sendable () -> SuspendingClock.Instant) {
        calls.otherTime = now
    }

    fileprivate func boundWaitingCalls(to count: Int) {
        calls.schedule = CallSchedule(bounds: CallSchedule.Bounds(calls: count))
    }
}
