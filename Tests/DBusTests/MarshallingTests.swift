import Foundation
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// Every type both ways, with GLib as the other side.
@Suite(.startsPrograms) struct MarshallingTests {
    /// Each with GLib's own spelling, types spelled out.
    static let values: [(Value, String)] = [
        (.byte(0xFF), "byte 0xff"),
        (.boolean(true), "true"),
        (.boolean(false), "false"),
        (.int16(.min), "int16 -32768"),
        (.uint16(.max), "uint16 65535"),
        (.int32(.min), "-2147483648"),
        (.uint32(.max), "uint32 4294967295"),
        (.int64(.min), "int64 -9223372036854775808"),
        (.uint64(.max), "uint64 18446744073709551615"),
        (.double(-0.5), "-0.5"),
        (.string(""), "''"),
        (.string("Ünïcode\n\u{1F600}\u{FFFF}"), "'Ünïcode\\n\u{1F600}\\uffff'"),
        (.objectPath("/"), "objectpath '/'"),
        (.signature("a{s(iv)}"), "signature 'a{s(iv)}'"),
        (.bytes([]), "@ay []"),
        (.bytes([0, 1, 255]), "[byte 0x00, 0x01, 0xff]"),
        (.array(of: "s", []), "@as []"),
        (.array(of: "b", [.boolean(true), .boolean(false)]), "[true, false]"),
        (.array(of: "d", [.double(1), .double(2)]), "[1.0, 2.0]"),
        (.array(of: "ay", [.bytes([1]), .bytes([])]), "[[byte 0x01], []]"),
        (.array(of: "(sx)", [.structure([.string("a"), .int64(1)])]), "[('a', int64 1)]"),
        (.array(of: "v", [.variant(.byte(1)), .variant(.string("a"))]), "[<byte 0x01>, <'a'>]"),
        (.dictionary(key: "s", value: "v", []), "@a{sv} {}"),
        (
            .dictionary(
                key: "y", value: "as", [Value.Entry(.byte(1), .array(of: "s", [.string("a")]))]),
            "{byte 0x01: ['a']}"
        ),
        (
            .dictionary(
                key: "s", value: "v",
                [
                    Value.Entry(.string("b"), .variant(.int32(1))),
                    Value.Entry(.string("a"), .variant(.dictionary(key: "s", value: "v", []))),
                ]),
            "{'b': <1>, 'a': <@a{sv} {}>}"
        ),
        (
            .structure([.byte(1), .uint64(2), .byte(3), .string("x")]),
            "(byte 0x01, uint64 2, byte 0x03, 'x')"
        ),
        (.variant(.variant(.variant(.int32(1)))), "<<<1>>>"),
    ]

    /// Answers with a variant's text, and with the variant made again from the text.
    private static let peer = """
        from gi.repository import Gio, GLib
        xml = '''<node><interface name="a.Echo"><method name="Echo"><arg type="v" direction="in"/>
          <arg type="s" direction="out"/><arg type="v" direction="out"/></method></interface></node>'''
        def call(connection, sender, path, interface, method, arguments, invocation):
            value = arguments.get_child_value(0).get_variant()
            text = value.print_(True)
            again = GLib.Variant.parse(value.get_type(), text, None, None)
            invocation.return_value(GLib.Variant.new_tuple(
                GLib.Variant('s', text), GLib.Variant.new_variant(again)))
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        bus.register_object('/', Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], call, None, None)
        print(bus.get_unique_name(), flush=True)
        GLib.MainLoop().run()
        """

    @Test func `GLib reads what we write, and we read what GLib writes`() async throws {
        let session = try PrivateSession()
        let connection = try await session.connect()
        let peer = try ChildProcess(
            ["/usr/bin/python3", "-c", Self.peer],
            environment: ["DBUS_SESSION_BUS_ADDRESS": session.bus.address], output: .lines)
        defer { peer.send(SIGKILL) }
        let name = try BusName(try #require(peer.lines?.next()))
        for (value, text) in Self.values {
            let reply = try await connection.call(name, "/", "a.Echo", "Echo", [.variant(value)])
            #expect(reply == [.string(text), .variant(value)])
        }
    }

    @Test func `A value that is sent to ourselves comes back the same`() async throws {
        let session = try PrivateSession()
        let connection = try await session.connect()
        let echo = Interface(
            "a.Echo",
            methods: [
                Method("Echo", in: [Argument("value", "v")], out: [Argument("value", "v")]) {
                    call in
                    let value = try call.arguments { try $0.readValue() }
                    try call.reply { try $0.writeValue(value) }
                }
            ])
        await connection.export([echo], at: "/")
        for (value, _) in Self.values {
            let reply = try await connection.call(
                connection.uniqueName, "/", "a.Echo", "Echo", [.variant(value)])
            #expect(reply == [.variant(value)])
        }
    }
}
