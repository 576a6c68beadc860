import Foundation
import Glibc
import SystemCalls
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// libdbus duplicates descriptors when they are written and again when they are read.
@Suite(.startsPrograms, .serialized) struct DescriptorTests {
    private static func open() throws -> FileDescriptor {
        let number = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        try #require(number >= 0)
        return FileDescriptor(owning: number)
    }

    private static func echo() -> Interface {
        Interface(
            "a.Echo",
            methods: [
                Method("Echo", in: [Argument("value", "ah")], out: [Argument("value", "ah")]) {
                    call in
                    let value = try call.arguments { try $0.readValue() }
                    try call.reply { try $0.writeValue(value) }
                }
            ])
    }

    /// How many descriptors refer to a file, in this process.
    private static func count(of path: String) throws -> Int {
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return numbers.count { number in
            var buffer = [CChar](repeating: 0, count: 4096)
            let length = readlink("/proc/self/fd/\(number)", &buffer, buffer.count - 1)
            return length > 0
                && String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
                    == path
        }
    }

    @Test func `A descriptor is closed with its last reference`() throws {
        var descriptor: FileDescriptor? = try Self.open()
        let number = try #require(descriptor).number
        #expect(fcntl(number, F_GETFD) >= 0)
        // Another thread may open a file under the number at once, so it is the file that counts.
        var before = stat()
        fstat(number, &before)
        let directory = try TemporaryDirectory()
        let path = try directory.write("", to: "file")
        descriptor = FileDescriptor(owning: Glibc.open(path, O_RDONLY))
        #expect(try Self.count(of: path) == 1)
        descriptor = nil
        #expect(try Self.count(of: path) == 0)
    }

    @Test func `Sending descriptors there and back leaves none open`() async throws {
        let session = try PrivateSession()
        let (connection, peer) = (try await session.connect(), try await session.connectApart())
        await peer.export([Self.echo()], at: "/")
        let directory = try TemporaryDirectory()
        let path = try directory.write("contents", to: "file")
        do {
            let file = FileDescriptor(owning: Glibc.open(path, O_RDONLY | O_CLOEXEC))
            for _ in 0..<20 {
                let value = Value.array(of: "h", [.unixFD(file), .unixFD(file)])
                let reply = try await connection.call(
                    peer.uniqueName, "/", "a.Echo", "Echo", [value])
                guard case .array(_, let items) = try #require(reply.first), items.count == 2,
                    case .unixFD(let received) = items[0]
                else {
                    Issue.record("The reply is \(reply).")
                    return
                }
                #expect(received.number != file.number)
                #expect(fcntl(received.number, F_GETFD) == FD_CLOEXEC)
                var byte: UInt8 = 0
                #expect(pread(received.number, &byte, 1, 0) == 1 && byte == UInt8(ascii: "c"))
            }
        }
        // The peer has let go of its message when it takes the next one from the same connection.
        _ = try await connection.call(peer.uniqueName, "/", "a.Echo", "Echo", [.array(of: "h", [])])
        #expect(try Self.count(of: path) == 0)
    }

    @Test func `A bus accepts sixteen descriptors in a message, and one more is refused here`()
        async throws
    {
        let session = try PrivateSession()
        let connection = try await session.connect()
        await connection.export([Self.echo()], at: "/")
        let file = Value.unixFD(try Self.open())
        func send(_ count: Int) async throws -> Value? {
            try await connection.call(
                connection.uniqueName, "/", "a.Echo", "Echo",
                [.array(of: "h", [Value](repeating: file, count: count))]
            ).first
        }
        guard case .array("h", let items)? = try await send(16) else {
            Issue.record("The reply is another one.")
            return
        }
        #expect(items.count == 16)
        await #expect(throws: DBusError.tooManyDescriptors) { try await send(17) }
        #expect(try await send(0) == .array(of: "h", []))
    }

    @Test func `A missing descriptor is its sender's mistake`() async throws {
        let session = try PrivateSession()
        let connection = try await session.connect()
        await connection.export([Self.echo()], at: "/")
        let result = await session.run(
            "gdbus", "call", "--session", "--dest", connection.name,
            "--object-path", "/", "--method", "a.Echo.Echo", "[handle 0]")
        #expect(
            result.error.contains(
                "org.freedesktop.DBus.Error.InvalidArgs: A file descriptor cannot be had: the sender "
                    + "named one and did not attach it, or this process has too many open."),
            "\(result)")
    }

    /// Sends as many descriptors as its argument says to the peer that its second one names.
    private static let sender = """
        import os, sys
        from gi.repository import Gio, GLib
        fds = Gio.UnixFDList()
        for number in range(int(sys.argv[1])):
            fds.append(os.open('/dev/null', os.O_RDONLY))
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        arguments = GLib.Variant('(ah)', (range(fds.get_length()),))
        reply, _ = bus.call_with_unix_fd_list_sync(
            sys.argv[2], '/', 'a.Count', 'Count', arguments, None, 0, -1, fds, None)
        print(reply.unpack()[0])
        """

    @Test(arguments: [1, 17, 253])
    func `A peer that sends as many as a socket carries does not end our connection`(
        _ count: Int
    ) async throws {
        let session = try PrivateSession(limits: ["max_message_unix_fds": 4096])
        let connection = try await session.connect()
        let interface = Interface(
            "a.Count",
            methods: [
                Method("Count", in: [Argument("h", "ah")], out: [Argument("count", "u")]) { call in
                    let all = try call.arguments { try $0.readArray { try $0.readUnixFD() } }
                    try call.reply { try $0.writeUInt32(UInt32(all.count)) }
                }
            ])
        await connection.export([interface], at: "/")
        let result = await session.run(
            "/usr/bin/python3", "-c", Self.sender, "\(count)", connection.name)
        #expect(result.output == "\(count)\n", "\(result.error)")
    }
}
