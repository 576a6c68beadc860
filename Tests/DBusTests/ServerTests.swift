import Foundation
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// Served objects, called by other programs.
@Suite(.startsPrograms) struct ServerTests {
    let session: PrivateSession
    let connection: Connection

    init() async throws {
        session = try PrivateSession()
        connection = try await session.connect()
        await connection.export([Self.calculator], at: "/a/b/Calculator")
    }

    struct Refusal: ErrorReply {
        var errorName: ErrorName { "a.Calculator.Error.Refused" }
        var errorMessage: String { "It was\0refused." }
    }

    struct Secret: Error {
        let text = "a stored value"
    }

    static let calculator = Interface(
        "a.Calculator",
        methods: [
            Method(
                "Add", in: [Argument("a", "i"), Argument("b", "i")], out: [Argument("sum", "x")]
            ) { call in
                let (a, b) = try call.arguments { (try $0.readInt32(), try $0.readInt32()) }
                try call.reply { try $0.writeInt64(Int64(a) + Int64(b)) }
            },
            Method("Refuse") { _ in throw Refusal() },
            Method("Fail") { _ in throw Secret() },
            Method("Drop") { _ in },
            Method("Who", out: [Argument("sender", "s")]) { call in
                let sender = call.sender?.string ?? ""
                try call.reply { try $0.writeString(sender) }
            },
        ],
        signals: [SignalDeclaration("Added", [Argument("sum", "x")])],
        properties: [
            Property("Precision", "u", emitsChanged: .constant) { .uint32(64) },
            Property("Last", "x") { .int64(7) },
            Property("Tape", "as", emitsChanged: .invalidation) { .array(of: "s", [.string("7")]) },
            Property("Broken", "s", emitsChanged: .none) { throw Refusal() },
        ])

    private func gdbus(_ method: String, _ arguments: String...) async -> ProgramResult {
        await ProgramResult.running(
            [
                "gdbus", "call", "--session", "--dest", connection.name,
                "--object-path", "/a/b/Calculator", "--method", method, "--",
            ] + arguments,
            environment: ["DBUS_SESSION_BUS_ADDRESS": session.bus.address, "PATH": "/usr/bin:/bin"])
    }

    private func call(
        _ interface: InterfaceName, _ member: MemberName, _ arguments: [Value] = [],
        at path: ObjectPath = "/a/b/Calculator"
    ) async throws -> [Value] {
        try await connection.call(connection.uniqueName, path, interface, member, arguments)
    }

    private func expectError(
        _ name: ErrorName, _ message: String, _ interface: InterfaceName, _ member: MemberName,
        _ arguments: [Value] = [], at path: ObjectPath = "/a/b/Calculator"
    ) async {
        await #expect(throws: DBusError(name, message)) {
            try await call(interface, member, arguments, at: path)
        }
    }

    // MARK: Methods

    @Test func `gdbus, busctl and dbus-send call a method`() async {
        #expect(await gdbus("a.Calculator.Add", "2", "-5").output == "(int64 -3,)\n")
        let name = connection.name
        let busctl = await session.run(
            "busctl", "--address=\(session.bus.address)", "call", name, "/a/b/Calculator",
            "a.Calculator", "Add", "ii", "2", "3")
        #expect(busctl.output == "x 5\n", "\(busctl.error)")
        let send = await session.run(
            "dbus-send", "--session", "--print-reply=literal", "--dest=\(name)", "/a/b/Calculator",
            "a.Calculator.Add", "int32:2", "int32:4")
        #expect(send.output == "   int64 6\n", "\(send.error)")
    }

    @Test func `A call may leave out the interface`() async {
        let arguments = "GLib.Variant('(ii)', (2, 3))"
        let program = """
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            call = Gio.DBusMessage.new_method_call('\(connection.name)', '/a/b/Calculator', None, 'Add')
            call.set_body(\(arguments))
            reply, _ = bus.send_message_with_reply_sync(call, 0, -1)
            print(reply.get_body().unpack()[0])
            """
        let result = await session.run("/usr/bin/python3", "-c", program)
        #expect(result.output == "5\n", "\(result.error)")
    }

    @Test func `The caller is known by its unique name`() async throws {
        #expect(try await call("a.Calculator", "Who") == [.string(connection.name)])
    }

    @Test func `A missing path, interface or method has its own error`() async {
        await expectError(
            .unknownObject, "There is no object at '/a/c'.", "a.Calculator", "Add", at: "/a/c")
        await expectError(
            .unknownInterface, "The object at '/a/b/Calculator' has no interface 'a.Other'.",
            "a.Other", "Add")
        await expectError(
            .unknownMethod, "The interface 'a.Calculator' has no method 'Other'.", "a.Calculator",
            "Other")
    }

    @Test func `Arguments of other types are refused before the handler`() async {
        for arguments in [
            [], [.int32(1)], [.int32(1), .string("")], [.int32(1), .int32(1), .int32(1)],
        ]
            as [[Value]]
        {
            let error = await #expect(throws: DBusError.self) {
                try await call("a.Calculator", "Add", arguments)
            }
            #expect(error?.name == .invalidArguments)
            #expect(error?.message.contains("'ii'") == true)
        }
    }

    @Test func `An error of a handler is sent with its name, any other one only as Failed`() async {
        await expectError(
            "a.Calculator.Error.Refused", "It was\u{FFFD}refused.", "a.Calculator", "Refuse")
        await expectError(
            .failed, "The service could not carry out the call.", "a.Calculator", "Fail")
    }

    // MARK: Answers, each exactly one

    @Test func `A call that is dropped is answered with Failed (2)`() async {
        await expectError(
            .failed, "The service dropped the call without an answer.", "a.Calculator", "Drop")
    }

    /// Serves a method whose calls are kept, and reports each.
    private func serveLater() async -> (Keeper, AsyncStream<Void>) {
        let (calls, report) = AsyncStream.makeStream(of: Void.self)
        let keeper = Keeper(on: connection.loop)
        let method = Method("Wait") { call in
            keeper.assumeIsolated { $0.keep(call) }
            report.yield()
        }
        await connection.export([Interface("a.Later", methods: [method])], at: "/later")
        return (keeper, calls)
    }

    @Test func `A call may be answered later`() async throws {
        let (keeper, calls) = await serveLater()
        async let reply = call("a.Later", "Wait", at: "/later")
        for await _ in calls { break }
        try await keeper.answer()
        #expect(try await reply == [])
        await keeper.drop()
    }

    @Test func `A call that was dropped on another thread is answered there too (3)`()
        async throws
    {
        let kept = Mailbox()
        let (calls, report) = AsyncStream.makeStream(of: Void.self)
        let method = Method("Wait") { call in
            kept.put(call)
            report.yield()
        }
        await connection.export([Interface("a.Later", methods: [method])], at: "/later")
        let reply = Task { try await call("a.Later", "Wait", at: "/later") }
        for await _ in calls { break }
        kept.empty()
        await #expect(throws: DBusError.unanswered) { try await reply.value }
    }

    @Test func `A caller that expects no reply gets none, not even an error (1)`() async throws {
        let quiet = Interface(
            "a.Quiet",
            methods: [
                Method("Reply", out: [Argument("number", "u")]) { call in
                    #expect(!call.isReplyExpected)
                    try call.reply { _ in Issue.record("A reply was written for nobody.") }
                },
                Method("Fail") { _ in throw Refusal() },
                Method("Drop") { _ in },
            ])
        await connection.export([quiet], at: "/quiet")
        // What else comes to the caller than the reply to its last call, it prints.
        let program = """
            import os
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            replies = []
            def note(bus, message, incoming):
                if incoming and message.get_reply_serial():
                    replies.append(message.get_message_type())
                return message
            bus.add_filter(note)
            def call(path, interface, member):
                return Gio.DBusMessage.new_method_call('\(connection.name)', path, interface, member)
            for path, member in [('/quiet', 'Reply'), ('/quiet', 'Fail'), ('/quiet', 'Drop'),
                                 ('/quiet', 'Other'), ('/other', 'Reply')]:
                silent = call(path, 'a.Quiet', member)
                silent.set_flags(Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
                bus.send_message(silent, 0)
            bus.send_message_with_reply_sync(call('/', 'org.freedesktop.DBus.Peer', 'Ping'), 0, -1)
            print(len(replies), flush=True)
            # GLib's thread may still call the filter, and must not find an interpreter that ends.
            os._exit(0)
            """
        let result = await session.run("/usr/bin/python3", "-c", program)
        #expect(result.output == "1\n", "\(result.error)")
    }

    @Test func `A second reply is our own mistake and traps (1)`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [address = session.bus.address as String] in
            let method = Method("Twice") { call in
                try call.reply()
                try call.reply()
            }
            try await ServerTests.serve(method, at: address)
        }
        #expect(result.map(complaint)?.contains("a.Mistake.Twice was answered twice.") == true)
    }

    @Test func `A reply of other types than declared is our own mistake and traps`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [address = session.bus.address as String] in
            let method = Method("Wrong", out: [Argument("a", "s")]) { call in
                try call.reply { try $0.writeByte(1) }
            }
            try await ServerTests.serve(method, at: address)
        }
        #expect(
            result.map(complaint)?.contains("a.Mistake.Wrong is declared to reply 's', not 'y'.")
                == true)
    }

    /// Serves a method and calls it.
    static func serve(_ method: Method, at address: String) async throws {
        let connection = try await Connection.open(
            .address(address), on: EventLoop.startThread(named: "mistake"))
        await connection.export([Interface("a.Mistake", methods: [method])], at: "/")
        try await connection.call(connection.uniqueName, "/", "a.Mistake", method.name)
    }

    // MARK: Properties

    @Test func `Properties are read one by one and all at once`() async {
        #expect(
            await gdbus("org.freedesktop.DBus.Properties.Get", "a.Calculator", "Precision").output
                == "(<uint32 64>,)\n")
        #expect(
            await gdbus("org.freedesktop.DBus.Properties.Get", "", "Last").output
                == "(<int64 7>,)\n")
        #expect(
            await gdbus("org.freedesktop.DBus.Properties.GetAll", "a.Calculator").error
                .contains("a.Calculator.Error.Refused"))
        #expect(
            await gdbus("org.freedesktop.DBus.Properties.GetAll", "org.freedesktop.DBus.Properties")
                .output == "(@a{sv} {},)\n")
    }

    @Test func `A property that does not exist or cannot be set has its own error`() async {
        let properties: InterfaceName = "org.freedesktop.DBus.Properties"
        await expectError(
            .unknownProperty, "The interface 'a.Calculator' has no property 'Other'.", properties,
            "Get", [.string("a.Calculator"), .string("Other")])
        await expectError(
            .unknownInterface, "The object at '/a/b/Calculator' has no interface '!'.", properties,
            "Get", [.string("!"), .string("Last")])
        await expectError(
            .propertyReadOnly, "The property 'Last' cannot be set.", properties, "Set",
            [.string("a.Calculator"), .string("Last"), .variant(.int64(1))])
        await expectError(
            .unknownProperty, "The interface 'a.Calculator' has no property 'Other'.", properties,
            "Set", [.string("a.Calculator"), .string("Other"), .variant(.int64(1))])
    }

    @Test
    func `Changes are announced with the value, by name or not at all, as declared`() async throws {
        let watcher = try await session.connectApart()
        var changes = try await watcher.signals(
            MatchRule(member: "PropertiesChanged"), limit: 8
        ).makeAsyncIterator()
        try await connection.propertiesChanged(
            "/a/b/Calculator", "a.Calculator", ["Precision", "Broken"])
        try await connection.propertiesChanged(
            "/a/b/Calculator", "a.Calculator", ["Last", "Tape", "Precision"])
        guard case .signal(let signal)? = await changes.next() else {
            Issue.record("The stream ended.")
            return
        }
        #expect(
            signal.arguments == [
                .string("a.Calculator"),
                .dictionary(
                    key: "s", value: "v", [Value.Entry(.string("Last"), .variant(.int64(7)))]),
                .array(of: "s", [.string("Tape")]),
            ])
    }

    // MARK: Peer and signals

    @Test(arguments: ["/a/b/Calculator", "/", "/not/there"])
    func `Peer is answered at every path`(_ path: ObjectPath) async throws {
        let peer: InterfaceName = "org.freedesktop.DBus.Peer"
        #expect(try await call(peer, "Ping", at: path) == [])
        let identifier = try String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        #expect(
            try await call(peer, "GetMachineId", at: path)
                == [.string(identifier.trimmingCharacters(in: .newlines))])
    }

    @Test func `A signal that differs from its declaration is our own mistake and traps`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [address = session.bus.address as String] in
            let connection = try await Connection.open(
                .address(address), on: EventLoop.startThread(named: "mistake"))
            await connection.export([ServerTests.calculator], at: "/")
            try await connection.emit("/", "a.Calculator", "Added")
        }
        #expect(
            result.map(complaint)?.contains("a.Calculator.Added is not declared to carry ''.")
                == true)
    }
}

/// Holds a call on no thread in particular, as only a mistake would.
private final class Mailbox: @unchecked Sendable {
    private var call: MethodCall?

    func put(_ call: MethodCall) { self.call = call }
    func empty() { call = nil }
}

/// What a process that was to trap said at its end.
func complaint(of result: ExitTest.Result) -> String {
    String(decoding: result.standardErrorContent, as: UTF8.self)
}
