import Glibc
import Synchronization
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// How messages get from libdbus to the handlers: none is left behind, none is nested in another.
@Suite(.startsPrograms) struct DispatchTests {
    let session: PrivateSession

    init() throws {
        session = try PrivateSession()
    }

    /// Counts how deep handlers are inside each other; only the loop's thread has it.
    final class Depth: Sendable {
        private let current = Mutex(0)
        let deepest = Mutex(0)

        func within(_ body: () throws -> Void) rethrows {
            let depth = current.withLock { depth in
                depth += 1
                return depth
            }
            deepest.withLock { $0 = max($0, depth) }
            defer { current.withLock { $0 -= 1 } }
            try body()
        }
    }

    @Test func `A handler that sends is not called inside itself`() async throws {
        let connection = try await session.connect()
        let caller = try await session.connectApart()
        let depth = Depth()
        let interface = Interface(
            "a.Busy",
            methods: [
                Method("Work") { call in
                    // Each send may read what has come meanwhile: other calls wait there.
                    try depth.within {
                        for _ in 0..<50 {
                            try connection.assumeIsolated { try $0.emit("/", "a.Other", "Sent") }
                        }
                        try call.reply()
                    }
                }
            ])
        await connection.export([interface], at: "/")
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    try await caller.call(connection.uniqueName, "/", "a.Busy", "Work")
                }
            }
            try await group.waitForAll()
        }
        #expect(depth.deepest.withLock { $0 } == 1)
    }

    @Test
    func `A step from one actor of the loop to another takes no turn of the loop`() async throws {
        let connection = try await session.connect()
        // An app's task has no executor of its own, as that of a test with a thread has.
        let task = Task.detached { await Relay(on: connection).stepsOverAtOnce() }
        #expect(await task.value)
    }

    @Test func `A handler that makes a call answers after the reply`() async throws {
        let connection = try await session.connect()
        let relay = Relay(on: connection)
        let interface = Interface(
            "a.Relay",
            methods: [
                Method("GetId", out: [Argument("id", "s")]) { call in
                    relay.assumeIsolated { $0.answer(call) }
                }
            ])
        await connection.export([interface], at: "/")
        let direct = try await connection.call(.bus, "/", "org.freedesktop.DBus", "GetId")
        #expect(try await connection.call(connection.uniqueName, "/", "a.Relay", "GetId") == direct)
    }

    @Test func `A thousand calls that arrive in one piece are all answered`() async throws {
        let connection = try await session.connect()
        let interface = Interface("a.Quick", methods: [Method("Do") { try $0.reply() }])
        await connection.export([interface], at: "/")
        // GLib writes them without waiting, and then waits for the replies.
        let program = """
            from gi.repository import Gio, GLib
            bus, loop, left = Gio.bus_get_sync(Gio.BusType.SESSION), GLib.MainLoop(), [1000]
            def done(bus, result):
                bus.call_finish(result)
                left[0] -= 1
                if not left[0]:
                    loop.quit()
            for _ in range(left[0]):
                bus.call('\(connection.name)', '/', 'a.Quick', 'Do', None, None, 0, -1, None, done)
            loop.run()
            print('all')
            """
        let result = await session.run("/usr/bin/python3", "-c", program)
        #expect(result.output == "all\n", "\(result.error)")
    }

    @Test
    func `Messages that arrived during the greeting are dispatched as well (5)`() async throws {
        // The bus tells a connection its own name right behind the greeting.
        for _ in 0..<50 {
            let connection = try await session.connect()
            let stream = try await connection.signals(MatchRule(member: "NameAcquired"), limit: 4)
            #expect(try await connection.requestName("a.Name") == .primaryOwner)
            var signals = stream.makeAsyncIterator()
            guard case .signal(let signal)? = await signals.next() else {
                Issue.record("The stream ended.")
                return
            }
            #expect(
                [.string("a.Name"), .string(connection.name)].contains(
                    signal.arguments[0]))
            #expect(try await connection.releaseName("a.Name") == .released)
        }
    }

    @Test func `Messages read during a send are dispatched without another event (5)`() async throws
    {
        let connection = try await session.connect()
        let seen = Log<UInt32>()
        let (calls, report) = AsyncStream.makeStream(of: Void.self)
        let method = Method("Note", in: [Argument("number", "u")]) { call in
            seen.append(try call.arguments { try $0.readUInt32() })
            report.yield()
        }
        await connection.export([Interface("a.Notes", methods: [method])], at: "/")
        try await connection.sendToItself(100)
        var count = 0
        for await _ in calls {
            count += 1
            if count == 100 { break }
        }
        #expect(seen.entries == Array(0..<100))
    }

    @Test func `A flush returns even if a later send writes the waiting messages`() async throws {
        let connection = try await session.connect()
        kill(session.bus.processIdentifier, SIGSTOP)
        for _ in 0..<4 {
            try await connection.emit("/", "a.b", "Big") {
                try $0.writeBytes([UInt8](repeating: 1, count: 1 << 20))
            }
        }
        let flush = Task { await connection.flush() }
        kill(session.bus.processIdentifier, SIGCONT)
        for _ in 0..<1000 { try await connection.emit("/", "a.b", "Small") }
        await flush.value
    }

    @Test func `A flush returns when everything is written`() async throws {
        let connection = try await session.connect()
        let receiver = try await session.connectApart()
        var signals = try await receiver.signals(MatchRule(member: "Big"), limit: 64)
            .makeAsyncIterator()
        for _ in 0..<16 {
            try await connection.emit("/", "a.b", "Big") {
                try $0.writeBytes([UInt8](repeating: 1, count: 1 << 20))
            }
        }
        await connection.flush()
        await connection.expectDrained()
        for _ in 0..<16 {
            let element = await signals.next()
            #expect(element != nil)
        }
    }
}

/// Answers a call with what another call brings.
actor Relay {
    private let connection: Connection

    nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

    init(on connection: Connection) { self.connection = connection }

    func stepsOverAtOnce() async -> Bool {
        let turns = Log<Void>()
        connection.loop.perform { turns.append(()) }
        await connection.export([], at: "/a")
        return turns.entries.isEmpty
    }

    func answer(_ call: MethodCall) {
        Task {
            let reply = try await connection.call(.bus, "/", "org.freedesktop.DBus", "GetId")
            try call.reply { try $0.writeValues(reply) }
        }
    }
}

extension Connection {
    /// Sends calls to itself, each written before the next.
    fileprivate func sendToItself(_ count: UInt32) throws {
        for number in 0..<count {
            let message = try Message.call(uniqueName, "/", "a.Notes", "Note")
            message.expectNoReply()
            try MessageWriter.write(to: message) { try $0.writeUInt32(number) }
            try link.send(message)
        }
    }

    fileprivate func expectDrained() {
        #expect(link.isDrained)
    }
}
