import TestTiers
import Testing

@testable import DBus

/// Calls that their handler postpones.
@Suite(.startsPrograms) struct PostponingTests {
    /// Serves a method that notes who has called it, and one that puts its calls back until `isReady`.
    private static func serve(on connection: Connection, until isReady: Switch) async -> Log<String>
    {
        let log = Log<String>()
        @Sendable func note(_ call: MethodCall) throws {
            log.append("\(call.sender?.string ?? "-") \(call.member)")
            try call.reply()
        }
        let change = Method("Change") { call in
            if isReady.isOn { try note(call) } else { call.postpone() }
        }
        let read = Method("Read") { try note($0) }
        await connection.export([Interface("a.Service", methods: [change, read])], at: "/")
        return log
    }

    @Test func `A postponed call comes again, before the later ones of its caller`()
        async throws
    {
        let fake = try await FakeBus()
        let isReady = Switch()
        let log = await Self.serve(on: fake.service, until: isReady)
        var calls: [FakeBus.Pending] = []
        for (sender, member) in [
            (":1.7", "Change"), (":1.8", "Change"), (":1.7", "Read"), (":1.7", "Change"),
            (":1.8", "Read"),
        ] as [(BusName, MemberName)] {
            calls.append(try await fake.send(from: sender, member))
        }
        _ = try await fake.call(from: ":1.9", "Read")
        #expect(log.entries == [":1.9 Read"])
        #expect(await fake.service.waitingCalls == 5)
        await fake.service.resumePostponedCalls()
        try await fake.passAll()
        // It was too early.
        #expect(log.entries == [":1.9 Read"])
        #expect(await fake.service.waitingCalls == 5)
        isReady.turnOn()
        await fake.service.resumePostponedCalls()
        for call in calls { #expect(try await call.reply() == []) }
        for sender in [":1.7", ":1.8"] {
            let members = log.entries.filter { $0.hasPrefix(sender) }.map { $0.suffix(6) }
            #expect(
                members
                    == (sender == ":1.7" ? ["Change", "7 Read", "Change"] : ["Change", "8 Read"]))
        }
        await fake.service.callsCarriedOut()
    }

    @Test func `Waiting for all calls includes postponed ones, but not forever`()
        async throws
    {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service, until: Switch())
        let call = try await fake.send(from: ":1.7", "Change")
        try await fake.passAll()
        async let end: Void = fake.service.callsCarriedOut()
        #expect(await fake.service.waitingCalls == 1)
        await fake.service.close()
        await end
        await #expect(throws: DBusError.disconnected) { try await call.reply() }
    }
}
