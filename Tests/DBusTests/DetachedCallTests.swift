import TestTiers
import Testing

@testable import DBus

/// Calls that are carried out on another thread.
@Suite(.startsPrograms) struct DetachedCallTests {
    /// Serves "Note", which notes its number at once where that is even, and else keeps the call until
    /// the test ends it.
    private static func serve(on connection: Connection) async -> (Log<UInt32>, Log<DetachedCall>) {
        let (log, kept) = (Log<UInt32>(), Log<DetachedCall>())
        let method = Method("Note", in: [Argument("number", "u")]) { call in
            let number = try call.arguments { try $0.readUInt32() }
            log.append(number)
            if number % 2 == 0 { return try call.reply() }
            kept.append(try call.detach())
        }
        await connection.export([Interface("a.Service", methods: [method])], at: "/")
        return (log, kept)
    }

    private static func send(
        _ number: UInt32, from sender: BusName, to fake: FakeBus
    ) async throws -> FakeBus.Pending {
        try await fake.send(from: sender, "Note") { try $0.writeUInt32(number) }
    }

    private static func end(_ call: DetachedCall, on fake: FakeBus) async throws {
        try call.write { _ in }
        await fake.service.atRest {
            call.end { ended in
                do { try call.sendReply() } catch { ended.fail(error) }
            }
        }
    }

    @Test
    func `Later calls of a caller wait for one on another thread, and those of others do not`()
        async throws
    {
        let fake = try await FakeBus()
        let (log, kept) = await Self.serve(on: fake.service)
        let long = try await Self.send(1, from: ":1.7", to: fake)
        let behind = try await Self.send(2, from: ":1.7", to: fake)
        let other = try await Self.send(4, from: ":1.8", to: fake)
        _ = try await other.reply()
        try await fake.passAll()
        #expect(log.entries == [1, 4])
        #expect(try kept.entries[0].arguments { try $0.readUInt32() } == 1)
        try await Self.end(kept.entries[0], on: fake)
        _ = try await long.reply()
        _ = try await behind.reply()
        #expect(log.entries == [1, 4, 2])
    }

    @Test func `A service that ends waits for calls on other threads`() async throws {
        let fake = try await FakeBus()
        let (_, kept) = await Self.serve(on: fake.service)
        let long = try await Self.send(1, from: ":1.7", to: fake)
        try await fake.passAll()
        let order = Log<String>()
        let waiting = Task {
            await fake.service.callsCarriedOut()
            order.append("carried out")
        }
        try await fake.passAll()
        order.append("ended")
        try await Self.end(kept.entries[0], on: fake)
        await waiting.value
        _ = try await long.reply()
        #expect(order.entries == ["ended", "carried out"])
    }

    @Test func `A postponed call on another thread is the first of its caller again`()
        async throws
    {
        let fake = try await FakeBus()
        let (log, kept) = await Self.serve(on: fake.service)
        let long = try await Self.send(1, from: ":1.7", to: fake)
        let behind = try await Self.send(2, from: ":1.7", to: fake)
        try await fake.passAll()
        let first = kept.entries[0]
        await fake.service.atRest { first.end { $0.postpone() } }
        try await fake.passAll()
        #expect(log.entries == [1])
        await fake.service.resumePostponedCalls()
        try await fake.passAll()
        #expect(log.entries == [1, 1])
        try await Self.end(kept.entries[1], on: fake)
        _ = try await long.reply()
        _ = try await behind.reply()
        #expect(log.entries == [1, 1, 2])
    }
}

extension Connection {
    /// Does something on the loop's thread.
    fileprivate func atRest(_ body: @Sendable () -> Void) {
        body()
    }
}
