import CDBus
import Glibc
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// Data that waits to be written because the other side does not read it.
@Suite(.startsPrograms) struct BacklogTests {
    /// A bus that stops reading from us when few of our bytes wait in it.
    let session: PrivateSession
    let connection: Connection

    static let replySize = 1 << 20

    init() async throws {
        session = try PrivateSession(limits: ["max_incoming_bytes": 4 << 20])
        connection = try await session.connect()
    }

    /// Serves calls with large replies that are numbered.
    private func serveNumbers() async {
        let numbers = Log<UInt32>()
        let interface = Interface(
            "a.Large",
            methods: [
                Method("Get", out: [Argument("number", "u"), Argument("bytes", "ay")]) { call in
                    let number = UInt32(numbers.entries.count)
                    numbers.append(number)
                    try call.reply {
                        try $0.writeUInt32(number)
                        try $0.writeBytes([UInt8](repeating: 0, count: Self.replySize))
                    }
                }
            ])
        await connection.export([interface], at: "/")
    }

    /// Sends calls and reads nothing before SIGUSR1; it then reads every reply.
    ///
    /// It has a socket of its own: every library reads what comes, whether asked to or not.
    static let client = """
        import os, signal, socket, sys
        from gi.repository import Gio
        signal.alarm(3600)  # not to outlive tests that crash
        address, server, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        path = address.split('path=')[1].split(',')[0]
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(path)
        bus.sendall(b'\\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\\r\\n')
        assert bus.recv(4096).startswith(b'OK')
        bus.sendall(b'BEGIN\\r\\n')
        def send(serial, destination, interface, member):
            call = Gio.DBusMessage.new_method_call(destination, '/', interface, member)
            call.set_serial(serial)
            bus.sendall(call.to_blob(Gio.DBusCapabilityFlags.NONE))
        send(1000, 'org.freedesktop.DBus', 'org.freedesktop.DBus', 'Hello')
        for serial in range(count):
            send(serial + 1, server, 'a.Large', 'Get')
        print('sent', flush=True)
        signal.sigwait([signal.SIGUSR1])
        stream, numbers = bus.makefile('rb'), []
        while len(numbers) < count:
            blob = stream.read(16)
            blob += stream.read(Gio.DBusMessage.bytes_needed(blob) - 16)
            message = Gio.DBusMessage.new_from_blob(blob, Gio.DBusCapabilityFlags.NONE)
            if 1 <= message.get_reply_serial() <= count:
                number = message.get_body().get_child_value(0).get_uint32()
                numbers.append((message.get_reply_serial() - 1, number))
        print(numbers == [(number, number) for number in range(count)])
        """

    private func startClient(calls: Int) throws -> ChildProcess {
        try ChildProcess(
            [
                "/usr/bin/python3", "-c", Self.client, session.bus.address,
                connection.name, "\(calls)",
            ], output: .lines)
    }

    @Test func `A caller that reads no replies does not fill our memory (6)`() async throws {
        await serveNumbers()
        let client = try startClient(calls: 100)
        #expect(client.lines?.next() == "sent")
        while await connection.backlog <= MessageLimits.maximumBacklog {
            await session.takeTurn()
        }
        // Each turn reads what there is to read, and the calls are few bytes.
        for _ in 0..<100 { await session.takeTurn() }
        let largest = MessageLimits.maximumBacklog + Self.replySize + 1000
        #expect(await connection.backlog <= largest)
        #expect(await !connection.isReading)
        // Nothing is lost for it, and nothing out of order.
        client.send(SIGUSR1)
        #expect(client.lines?.next() == "True")
        try client.requireSuccess()
        #expect(await connection.isReading)
        #expect(await connection.backlog <= MessageLimits.maximumBacklog)
    }

    @Test func `The end of the bus is noticed while nothing is read (6)`() async throws {
        await serveNumbers()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        await connection.onDisconnect { end.finish() }
        let client = try startClient(calls: 100)
        while await !connection.isHeld { await session.takeTurn() }
        session.bus.stop()
        for await _ in ended {}
        client.send(SIGKILL)
        client.waitUntilExit()
    }

    @Test func `A connection that only sends still reads (7)`() async throws {
        // The bus takes no more from us until we take from it what we have sent to ourselves.
        let rule = MatchRule(sender: connection.uniqueName, member: "Large")
        var signals = try await connection.signals(rule, limit: 100).makeAsyncIterator()
        try await connection.emitAtOnce(80, size: 1 << 20)
        for _ in 0..<80 {
            guard case .signal? = await signals.next() else {
                Issue.record("A signal is missing.")
                return
            }
        }
    }

    @Test func `A dispatch without memory is retried without an event (5)`() async throws {
        // What the greeting brought along is dispatched before this returns.
        try await connection.call(.bus, "/", "org.freedesktop.DBus", "GetId")
        await connection.failNextDispatch()
        let reply = try await connection.call(.bus, "/", "org.freedesktop.DBus", "GetId")
        #expect(reply.count == 1)
    }
}

extension PrivateSession {
    /// Waits for a turn of the loop.
    ///
    /// The pause leaves the processor to those that it waits for.
    fileprivate func takeTurn() async {
        await withCheckedContinuation { turn in
            loop.perform { [loop] in
                loop.schedule(after: .milliseconds(1)) { turn.resume() }
            }
        }
    }
}

extension Connection {
    fileprivate var backlog: Int { link.backlog }
    fileprivate var isHeld: Bool { link.isHeld }
    fileprivate var isReading: Bool {
        link.watches.values.contains { $0.events.contains(.readable) }
    }

    /// Sends signals without a turn of the loop between them.
    fileprivate func emitAtOnce(_ count: Int, size: Int) throws {
        for _ in 0..<count {
            try emit("/", "a.b", "Large") {
                try $0.writeBytes([UInt8](repeating: 1, count: size))
            }
        }
        #expect(link.backlog > MessageLimits.maximumBacklog)
    }

    /// Has libdbus find no memory for the next message.
    fileprivate func failNextDispatch() {
        let dispatch = link.dispatchOne
        link.dispatchOne = { [unowned link] _ in
            link.dispatchOne = dispatch
            return DBUS_DISPATCH_NEED_MEMORY
        }
    }
}
