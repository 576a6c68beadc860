import TestTiers
import Testing
import TestSupport

@testable import DBus

@Suite(.startsPrograms) struct SignalTests {
    let session: PrivateSession

    init() throws {
        session = try PrivateSession()
    }

    private func emit(_ number: UInt64, _ member: MemberName = "Ticked", from sender: Connection)
        async throws
    {
        try await sender.emit("/clock/one", "a.Clock", member) { try $0.writeUInt64(number) }
    }

    /// Ends when everything that the bus had for the connection has been delivered.
    private func settle(_ sender: Connection, _ receiver: Connection) async throws {
        for connection in [sender, receiver] {
            _ = try await connection.call(.bus, "/", "org.freedesktop.DBus", "GetId")
        }
    }

    @Test func `A signal arrives with all its values`() async throws {
        let (sender, receiver) = (try await session.connectApart(), try await session.connect())
        var signals = try await receiver.signals(MatchRule(interface: "a.Clock"), limit: 8)
            .makeAsyncIterator()
        try await emit(7, from: sender)
        #expect(
            await signals.next()
                == .signal(
                    Signal(
                        sender: sender.uniqueName, path: "/clock/one", interface: "a.Clock",
                        member: "Ticked", arguments: [.uint64(7)])))
    }

    @Test func `A signal of another program arrives`() async throws {
        let receiver = try await session.connect()
        var signals = try await receiver.signals(
            MatchRule(path: "/a", arguments: [0: "it's"]), limit: 8
        ).makeAsyncIterator()
        let sent = await session.run(
            "gdbus", "emit", "--session", "-o", "/a", "-s", "a.B.C", "\"it's\"", "1")
        #expect(sent.status == 0, "\(sent.error)")
        guard case .signal(let signal) = await signals.next() else {
            Issue.record("The stream ended.")
            return
        }
        #expect(signal.arguments == [.string("it's"), .int32(1)])
    }

    static let rules: [(MatchRule, Bool)] = [
        (MatchRule(), true),
        (MatchRule(path: "/clock/one"), true), (MatchRule(path: "/clock"), false),
        (MatchRule(pathNamespace: "/"), true), (MatchRule(pathNamespace: "/clock"), true),
        (MatchRule(pathNamespace: "/clock/one"), true), (MatchRule(pathNamespace: "/clo"), false),
        (MatchRule(interface: "a.Clock"), true), (MatchRule(interface: "a.Other"), false),
        (MatchRule(member: "Ticked"), true), (MatchRule(member: "Other"), false),
        (MatchRule(arguments: [0: "zero"]), true), (MatchRule(arguments: [0: "one"]), false),
        (MatchRule(arguments: [0: "zero", 1: "'1'"]), true),
        (MatchRule(arguments: [1: "1"]), false),
        (MatchRule(arguments: [2: "2"]), false), (MatchRule(arguments: [63: ""]), false),
        (MatchRule(sender: "a.Sender"), true), (MatchRule(sender: "a.Nobody"), false),
        (MatchRule(sender: .bus), false),
    ]

    /// The stream without conditions makes the bus send everything, so we must apply the rules.
    @Test(arguments: rules)
    func `A stream gets what its own rule matches, whatever other streams want`(
        _ rule: MatchRule, _ matches: Bool
    ) async throws {
        let (sender, receiver) = (try await session.connectApart(), try await session.connect())
        #expect(try await sender.requestName("a.Sender") == .primaryOwner)
        let all = try await receiver.signals(MatchRule(), limit: 100)
        var signals = try await receiver.signals(rule, limit: 100).makeAsyncIterator()
        let marker = MatchRule(interface: "a.Marker")
        var markers = try await receiver.signals(marker, limit: 1).makeAsyncIterator()
        try await sender.emit("/clock/one", "a.Clock", "Ticked") { writer in
            try writer.writeString("zero")
            try writer.writeString("'1'")
            try writer.writeUInt32(2)
        }
        try await sender.emit("/marker", "a.Marker", "Done")
        _ = await markers.next()
        await receiver.close()
        var found = false
        while case .signal(let signal)? = await signals.next() {
            found = found || signal.member == "Ticked"
        }
        #expect(found == matches)
        withExtendedLifetime(all) {}
    }

    @Test func `A well-known sender is followed from owner to owner`() async throws {
        let receiver = try await session.connect()
        let (first, second) = (try await session.connectApart(), try await session.connectApart())
        var signals = try await receiver.signals(
            MatchRule(sender: "a.Clock", interface: "a.Clock"), limit: 100
        ).makeAsyncIterator()
        // So that the others' signals come here too, and have to be told apart.
        let all = try await receiver.signals(MatchRule(interface: "a.Clock"), limit: 100)
        try await emit(1, from: first)
        #expect(try await first.requestName("a.Clock", .allowReplacement) == .primaryOwner)
        try await emit(2, from: first)
        try await emit(3, from: second)
        try await settle(second, receiver)
        #expect(try await second.requestName("a.Clock", .replaceExisting) == .primaryOwner)
        try await emit(4, from: second)
        try await settle(second, first)
        try await emit(5, from: first)
        try await settle(first, second)
        try await emit(6, from: second)
        var numbers: [Value] = []
        while numbers.last != .uint64(6), case .signal(let signal)? = await signals.next() {
            numbers += signal.arguments
        }
        #expect(numbers == [.uint64(2), .uint64(4), .uint64(6)])
        withExtendedLifetime(all) {}
    }

    @Test func `Signals beyond the limit are reported in their place`() async throws {
        let (sender, receiver) = (try await session.connectApart(), try await session.connect())
        let stream = try await receiver.signals(MatchRule(interface: "a.Clock"), limit: 2)
        var signals = stream.makeAsyncIterator()
        for number in UInt64(1)...5 { try await emit(number, from: sender) }
        try await settle(sender, receiver)
        func next() async -> [Value]? {
            switch await signals.next() {
            case .signal(let signal): signal.arguments
            case .overflow(let dropped): [.string("\(dropped) lost")]
            case nil: nil
            }
        }
        #expect(await next() == [.uint64(1)])
        try await emit(6, from: sender)
        try await settle(sender, receiver)
        #expect(await next() == [.uint64(2)])
        #expect(await next() == [.string("3 lost")])
        #expect(await next() == [.uint64(6)])
    }

    @Test func `A consumer whose task is cancelled gets the end`() async throws {
        let receiver = try await session.connect()
        let stream = try await receiver.signals(MatchRule(interface: "a.Never"), limit: 1)
        let consumer = Task {
            for await _ in stream {}
            return true
        }
        consumer.cancel()
        #expect(await consumer.value)
    }

    @Test func `The bus forgets the rule when the stream is released`() async throws {
        let receiver = try await session.connect()
        func rules() async throws -> [Value] {
            try await receiver.call(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
                "GetConnectionStats", [.string(receiver.name)])
        }
        func count() async throws -> Value? {
            guard case .dictionary(_, _, let entries)? = try await rules().first else { return nil }
            return entries.first { $0.key == .string("MatchRules") }?.value
        }
        #expect(try await count() == .variant(.uint32(0)))
        do {
            let stream = try await receiver.signals(MatchRule(sender: "a.Clock"), limit: 1)
            #expect(try await count() == .variant(.uint32(2)))
            withExtendedLifetime(stream) {}
        }
        #expect(try await count() == .variant(.uint32(0)))
    }

    @Test func `A rule that the bus refuses is an error`() async throws {
        let strict = try PrivateSession(limits: ["max_match_rules_per_connection": 0])
        let receiver = try await strict.connect()
        let error = await #expect(throws: DBusError.self) {
            try await receiver.signals(MatchRule(), limit: 1)
        }
        #expect(error?.name == .limitsExceeded)
    }

    @Test func `A signal to one receiver comes to no other`() async throws {
        let sender = try await session.connectApart()
        let (one, other) = (try await session.connect(), try await session.connect())
        var ones = try await one.signals(MatchRule(interface: "a.Clock"), limit: 8)
            .makeAsyncIterator()
        var others = try await other.signals(MatchRule(interface: "a.Clock"), limit: 8)
            .makeAsyncIterator()
        try await sender.emit("/", "a.Clock", "Ticked", to: one.uniqueName) { try $0.writeByte(1) }
        try await emit(2, from: sender)
        guard case .signal(let first)? = await ones.next(),
            case .signal(let second)? = await others.next()
        else {
            Issue.record("A stream ended.")
            return
        }
        #expect(first.arguments == [.byte(1)])
        #expect(second.arguments == [.uint64(2)])
    }
}
