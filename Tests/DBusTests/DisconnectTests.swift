import Foundation
import Glibc
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// The bus goes away; libdbus would end the process.
@Suite(.startsPrograms) struct DisconnectTests {
    let session: PrivateSession

    init() throws {
        session = try PrivateSession()
    }

    @Test func `Pending calls fail, streams finish and handlers are called once`() async throws {
        let connection = try await session.connect()
        let ends = Log<String>()
        let (handled, handlers) = AsyncStream.makeStream(of: Void.self)
        await connection.onDisconnect {
            ends.append("handler")
            handlers.finish()
        }
        let stream = try await connection.signals(MatchRule(), limit: 8)
        let keeper = Keeper(on: connection.loop)
        let (called, calls) = AsyncStream.makeStream(of: Void.self)
        let interface = Interface(
            "a.Silence",
            methods: [
                Method("Wait") { call in
                    keeper.assumeIsolated { $0.keep(call) }
                    calls.finish()
                }
            ])
        await connection.export([interface], at: "/")
        let call = Task {
            try await connection.call(connection.uniqueName, "/", "a.Silence", "Wait", timeout: nil)
        }
        for await _ in called {}

        session.bus.stop()
        await #expect(throws: DBusError.disconnected) { try await call.value }
        for await _ in handled {}
        for await _ in stream {}
        #expect(ends.entries == ["handler"])
        await keeper.drop()
    }

    @Test func `After a disconnect everything fails or returns, and nothing waits`() async throws {
        let connection = try await session.connect()
        await disconnect(connection)
        await #expect(throws: DBusError.disconnected) {
            try await connection.call(.bus, "/", "a.b", "C")
        }
        await #expect(throws: DBusError.disconnected) { try await connection.emit("/", "a.b", "C") }
        await #expect(throws: DBusError.disconnected) {
            try await connection.signals(MatchRule(), limit: 1)
        }
        await connection.flush()
        let late = Log<String>()
        await connection.onDisconnect { late.append("at once") }
        #expect(late.entries == ["at once"])
        await connection.close()
    }

    @Test func `A call that was left behind is answered like any other, to nobody`() async throws {
        let (connection, caller) = (try await session.connect(), try await session.connectApart())
        let keeper = Keeper(on: connection.loop)
        let (called, calls) = AsyncStream.makeStream(of: Void.self)
        let method = Method("Wait") { call in
            keeper.assumeIsolated { $0.keep(call) }
            calls.finish()
        }
        await connection.export([Interface("a.Silence", methods: [method])], at: "/")
        // Without a time that a busy machine might take.
        let call = Task {
            try await caller.call(connection.uniqueName, "/", "a.Silence", "Wait", timeout: nil)
        }
        for await _ in called {}
        await disconnect(connection)
        await #expect(throws: DBusError.disconnected) { try await call.value }
        // No error, which the keeper could do nothing about.
        try await keeper.answer()
    }

    @Test func `After a disconnect libdbus would accept a message, and never report its loss`()
        async throws
    {
        let connection = try await session.connect()
        await disconnect(connection)
        await connection.sendPastTheCheck()
    }

    @Test func `SIGPIPE is unchanged, because children inherit it`() async throws {
        let before = try signalsIgnored()
        let connection = try await session.connect()
        await disconnect(connection)
        await #expect(throws: DBusError.disconnected) { try await connection.emit("/", "a.b", "C") }
        #expect(try signalsIgnored() == before)
    }

    @Test func `close ends everything that waits, and is not a disconnect`() async throws {
        let connection = try await session.connect()
        await connection.onDisconnect { Issue.record("Nobody ended the connection but we.") }
        let stream = try await connection.signals(MatchRule(), limit: 1)
        await connection.close()
        await connection.close()
        for await _ in stream {}
        await #expect(throws: DBusError.disconnected) {
            try await connection.call(.bus, "/", "a.b", "C")
        }
    }

    @Test func `A connection that is released leaves the bus and its descriptor`() async throws {
        let watcher = try await session.connect()
        var connection: Connection? = try await session.connect()
        let name = try #require(connection).name
        let rule = MatchRule(
            sender: .bus, member: "NameOwnerChanged", arguments: [0: name])
        var changes = try await watcher.signals(rule, limit: 1).makeAsyncIterator()
        connection = nil
        #expect(await changes.next() != nil)
    }

    @Test func `A missing bus, and an invalid address, are errors`() async throws {
        for address in ["unix:path=/nonexistent", "nonsense", "", "unix:path=/a\0b"] {
            await #expect(throws: DBusError.self) {
                try await Connection.open(.address(address), on: session.loop)
            }
        }
    }

    private func disconnect(_ connection: Connection) async {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        await connection.onDisconnect { end.finish() }
        session.bus.stop()
        for await _ in ended {}
    }

    private func signalsIgnored() throws -> Substring? {
        try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            .split(separator: "\n").first { $0.hasPrefix("SigIgn") }
    }
}

extension Connection {
    /// What the check in `send` is for: libdbus's own sends say TRUE and give nothing to wait for.
    fileprivate func sendPastTheCheck() {
        #expect(!link.isConnected)
        #expect(throws: DBusError.disconnected) {
            try link.send(try Message.call(.bus, "/", "a.b", "C"))
        }
    }
}
