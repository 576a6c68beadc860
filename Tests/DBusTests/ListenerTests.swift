import Glibc
import TestSupport
import TestTiers
import Testing

@testable import DBus

/// Who listens to a signal, by the match rules of a real bus.
@Suite(.startsPrograms) struct ListenerTests {
    private static let signal = BroadcastSignal(
        sender: ":1.7", address)
    fileprivate static let address = SignalAddress(
        members: ["Changed"], interface: "a.b.C", path: "/a/b")

    @Test(arguments: [
        "", "type='signal'", "interface='a.b.C'", "type='signal',interface='a.b.C',arg0='x'",
        "path_namespace='/'", "path_namespace='/a'", "path_namespace='/a/b'", "sender=':1.7'",
        "sender='any.Name',member='Changed'", "path='/a/b',eavesdrop='true'",
        "arg0='it'\\''s',interface='x'",
    ])
    func `A rule that may be for the signal is found`(rule: String) {
        #expect(Self.signal.mayMatch(rule: rule))
    }

    @Test(arguments: [
        "type='method_call'", "type='signal',interface='a.b.D'", "member='Change'",
        "path='/a'", "path_namespace='/a/b/c'", "path_namespace='/a/bc'", "sender=':1.70'",
        "type='signal',sender='org.freedesktop.DBus',member='Changed'",
        "interface='a.b',arg0='x'",
    ])
    func `A rule for something else is not`(rule: String) {
        #expect(!Self.signal.mayMatch(rule: rule))
    }

    @Test func `A real bus shows a match rule from when it is added until it is removed`()
        async throws
    {
        let session = try PrivateSession()
        let sender = try await session.connect()
        let listener = try await session.connect()
        let own = try #require(listener.uniqueName)
        #expect(await sender.listeners()?.paths != nil)
        #expect(await sender.listeners()?.all.isEmpty == true)
        for (rule, isHeard) in [
            ("type='signal',interface='a.b.C',arg0='some,thing'", true),
            ("interface='a.b.D'", false), ("path_namespace='/a',member='Changed'", true),
        ] {
            try await listener.call(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", [.string(rule)])
            let names = await sender.listeners()?.all.map(\.name)
            #expect(names == (isHeard ? [own] : []), "\(rule)")
            try await listener.call(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "RemoveMatch",
                [.string(rule)])
            #expect(await sender.listeners()?.all.isEmpty == true)
        }
    }

    @Test func `Listeners that have never called are identified`() async throws {
        let session = try PrivateSession()
        let sender = try await session.connect()
        await sender.identifyCallers()
        let listener = try await session.connect()
        try await listener.call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
            [.string("type='signal'")])
        // The second time it is known already.
        for _ in 1...2 {
            let found = await sender.listeners()
            #expect(found?.all.count == 1)
            #expect(found?.all.first?.credentials?.userID == geteuid())
            #expect(found?.all.first?.credentials?.isAtHome == true)
        }
    }

    @Test func `A bus with very many rules is asked for its connections only`() async throws {
        let session = try PrivateSession()
        let sender = try await session.connect()
        let other = try await session.connect()
        for number in 0...2000 {
            try await other.call(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
                [.string("interface='a.b.D\(number)'")])
        }
        let found = await sender.listeners()
        #expect(found?.paths == nil)
        #expect(found?.all.map(\.name) == [try #require(other.uniqueName)])
    }

    @Test func `A bus that shows neither its rules nor its connections has no answer`() async throws
    {
        let bus = try await FakeBus()
        #expect(await bus.service.listeners() == nil)
    }

    @Test func `The end of the connection is an answer, too`() async throws {
        let session = try PrivateSession()
        let sender = try await session.connect()
        await sender.close()
        #expect(await sender.listeners() == nil)
    }
}

extension Connection {
    fileprivate func listeners() async -> Listeners? {
        await withCheckedContinuation { continuation in
            queryListeners(to: [ListenerTests.address]) {
                continuation.resume(returning: $0?.first)
            }
        }
    }
}
