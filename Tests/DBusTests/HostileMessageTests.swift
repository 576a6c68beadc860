import Glibc
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// Whatever a caller sends, the service stays on the bus, serves others, and keeps nothing of it.
@Suite(.startsPrograms, .serialized) struct HostileMessageTests {
    let session: PrivateSession
    let connection: Connection
    let other: Connection

    init() async throws {
        session = try PrivateSession(limits: ["max_message_unix_fds": 4096])
        (connection, other) = (try await session.connect(), try await session.connectApart())
        await connection.identifyCallers()
        let interface = Interface(
            "a.Service",
            methods: [
                Method("Take", in: [Argument("text", "s")]) { try $0.reply() },
                Method("TakeAny", in: [Argument("value", "v")], out: [Argument("value", "v")]) {
                    call in
                    let value = try call.arguments { try $0.readValue() }
                    try call.reply { try $0.writeValue(value) }
                },
                Method("List", out: [Argument("entries", "a{sv}")]) { call in
                    let beginning = String(repeating: "k", count: 100)
                    try call.reply { writer in
                        try writer.writeDictionary(key: "s", value: "v") { writer in
                            for number in 0..<25_000 {
                                try writer.writeEntry {
                                    try $0.writeString("\(beginning) \(number)")
                                    try $0.writeValue(.variant(.uint32(UInt32(number))))
                                }
                            }
                        }
                    }
                },
            ])
        await connection.export([interface], at: "/")
    }

    /// Sends messages without the checks of any library, and prints `sent`.
    static let prelude = """
        import array, os, signal, socket, struct, sys
        from gi.repository import Gio, GLib
        signal.alarm(3600)  # not to outlive tests that crash
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(sys.argv[1].split('path=')[1].split(',')[0])
        bus.sendall(b'\\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\\r\\n')
        assert bus.recv(4096).startswith(b'OK')
        bus.sendall(b'NEGOTIATE_UNIX_FD\\r\\n')
        assert bus.recv(4096).startswith(b'AGREE')
        bus.sendall(b'BEGIN\\r\\n')
        serial = 0
        def message(destination, member, body=None, interface='a.Service', path='/'):
            global serial
            serial += 1
            call = Gio.DBusMessage.new_method_call(destination, path, interface, member)
            call.set_serial(serial)
            if body:
                call.set_body(body)
            return call.to_blob(Gio.DBusCapabilityFlags.NONE)
        def call(member, body=None, **header):
            bus.sendall(message(sys.argv[2], member, body, **header))
        def blob(signature, body, member='Take', count=0):
            '''A message whose body is given in bytes, of a signature that need not fit.'''
            global serial
            serial += 1
            fields = b''
            def field(code, kind, text):
                nonlocal fields
                fields += b'\\0' * (-len(fields) % 8) + bytes([code, 1]) + kind + b'\\0'
                if kind == b'g':
                    fields += bytes([len(text)]) + text + b'\\0'
                else:
                    fields += b'\\0' * (-len(fields) % 4) + struct.pack('<I', len(text)) + text + b'\\0'
            field(1, b'o', b'/')
            field(2, b's', b'a.Service')
            field(3, b's', member.encode())
            field(6, b's', sys.argv[2].encode())
            field(8, b'g', signature)
            if count:
                fields += b'\\0' * (-len(fields) % 8) + b'\\x09\\x01u\\0' + struct.pack('<I', count)
            return (struct.pack('<cBBBIII', b'l', 1, 0, 1, len(body), serial, len(fields)) + fields
                    + b'\\0' * (-len(fields) % 8)), body
        def end():
            '''Waits until all that was sent has come, or the bus has ended the connection.'''
            global serial
            try:
                serial += 1
                last = serial
                ping = Gio.DBusMessage.new_method_call(
                    sys.argv[2], '/', 'org.freedesktop.DBus.Peer', 'Ping')
                ping.set_serial(last)
                bus.sendall(ping.to_blob(Gio.DBusCapabilityFlags.NONE))
                stream = bus.makefile('rb')
                while True:
                    head = stream.read(16)
                    if len(head) < 16:
                        break
                    head += stream.read(Gio.DBusMessage.bytes_needed(head) - 16)
                    reply = Gio.DBusMessage.new_from_blob(head, Gio.DBusCapabilityFlags.NONE)
                    if reply.get_reply_serial() == last:
                        # By an error, too, where what was sent before it waits and fills the room.
                        print('answered')
                        return
            except (BrokenPipeError, ConnectionResetError):
                pass
            print('thrown off')
        bus.sendall(message('org.freedesktop.DBus', 'Hello', None, 'org.freedesktop.DBus'))
        # Until it has answered the bus reads bytes only, and loses the descriptors with them.
        bus.recv(4096)

        """

    struct Attack: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let program: String

        init(_ description: String, _ program: String) {
            (testDescription, self.program) = (description, program)
        }
    }

    static let attacks: [Attack] = [
        Attack(
            "two arrays of 63 MiB, 126 MiB in all, of the wrong types",
            """
            half = struct.pack('<I', 63 << 20) + bytes(63 << 20)
            for _ in range(3):
                for part in blob(b'ayay', half + half):
                    bus.sendall(part)
            """),
        Attack(
            "an array of 64 MiB, of structures",
            """
            for part in blob(b'a(t)', struct.pack('<II', 64 << 20, 0) + bytes(64 << 20)):
                bus.sendall(part)
            """),
        Attack(
            "a string of 100 MiB",
            """
            for part in blob(b's', struct.pack('<I', 100 << 20) + b'a' * (100 << 20) + b'\\0'):
                bus.sendall(part)
            """),
        Attack(
            "five million empty strings",
            """
            body = struct.pack('<I', 5_000_000 * 8 - 3) + bytes(5_000_000 * 8 - 3)
            for part in blob(b'as', body):
                bus.sendall(part)
            """),
        Attack(
            "variants 63 deep",
            """
            value = GLib.Variant('y', 1)
            for _ in range(62):
                value = GLib.Variant.new_variant(value)
            for member in ['Take', 'TakeAny'] * 100:
                call(member, GLib.Variant.new_tuple(GLib.Variant.new_variant(value)))
            """),
        Attack(
            "every type, no arguments, no interface, no such path",
            """
            values = [('y', 1), ('b', True), ('n', -1), ('q', 1), ('i', -1), ('u', 1), ('x', -1),
                      ('t', 1), ('d', 1.5), ('s', 'a'), ('o', '/'), ('g', 'a{sv}'), ('ay', b'a'),
                      ('v', GLib.Variant('s', 'a')), ('(su)', ('a', 1)), ('a{sv}', {}), ('a{ts}', {1: 'a'})]
            for kind, value in values:
                for member in ['Take', 'TakeAny', 'Other']:
                    call(member, GLib.Variant('(' + kind + ')', (value,)))
                    call(member, GLib.Variant('(v)', (GLib.Variant(kind, value),)), interface=None)
                call('Take', None, path='/not/there')
                call('Take', None, interface='a.Other')
                call('Take', None, interface='org.freedesktop.DBus.Peer')
            """),
        Attack(
            "answers of 3 MB and 25 000 keys, many at once",
            """
            for _ in range(20):
                call('List')
            """),
        Attack(
            "a hundred thousand small messages",
            """
            import threading
            def drain():
                while bus.recv(1 << 20): pass
            one = message(sys.argv[2], 'Take', GLib.Variant('(s)', ('a',)))
            # Replies are read meanwhile, so that this is about the calls.
            os_read = threading.Thread(target=drain, daemon=True)
            os_read.start()
            for _ in range(1000):
                bus.sendall(one * 100)
            print('answered', flush=True)
            os._exit(0)
            """),
        Attack(
            "descriptors, as many as go, in messages that wait",
            """
            for _ in range(40):
                files = [os.open('/dev/null', os.O_RDONLY) for _ in range(253)]
                head, body = blob(b'h', struct.pack('<I', 0), 'Take', 253)
                socket.send_fds(bus, [head + body], files)
                for file in files:
                    os.close(file)
            """),
    ]

    @Test(arguments: attacks)
    func `The service stays, serves others, and keeps nothing`(_ attack: Attack) async throws {
        let end = attack.program.hasSuffix("os._exit(0)") ? "" : "\nend()\n"
        let ended = Switch()
        async let result = session.run(
            "/usr/bin/python3", "-c", Self.prelude + attack.program + end, session.bus.address,
            connection.name)
        async let served = serveOther(until: ended)
        let (output, error) = (await result.output, await result.error)
        ended.turnOn()
        #expect(output == "answered\n", "\(error)")
        #expect(try await served > 0)
        #expect(await connection.waitingCalls == 0)
        #expect(
            try await other.call(connection.uniqueName, "/", "a.Service", "Take", [.string("")])
                == [])
    }

    /// Calls the service again and again.
    private func serveOther(until ended: Switch) async throws -> Int {
        var count = 0
        repeat {
            _ = try await other.call(
                connection.uniqueName, "/", "a.Service", "Take", [.string("")],
                timeout: .seconds(3600))
            count += 1
        } while !ended.isOn
        return count
    }
}
