import Glibc
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// A caller that does not read its replies is limited and cut off alone.
@Suite(.startsPrograms) struct UnreadCallerTests {
    static let replySize = 1 << 20
    static let unread = Value.uint32(UInt32(UnreadReplies.allowance))

    /// Serves a method with large replies, by their number for each caller.
    static func serve(on connection: Connection) async -> Log<BusName> {
        let log = Log<BusName>()
        let method = Method("Get", out: [Argument("number", "u"), Argument("bytes", "ay")]) {
            call in
            guard let sender = call.sender else { return }
            let number = log.entries.count { $0 == sender }
            log.append(sender)
            try call.reply {
                try $0.writeUInt32(UInt32(number))
                try $0.writeBytes([UInt8](repeating: 0, count: replySize))
            }
        }
        let small = Method("GetSmall") { try $0.reply() }
        let interfaces = ["a.Service", "a.Large"].map {
            Interface(InterfaceName(stringLiteral: $0), methods: [method, small])
        }
        await connection.export(interfaces, at: "/")
        return log
    }

    /// Has a caller be sent all that it is, unasked, and call once more.
    private static func spend(_ sender: BusName, at fake: FakeBus) async throws -> FakeBus.Pending {
        for _ in 0..<UnreadReplies.allowance / replySize {
            _ = try await fake.call(from: sender, "Get")
        }
        return try await fake.send(from: sender, "GetSmall")
    }

    @Test func `After its allowance a caller is checked, while others are served`() async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        var questions = fake.questions.makeAsyncIterator()
        let next = try await Self.spend(":1.7", at: fake)
        #expect(await questions.next() == "unread :1.7")
        _ = try await fake.call(from: ":1.8", "GetSmall")
        #expect(await fake.service.waitingCalls == 1)
        try await fake.answer("unread :1.7", [("OutgoingBytes", .uint32(0))])
        #expect(try await next.reply() == [])
        _ = try await fake.call(from: ":1.7", "Get")
        #expect(await fake.service.waitingCalls == 0)
    }

    @Test(arguments: [
        ("OutgoingBytes", unread), ("OutgoingFDs", .uint32(256)),
    ])
    func `The bus is asked again about a caller that reads late, which is then served`(
        _ fact: String, _ value: Value
    ) async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        var questions = fake.questions.makeAsyncIterator()
        let next = try await Self.spend(":1.7", at: fake)
        for _ in 0..<3 {
            #expect(await questions.next() == "unread :1.7")
            try await fake.answer("unread :1.7", [("OutgoingBytes", .uint32(0)), (fact, value)])
        }
        #expect(await questions.next() == "unread :1.7")
        try await fake.answer("unread :1.7", [("OutgoingBytes", .uint32(0))])
        #expect(try await next.reply() == [])
    }

    @Test func `A caller that does not read is refused until it has read`() async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        // The pauses between the questions are counted, not measured: 10, 20 and 40 ms.
        await fake.service.setPatience(.milliseconds(50))
        var questions = fake.questions.makeAsyncIterator()
        func answer(_ value: Value) async throws {
            #expect(await questions.next() == "unread :1.7")
            try await fake.answer("unread :1.7", [("OutgoingBytes", value)])
        }
        let first = try await Self.spend(":1.7", at: fake)
        for _ in 0..<4 { try await answer(Self.unread) }
        await #expect(throws: DBusError.repliesUnread) { try await first.reply() }
        let second = try await fake.send(from: ":1.7", "GetSmall")
        try await answer(Self.unread)
        await #expect(throws: DBusError.repliesUnread) { try await second.reply() }
        #expect(await fake.service.waitingCalls == 0)
        let third = try await fake.send(from: ":1.7", "GetSmall")
        try await answer(.uint32(0))
        #expect(try await third.reply() == [])
    }

    @Test func `The calls of a caller that has gone are carried out`() async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        var questions = fake.questions.makeAsyncIterator()
        let next = try await Self.spend(":1.7", at: fake)
        #expect(await questions.next() == "unread :1.7")
        try await fake.refuse("unread :1.7", .nameHasNoOwner)
        #expect(try await next.reply() == [])
        #expect(await fake.service.waitingCalls == 0)
    }

    @Test func `A bus that does not know is asked once, and limits what it keeps itself`()
        async throws
    {
        let fake = try await FakeBus(measures: false)
        _ = await Self.serve(on: fake.service)
        for sender in [":1.7", ":1.8"] as [BusName] {
            _ = try await Self.spend(sender, at: fake).reply()
            #expect(await !fake.service.measuresReplies)
        }
    }

    @Test func `On a real bus it costs the others nothing, and gets all its replies in the end`()
        async throws
    {
        let session = try PrivateSession()
        let (connection, other) = (try await session.connect(), try await session.connectApart())
        let log = await Self.serve(on: connection)
        // However slow the machine is, the client is to be waited for.
        await connection.setPatience(.seconds(3600))
        let client = try ChildProcess(
            [
                "/usr/bin/python3", "-c", BacklogTests.client, session.bus.address, connection.name,
                "300",
            ], output: .lines)
        #expect(client.lines?.next() == "sent")
        while await connection.waitingCalls < 200 {
            _ = try await other.call(connection.uniqueName, "/", "a.Large", "GetSmall")
        }
        // It has its allowance unread, or will have it in a moment: then served are the others only.
        for _ in 0..<200 {
            _ = try await other.call(connection.uniqueName, "/", "a.Large", "GetSmall")
        }
        _ = try await other.call(connection.uniqueName, "/", "a.Large", "Get")
        let stubborn = try #require(log.entries.first)
        var waiting = 0
        while waiting < UnreadReplies.allowance {
            waiting = try await other.unreadBytes(of: stubborn)
        }
        #expect(waiting <= 2 * (UnreadReplies.allowance + Self.replySize))
        #expect(await connection.backlog <= MessageLimits.maximumBacklog)
        #expect(log.entries.count <= 2 * UnreadReplies.allowance / Self.replySize + 2)
        client.send(SIGUSR1)
        #expect(client.lines?.next() == "True")
        try client.requireSuccess()
        #expect(await connection.waitingCalls == 0)
    }
}

extension Connection {
    fileprivate func setPatience(_ patience: Duration) { callers.patience = patience }

    fileprivate var measuresReplies: Bool { callers.areRepliesMeasured }
    fileprivate var backlog: Int { link.backlog }

    /// What waits at the bus for a connection.
    fileprivate func unreadBytes(of name: BusName) async throws -> Int {
        let reply = try await call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats",
            [.string(name.string)])
        guard case .dictionary(_, _, let facts)? = reply.first,
            case .variant(.uint32(let bytes))? = facts.first(
                where: { $0.key == .string("OutgoingBytes") })?.value
        else { return -1 }
        return Int(bytes)
    }
}
