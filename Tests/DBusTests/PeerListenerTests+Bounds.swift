import Foundation
import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import DBus

/// What peers may take up.
extension PeerListenerTests {
    /// The header of a call of `Echo`, and the beginning of its body.
    ///
    /// - Parameter size: The bytes that are to be echoed, which follow.
    private func echoCall(of size: UInt32) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
        var fields: [UInt8] = []
        for (code, type, text) in [(1, "o", "/"), (2, "s", "a.Echo"), (3, "s", "Echo")] {
            fields += Array(repeating: 0, count: -fields.count & 7)
            fields += [UInt8(code), 1] + Array(type.utf8) + [0]
            fields += bytes(UInt32(text.utf8.count)) + Array(text.utf8) + [0]
        }
        fields += Array(repeating: 0, count: -fields.count & 7)
        fields += [8, 1] + Array("g".utf8) + [0, 2] + Array("ay".utf8) + [0]
        let header =
            [UInt8(ascii: "l"), 1, 0, 1] + bytes(size + 4) + bytes(1)
            + bytes(UInt32(fields.count)) + fields
        return header + Array(repeating: 0, count: -header.count & 7) + bytes(size)
    }

    /// Sends bytes, until the service ends the connection.
    private func send(_ bytes: [UInt8], to peer: FileDescriptor) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(peer.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Whether the service has ended the connection, whatever it has sent before.
    private func isEnded(_ peer: FileDescriptor) async -> Bool {
        while await !readText(peer).isEmpty {}
        return true
    }

    /// Waits for the end of a connection, and reads nothing.
    ///
    /// It waits on a thread of its own: tasks have few of them, and one of these has to end it.
    private func end(of peer: FileDescriptor) async {
        let number = peer.number
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var ends = pollfd(fd: number, events: 0, revents: 0)
                poll(&ends, 1, -1)
                continuation.resume()
            }
        }
        withExtendedLifetime(peer) {}
    }

    private func unfinished(at service: Connection) async -> Int {
        await loop.run { service.calls.unfinished }
    }

    @Test func `A peer that does not finish its message in time is disconnected`() async throws {
        let (service, listener) = try await serve(
            patience: .init(
                authentication: .seconds(1800), reading: .seconds(1800), message: .milliseconds(1)))
        let peer = try await authenticateByHand()
        send(echoCall(of: 1 << 20) + [1, 2, 3], to: peer)
        #expect(await isEnded(peer))
        while await !listener.connections.isEmpty { await Task.yield() }
        #expect(await unfinished(at: service) == 0)
        try await echo(try await connect())
    }

    @Test func `A message that has come is not unfinished, however many parts it had`()
        async throws
    {
        let (service, listener) = try await serve()
        let client = try await connect()
        try await echo(client, [UInt8](repeating: 1, count: 8 << 20))
        #expect(await unfinished(at: service) == 0)
        withExtendedLifetime(listener) {}
    }

    @Test func `A peer that does not read is disconnected, and the others get large replies`()
        async throws
    {
        let kept = try await serve(
            patience: .init(
                authentication: .seconds(1800), reading: .milliseconds(1), message: .seconds(1800)))
        defer { withExtendedLifetime(kept) {} }
        let peer = try await authenticateByHand()
        let size = 4 << 20
        send(echoCall(of: UInt32(size)) + [UInt8](repeating: 7, count: size), to: peer)
        // It reads nothing before the connection has ended.
        await end(of: peer)
        #expect(await isEnded(peer))
    }

    @Test func `A peer that sends descriptors is disconnected`() async throws {
        let kept = try await serve()
        defer { withExtendedLifetime(kept) {} }
        let client = try await connect()
        let file = FileDescriptor(owning: Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC))
        await #expect(throws: DBusError.self) {
            try await client.call(nil, "/", "a.Echo", "Open", [.unixFD(file)])
        }
        try await echo(try await connect())
    }

    @Test func `Of many unfinished messages, the largest one of the process with the most ends`()
        async throws
    {
        let (service, listener) = try await serve()
        await loop.run { service.calls.bounds.unfinished = 8 << 20 }
        let modest = try await authenticateByHand()
        await loop.run {
            // It counts as the only connection of another process.
            for peer in listener.assumeIsolated({ $0.connections }) {
                peer.callers.peer?.process = CallerProcess()
            }
        }
        let size = 1 << 20
        send(echoCall(of: UInt32(size)) + [UInt8](repeating: 7, count: size - 1), to: modest)
        var others: [FileDescriptor] = []
        for _ in 0..<3 {
            let peer = try await authenticateByHand()
            let part = [UInt8](repeating: 7, count: 3 << 20)
            send(echoCall(of: 4 << 20) + part, to: peer)
            others.append(peer)
        }
        while await listener.connections.count > 3 { await Task.yield() }
        #expect(await unfinished(at: service) <= 8 << 20)
        // It can finish, and is answered.
        send([7], to: modest)
        #expect(await !readText(modest).isEmpty)
    }

    @Test func `A large reply costs the process that leaves the most unread, and nobody else`()
        async throws
    {
        let (service, listener) = try await serve()
        await loop.run { service.calls.bounds.unread = 8 << 20 }
        let size = 3 << 20
        var idle: [FileDescriptor] = []
        for _ in 0..<2 {
            let peer = try await authenticateByHand()
            send(echoCall(of: UInt32(size)) + [UInt8](repeating: 7, count: size), to: peer)
            idle.append(peer)
        }
        // A program with one connection, of its own process.
        let client = try await connect()
        try await echo(client)
        await loop.run {
            for peer in listener.assumeIsolated({ $0.connections }) {
                guard peer.link.backlog == 0 else { continue }
                peer.callers.peer?.process = CallerProcess()
            }
        }
        try await echo(client, [UInt8](repeating: 1, count: 4 << 20))
        while await listener.connections.count > 2 { await Task.yield() }
        // The process with the most, if it wants more, gets an error.
        await loop.run { service.calls.bounds.unread = 1 << 20 }
        await #expect(throws: DBusError.tooMuchIsUnread) {
            try await self.echo(client, [UInt8](repeating: 1, count: 4 << 20))
        }
        try await echo(client)
        withExtendedLifetime(idle) {}
    }
}
