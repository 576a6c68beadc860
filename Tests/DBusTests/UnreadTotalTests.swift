import Glibc
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// What the bus keeps of all that was sent, because others do not read it.
@Suite(.startsPrograms) struct UnreadTotalTests {
    private static let bounds = UnreadTotal.Bounds(high: 4 << 20, full: 8 << 20, step: 1 << 20)
    private let start = SuspendingClock().now

    @Test func `Everything that was sent counts until the bus reports that it was read (1)`() {
        var total = UnreadTotal(bounds: Self.bounds)
        total.note((4 << 20) - 1)
        #expect(total.level == .low)
        total.noteQuestion()
        total.note(1)
        #expect(total.level == .high)
        total.note(4 << 20)
        #expect(total.level == .full)
        total.take(unread: 5, at: start)
        #expect(total.bytes == 5 + 1 + (4 << 20))
        total.noteQuestion()
        total.take(unread: nil, at: start)
        #expect(total.bytes == 5 + 1 + (4 << 20))
    }

    @Test func `The bus is asked after each step, with at most one question in flight (2)`() {
        var total = UnreadTotal(bounds: Self.bounds)
        total.note((1 << 20) - 1)
        #expect(!total.isQuestionDue(at: start))
        total.note(1)
        #expect(total.isQuestionDue(at: start))
        total.noteQuestion()
        total.note(1 << 20)
        #expect(!total.isQuestionDue(at: start))
        total.take(unread: 0, at: start)
        #expect(total.isQuestionDue(at: start))
    }

    @Test func `An answer is not valid for long if much is unread`() {
        var total = UnreadTotal(bounds: Self.bounds)
        total.noteQuestion()
        total.take(unread: 3 << 20, at: start)
        let later = start.advanced(by: UnreadTotal.validity)
        #expect(!total.isQuestionDue(at: later))
        total.noteQuestion()
        total.take(unread: 4 << 20, at: start)
        #expect(!total.isQuestionDue(at: start))
        #expect(total.isQuestionDue(at: later))
    }

    @Test func `While much is unread, a process gets no large reply above its share, others do`()
        async throws
    {
        let session = try PrivateSession()
        let connection = try await session.connect()
        await connection.setBounds(Self.bounds)
        let large = 1 << 20
        func refusal(of name: BusName) async -> DBusError? { await connection.refusal(large, name) }
        await connection.note(unread: UnreadTotal.share + 1, byOneProcess: [":9.1", ":9.2"])
        // Its other connection gets none either, and one of another process does.
        #expect(await refusal(of: ":9.2") == .repliesUnread)
        #expect(await refusal(of: ":9.3") == nil)
        #expect(await connection.refusal(UnreadTotal.smallReply, ":9.2") == nil)
        await connection.setBounds(UnreadTotal.Bounds())
        #expect(await refusal(of: ":9.2") == nil)
    }

    /// Together they would leave more unread than the bus keeps of one sender.
    @Test func `Many that do not read cost the others at most their large replies`() async throws {
        let session = try PrivateSession(limits: ["max_incoming_bytes": 16 << 20])
        let (connection, other) = (try await session.connect(), try await session.connectApart())
        _ = await UnreadCallerTests.serve(on: connection)
        await connection.setBounds(Self.bounds)
        let clients = try (0..<8).map { _ in
            try ChildProcess(
                [
                    "/usr/bin/python3", "-c", BacklogTests.client, session.bus.address,
                    connection.name, "20",
                ], output: .lines)
        }
        for client in clients { #expect(client.lines?.next() == "sent") }
        while await connection.unreadTotal.level != .full {
            _ = try await other.call(connection.uniqueName, "/", "a.Large", "GetSmall")
        }
        await #expect(throws: DBusError.tooMuchIsUnread) {
            try await other.call(connection.uniqueName, "/", "a.Large", "Get")
        }
        for _ in 0..<100 {
            _ = try await other.call(connection.uniqueName, "/", "a.Large", "GetSmall")
        }
        for client in clients {
            client.send(SIGKILL)
            _ = client.waitUntilExit()
        }
        while await connection.isLargelyUnread {
            _ = try await other.call(connection.uniqueName, "/", "a.Large", "GetSmall")
        }
        #expect(try await other.call(connection.uniqueName, "/", "a.Large", "Get").count == 2)
    }
}

extension Connection {
    /// Notes that the first of some connections of one process has left bytes unread.
    fileprivate func note(unread bytes: Int, byOneProcess names: [BusName]) {
        let process = CallerProcess<WaitingCall>()
        for name in names {
            let caller = callers.caller(named: name, on: self)
            caller.identify(as: nil, refusal: nil)
            caller.process = process
        }
        callers.caller(named: names[0], on: self).replies.note(bytes)
        callers.unreadTotal.note(4 << 20)
    }

    /// Why a reply cannot be sent to a connection.
    fileprivate func refusal(_ size: Int, _ name: BusName) -> DBusError? {
        do {
            try checkRoom(forReplyOf: size, to: callers.caller(named: name, on: self))
            return nil
        } catch {
            return error
        }
    }

    fileprivate var unreadTotal: UnreadTotal { callers.unreadTotal }

    fileprivate func setBounds(_ bounds: UnreadTotal.Bounds) {
        callers.unreadTotal = UnreadTotal(bounds: bounds)
    }
}
