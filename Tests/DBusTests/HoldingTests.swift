import TestTiers
import Testing

@testable import DBus

/// Calls while a name changes hands.
@Suite(.startsPrograms) struct HoldingTests {
    /// Serves a method that notes the number that it is called with.
    private static func serve(on connection: Connection) async -> Log<UInt32> {
        let log = Log<UInt32>()
        let method = Method("Note", in: [Argument("number", "u"), Argument("bytes", "ay")]) {
            call in
            log.append(try call.arguments { try $0.readUInt32() })
            try call.reply()
        }
        await connection.export([Interface("a.Service", methods: [method])], at: "/")
        return log
    }

    /// Sends a call with this many bytes, and does not wait for its reply.
    private static func send(
        _ number: UInt32, size: Int = 0, from sender: BusName, to fake: FakeBus
    ) async throws -> FakeBus.Pending {
        try await fake.send(from: sender, "Note") {
            try $0.writeUInt32(number)
            try $0.writeBytes([UInt8](repeating: 0, count: size))
        }
    }

    @Test func `Held calls are carried out after the release, each caller's in order`() async throws
    {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.holdCalls()
        var calls: [FakeBus.Pending] = []
        for number in 0..<100 as Range<UInt32> {
            calls.append(
                try await Self.send(number, from: number % 2 == 0 ? ":1.7" : ":1.8", to: fake))
        }
        try await fake.passAll()
        #expect(log.entries == [])
        #expect(await fake.service.waitingCalls == 100)
        await fake.service.releaseCalls()
        await fake.service.callsCarriedOut()
        for call in calls { _ = try await call.reply() }
        for parity in 0..<2 as Range<UInt32> {
            let numbers = log.entries.filter { $0 % 2 == parity }
            #expect(numbers == Array(stride(from: parity, to: 100, by: 2)))
        }
    }

    @Test func `Callers are identified when their calls may be carried out`() async throws {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.identifyCallers()
        await fake.service.holdCalls()
        let call = try await Self.send(1, from: ":1.7", to: fake)
        try await fake.passAll()
        await fake.service.releaseCalls()
        var questions = fake.questions.makeAsyncIterator()
        #expect(await questions.next() == "credentials :1.7")
        #expect(log.entries == [])
        try await fake.answer("credentials :1.7", [])
        _ = try await call.reply()
        #expect(log.entries == [1])
    }

    @Test func `Calls that are refused never reach their handler, nor do those that were held`()
        async throws
    {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.holdCalls()
        let held = try await Self.send(1, from: ":1.7", to: fake)
        try await fake.passAll()
        let error = DBusError(.serviceUnknown, "It has ended.")
        await fake.service.refuseCalls(with: error)
        await fake.service.releaseCalls()
        let late = try await Self.send(2, from: ":1.8", to: fake)
        for call in [held, late] {
            await #expect(throws: error) { try await call.reply() }
        }
        #expect(log.entries == [])
    }

    @Test func `When the held calls reach the limit, nothing more is read, and nothing is refused`()
        async throws
    {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.holdCalls()
        var calls: [FakeBus.Pending] = []
        for number in 0..<20 as Range<UInt32> {
            calls.append(try await Self.send(number, size: 16 << 20, from: ":1.7", to: fake))
        }
        while await !fake.service.isPaused { await Task.yield() }
        #expect(await fake.service.waitingCalls == 4)
        await fake.service.releaseCalls()
        for call in calls { _ = try await call.reply() }
        #expect(log.entries == Array(0..<20))
        #expect(await !fake.service.isPaused)
    }

    @Test func `A reply that the program waits for is still read`() async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        await fake.service.holdCalls()
        var calls: [FakeBus.Pending] = []
        for number in 0..<20 as Range<UInt32> {
            calls.append(try await Self.send(number, size: 16 << 20, from: ":1.7", to: fake))
        }
        while await !fake.service.isPaused { await Task.yield() }
        _ = try await fake.service.call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
        await fake.service.releaseCalls()
        var refused = 0
        for call in calls {
            do {
                _ = try await call.reply()
            } catch let error as DBusError {
                #expect(error == .tooMuchWaits)
                refused += 1
            }
        }
        #expect(refused > 0 && refused <= 16)
    }

    @Test func `The loss of a name is reported after the calls to it`()
        async throws
    {
        let session = try PrivateSession()
        let (old, new) = (try await session.connect(), try await session.connectApart())
        let log = Log<String>()
        let method = Method("Note") { call in
            log.append("call")
            try call.reply()
        }
        await old.export([Interface("a.Service", methods: [method])], at: "/")
        let (lost, loss) = AsyncStream.makeStream(of: Void.self)
        await old.onNameLost("a.Name") {
            log.append("lost")
            loss.yield()
        }
        await old.onNameLost("a.Other") { Issue.record("Nobody has lost it.") }
        #expect(try await old.requestName("a.Name", .allowReplacement) == .primaryOwner)
        // Sent before the name changes hands: all of them come before its loss is reported.
        try await new.sendQuietly(10, to: "a.Name")
        #expect(try await new.requestName("a.Name", .replaceExisting) == .primaryOwner)
        for await _ in lost { break }
        #expect(log.entries == Array(repeating: "call", count: 10) + ["lost"])
    }

    @Test func `Only the bus can report the loss of a name`() async throws {
        let session = try PrivateSession()
        let (old, other) = (try await session.connect(), try await session.connectApart())
        await old.onNameLost("a.Name") { Issue.record("The name is not lost.") }
        try await other.emit(
            "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameLost", to: old.uniqueName
        ) { try $0.writeString("a.Name") }
        try await other.call(old.uniqueName, "/", "org.freedesktop.DBus.Peer", "Ping")
    }
}

extension Connection {
    fileprivate var isPaused: Bool { link.isPaused }

    /// Sends calls that expect no reply.
    fileprivate func sendQuietly(_ count: Int, to name: BusName) throws {
        for _ in 0..<count {
            let message = try Message.call(name, "/", "a.Service", "Note")
            message.expectNoReply()
            try link.send(message)
        }
    }
}
