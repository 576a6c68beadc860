import Foundation
import Glibc
import SystemCalls
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// Connections without a bus, on a given socket.
@Suite(.startsPrograms) struct PeerTests {
    let loop: EventLoop
    let otherLoop: EventLoop

    init() throws {
        loop = try EventLoop.startThread(named: "peer")
        otherLoop = try EventLoop.startThread(named: "client")
    }

    static let echo = Interface(
        "a.Echo",
        methods: [
            Method("Echo", in: [Argument("bytes", "ay")], out: [Argument("bytes", "ay")]) { call in
                let bytes = try call.arguments { try $0.readBytes() }
                try call.reply { try $0.writeBytes(bytes) }
            },
            Method("Who", out: [Argument("who", "s")]) { call in
                let (name, process) = (call.sender?.string, call.credentials?.processID)
                let words = [name, process.map(String.init)].map { $0 ?? "-" }
                try call.reply { try $0.writeString(words.joined(separator: " ")) }
            },
            Method("Open", in: [Argument("file", "h")], out: [Argument("file", "h")]) { call in
                let file = try call.arguments { try $0.readUnixFD() }
                try call.reply { try $0.writeUnixFD(file) }
            },
        ], signals: [SignalDeclaration("Echoed", [Argument("count", "u")])])

    /// A client that is libdbus, and the service that it is connected to.
    private func connect() async throws -> (client: Connection, service: Connection) {
        let socket = try ListeningSocket()
        async let client = Connection.open(.peer(socket.address), on: otherLoop)
        let service = try await Connection.open(
            serving: try await socket.accept(), on: loop, [Self.echo])
        return (try await client, service)
    }

    @Test func `libdbus calls, and gets replies, errors, signals and descriptors`() async throws {
        let (client, service) = try await connect()
        #expect(client.uniqueName == nil && service.uniqueName == nil)
        let bytes = [UInt8](repeating: 7, count: 16 << 20)
        #expect(
            try await client.call(nil, "/", "a.Echo", "Echo", [.bytes(bytes)]) == [.bytes(bytes)])
        await #expect(throws: DBusError(.unknownObject, "There is no object at '/a'.")) {
            try await client.call(nil, "/a", "a.Echo", "Echo", [.bytes([])])
        }
        let rule = MatchRule(sender: "a.Name", interface: "a.Echo")
        var signals = try await client.signals(rule, limit: 1).makeAsyncIterator()
        try await service.emit("/", "a.Echo", "Echoed") { try $0.writeUInt32(1) }
        guard case .signal(let signal)? = await signals.next() else {
            Issue.record("The signal is missing.")
            return
        }
        #expect(signal.arguments == [.uint32(1)])
        let file = FileDescriptor(owning: Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC))
        let reply = try await client.call(nil, "/", "a.Echo", "Open", [.unixFD(file)])
        guard case .unixFD? = reply.first else {
            Issue.record("The reply is \(reply).")
            return
        }
    }

    @Test func `Both ends of a socket pair can be connections, one that serves and one that calls`()
        async throws
    {
        var ends: [Int32] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let (ours, theirs) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let service = try await Connection.open(serving: theirs, on: loop, [Self.echo])
        let client = try await Connection.open(calling: ours, on: otherLoop)
        #expect(client.uniqueName == nil)
        #expect(try await client.call(nil, "/", "a.Echo", "Who") == [.string("- \(getpid())")])
        await service.close()
        await #expect(throws: DBusError.self) {
            try await client.call(nil, "/", "a.Echo", "Who")
        }
    }

    @Test func `libdbus's own interface is answered`() async throws {
        let (client, service) = try await connect()
        let peer: InterfaceName = "org.freedesktop.DBus.Peer"
        #expect(try await client.call(nil, "/", peer, "Ping") == [])
        #expect(try await client.call("a.Name", "/not/there", peer, "Ping") == [])
        await service.close()
    }

    /// Runs a program of GLib's, which is connected as `bus`, against the service.
    private func run(_ program: String) async throws -> ProgramResult {
        let socket = try ListeningSocket()
        let prelude = """
            import os, socket
            from gi.repository import Gio, GLib
            end = socket.socket(socket.AF_UNIX)
            end.connect('\(socket.path)')
            stream = Gio.Socket.new_from_fd(end.detach()).connection_factory_create_connection()
            bus = Gio.DBusConnection.new_sync(
                stream, None, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)

            """
        async let result = ProgramResult.running(["/usr/bin/python3", "-c", prelude + program])
        let service = try await Connection.open(
            serving: try await socket.accept(), on: loop, [Self.echo])
        let ended = await result
        await service.close()
        return ended
    }

    @Test func `GLib calls, and gets replies and errors`() async throws {
        let result = try await run(
            """
            data = GLib.Variant('(ay)', (bytes(1 << 20),))
            print(bus.call_sync(None, '/', 'a.Echo', 'Echo', data, None, 0, -1).equal(data))
            try:
                bus.call_sync(None, '/', 'a.Echo', 'Other', None, None, 0, -1)
            except GLib.Error as error:
                print(Gio.DBusError.get_remote_error(error))
            """)
        #expect(
            result.output == "True\norg.freedesktop.DBus.Error.UnknownMethod\n", "\(result.error)")
    }

    @Test
    func `A peer is identified by its process, and cannot claim to be another`() async throws {
        let result = try await run(
            """
            call = Gio.DBusMessage.new_method_call('a.Name', '/', 'a.Echo', 'Who')
            call.set_sender(':1.99')
            reply, _ = bus.send_message_with_reply_sync(call, 0, -1)
            print(reply.get_body().unpack()[0] == f'- {os.getpid()}')
            """)
        #expect(result.output == "True\n", "\(result.error)")
    }

    @Test func `The end of the peer is reported`() async throws {
        let (client, service) = try await connect()
        _ = try await client.call(nil, "/", "org.freedesktop.DBus.Peer", "Ping")
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        await service.onDisconnect { end.finish() }
        await client.close()
        for await _ in ended {}
        await #expect(throws: DBusError.disconnected) { try await service.emit("/", "a.b", "C") }
    }

    @Test func `The end of the service is seen by the peer`() async throws {
        let (client, service) = try await connect()
        _ = try await client.call(nil, "/", "org.freedesktop.DBus.Peer", "Ping")
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        await client.onDisconnect { end.finish() }
        await service.close()
        for await _ in ended {}
    }

    @Test func `Functions that need a bus are refused here`() async throws {
        let (client, service) = try await connect()
        for connection in [client, service] {
            await #expect(throws: DBusError.noBus) { try await connection.requestName("a.Name") }
        }
    }

    /// What is not the socket of a peer.
    enum Wrong: CaseIterable {
        case file, closed, unconnected, datagram, network

        func open() -> Int32 {
            switch self {
            case .file: Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
            case .closed: -1
            case .unconnected:
                socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            case .datagram: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            case .network: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            }
        }
    }

    @Test(arguments: Wrong.allCases)
    func `A descriptor without a peer is refused with the reason`(_ wrong: Wrong) async throws {
        let descriptor = FileDescriptor(owning: wrong.open())
        let error = await #expect(throws: DBusError.self) {
            try await Connection.open(serving: descriptor, on: loop)
        }
        #expect(error?.name == .invalidArguments)
        #expect(error?.message.contains("is not the socket of a peer") == true)
    }
}
