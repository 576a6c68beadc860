import Foundation
import Glibc
import SystemCalls
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// Peers that connect to a socket of the service.
@Suite(.startsPrograms) struct PeerListenerTests {
    let loop: EventLoop
    let otherLoop: EventLoop
    let directory: TemporaryDirectory

    init() throws {
        loop = try EventLoop.startThread(named: "service", isInOwnProcess: true)
        otherLoop = try EventLoop.startThread(named: "clients")
        directory = try TemporaryDirectory()
    }

    /// A service with a first peer on a socket pair, and a listener beside it.
    func serve(
        mostPeers: Int = 100, patience: PeerConduct.Patience = .unlimited
    ) async throws -> (service: Connection, PeerListener) {
        var ends: [Int32] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let (ours, theirs) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let service = try await Connection.open(serving: ours, on: loop, [PeerTests.echo])
        await service.identifyCallers()
        let address = try #require(UnixSocketAddress(path: directory.path + "/socket"))
        let socket = try UnixSocket.listen(at: address)
        let listener = try await withCheckedThrowingContinuation { continuation in
            loop.perform {
                continuation.resume(
                    with: Result {
                        try PeerListener(
                            of: service, on: socket, mostPeers: mostPeers,
                            patience: patience)
                    }
                )
            }
        }
        withExtendedLifetime(theirs) {}
        return (service, listener)
    }

    func connect() async throws -> Connection {
        try await Connection.open(.peer("unix:path=\(directory.path)/socket"), on: otherLoop)
    }

    func echo(_ client: Connection, _ bytes: [UInt8] = [7]) async throws {
        let reply = try await client.call(nil, "/", "a.Echo", "Echo", [.bytes(bytes)])
        #expect(reply == [.bytes(bytes)])
    }

    @Test func `Each peer is served with the objects of the service, and is known by its process`()
        async throws
    {
        let (_, listener) = try await serve()
        let clients = [try await connect(), try await connect()]
        for client in clients {
            try await echo(client, [UInt8](repeating: 1, count: 1 << 20))
            #expect(
                try await client.call(nil, "/", "a.Echo", "Who") == [.string("- \(getpid())")])
        }
        #expect(await listener.connections.count == 2)
        await clients[0].close()
        try await echo(clients[1])
    }

    @Test func `Peers above the limit are disconnected, and there is room when one has left`()
        async throws
    {
        let (_, listener) = try await serve(mostPeers: 2)
        let clients = [try await connect(), try await connect()]
        for client in clients { try await echo(client) }
        let third = try await connect()
        await #expect(throws: DBusError.self) { try await self.echo(third) }
        await clients[0].close()
        while await listener.connections.count > 1 { await Task.yield() }
        try await echo(try await connect())
    }

    @Test func `After the end of the listener, nothing that was not read is carried out`()
        async throws
    {
        let (_, listener) = try await serve()
        let client = try await connect()
        try await echo(client)
        await listener.close(within: .seconds(60))
        await #expect(throws: DBusError.self) { try await self.echo(client) }
        #expect(await listener.connections.isEmpty)
    }

    @Test func `A peer that is not authenticated in time is disconnected`() async throws {
        let (_, listener) = try await serve(patience: .init(authentication: .milliseconds(1)))
        // Its end is the only thing that can come.
        #expect(await readText(try connectByHand()).isEmpty)
        while await !listener.connections.isEmpty { await Task.yield() }
    }

    @Test func `Nothing limits a peer that is authenticated`() async throws {
        let (_, listener) = try await serve()
        try await echo(try await connect())
        for connection in await listener.connections {
            #expect(connection.link.authenticationLimit == nil)
        }
    }

    @Test
    func `A peer that is being authenticated when the listener stops gets what is sent at the end`()
        async throws
    {
        let (_, listener) = try await serve()
        let peer = try connectByHand()
        let user = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        try File.write(
            [0] + "AUTH EXTERNAL \(user)\r\n".utf8, toDescriptor: peer.number, named: "peer")
        #expect(await readText(peer).starts(with: "OK "))
        await listener.stop()
        for connection in await listener.connections {
            try await connection.emit("/", "a.Echo", "Echoed") { try $0.writeUInt32(1) }
        }
        async let end: Void = listener.close(within: .seconds(1800))
        try File.write([UInt8]("BEGIN\r\n".utf8), toDescriptor: peer.number, named: "peer")
        var text = ""
        while case let read = await readText(peer), !read.isEmpty { text += read }
        #expect(text.contains("Echoed"))
        shutdown(peer.number, Int32(SHUT_RDWR))
        await end
    }

    @Test func `A peer that reads the end of its connection can still write, and closes it itself`()
        async throws
    {
        let (_, listener) = try await serve()
        let peer = try await authenticateByHand()
        async let end: Void = listener.close(within: .seconds(1800))
        #expect(await readText(peer).isEmpty)
        // The socket of a connection that is closed refuses this.
        try File.write([UInt8](repeating: 0, count: 1000), toDescriptor: peer.number, named: "peer")
        #expect(await !listener.connections.isEmpty)
        shutdown(peer.number, Int32(SHUT_RDWR))
        await end
        #expect(await listener.connections.isEmpty)
    }

    @Test func `The mode of the socket lets its owner in only`() async throws {
        let kept = try await serve()
        defer { withExtendedLifetime(kept) {} }
        #expect(try FileStatus(of: directory.path + "/socket").mode == 0o600)
        #expect(UnixSocket.isListening(at: directory.path + "/socket"))
        #expect(!UnixSocket.isListening(at: directory.path))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func `A process of another user is not let in, whatever the mode of the socket`() async throws {
        let kept = try await serve()
        defer { withExtendedLifetime(kept) {} }
        chmod(directory.path, 0o755)
        chmod(directory.path + "/socket", 0o666)
        let result = ProgramResult.run([
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c",
            """
            import socket, sys
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(sys.argv[1])
            peer.sendall(b"\\0AUTH ANONYMOUS\\r\\n")
            assert peer.recv(1000).startswith(b"REJECTED EXTERNAL")
            peer.sendall(b"AUTH EXTERNAL 30\\r\\n")
            assert peer.recv(1000).startswith(b"REJECTED EXTERNAL")
            # It may say who it is, and is not let in.
            peer.sendall(b"AUTH EXTERNAL 3635353334\\r\\nBEGIN\\r\\n")
            while answer := peer.recv(1000): assert answer.startswith(b"OK "), answer
            print("refused")
            """, directory.path + "/socket",
        ])
        #expect(result.output == "refused\n", "\(result)")
    }

    func connectByHand() throws -> FileDescriptor {
        let address = try #require(UnixSocketAddress(path: directory.path + "/socket"))
        let peer = try UnixSocket.connect(to: address)
        _ = fcntl(peer.number, F_SETFL, 0)
        return peer
    }

    func authenticateByHand(negotiating: String = "") async throws -> FileDescriptor {
        let peer = try connectByHand()
        let user = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        try File.write(
            [0] + "AUTH EXTERNAL \(user)\r\n\(negotiating)BEGIN\r\n".utf8,
            toDescriptor: peer.number, named: "peer")
        #expect(await readText(peer).starts(with: "OK "))
        return peer
    }

    /// What comes next; nothing at the end.
    ///
    /// It waits on a thread of its own: tasks have few of them, and one of these has to send it.
    func readText(_ socket: FileDescriptor) async -> String {
        defer { withExtendedLifetime(socket) {} }
        let number = socket.number
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = read(number, &buffer, buffer.count)
                continuation.resume(
                    returning: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
            }
        }
    }
}

extension PeerConduct.Patience {
    /// Longer than any test.
    static let unlimited = Self(
        authentication: .seconds(1800), reading: .seconds(1800), message: .seconds(1800))
}
