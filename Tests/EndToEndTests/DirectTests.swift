import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The daemon's own socket, for GLib, for the client library and for the tool.
@Suite(.startsPrograms, .serialized) struct DirectTests {
    let desktop: Desktop

    init() throws {
        desktop = try Desktop()
        // The bus starts the daemon, which opens the socket before it answers.
        #expect(desktop.call("ListDomains").status == 0)
    }

    /// Python that has `connect()`, which makes GLib's connection to the socket, `direct`, one of
    /// these, `bus`, `call` and `refusal`, `told`, the signals on `direct`, and `settle()`, which waits
    /// until everything has come that was sent to it.
    private static let python = """
        import os, stat, struct, sys
        from gi.repository import Gio, GLib
        name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
        socket_path = os.environ["XDG_RUNTIME_DIR"] + "/defaultsd/direct"
        def connect():
            connection = Gio.DBusConnection.new_for_address_sync(
                "unix:path=" + socket_path, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
            connection.set_exit_on_close(False)
            return connection
        def call(connection, method, signature, *arguments, interface=name):
            return connection.call_sync(
                name if connection is bus else None, path, interface, method,
                GLib.Variant(signature, arguments), None, 0, -1, None).unpack()
        def refusal(connection, method, signature, *arguments):
            try: return call(connection, method, signature, *arguments)
            except GLib.Error as error: return Gio.DBusError.get_remote_error(error)
        def follow(connection, *domains, method="Follow"):
            return connection.call_with_unix_fd_list_sync(
                None, path, name, method, GLib.Variant("(as)", (domains,)), None, 0, -1, None, None)
        def settle(connection=None):
            done = []
            (connection or direct).call(None, path, "org.freedesktop.DBus.Peer", "Ping", None, None, 0,
                -1, None, lambda *_: done.append(1))
            while not done: GLib.MainContext.default().iteration(True)
        def listen(connection):
            told = []
            connection.signal_subscribe(None, name, None, path, None, 0,
                lambda c, sender, p, i, member, arguments: told.append((member, arguments.unpack())))
            return told
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        direct = connect()
        told = listen(direct)
        """

    private func expectDone(_ program: String, _ arguments: String...) {
        let result = desktop.run(
            ["/usr/bin/python3", "-c", "\(Self.python)\n\(program)\nprint('done')"] + arguments)
        #expect(result.output == "done\n", "\(result)")
    }

    @Test func `The socket is for its user only, and has the whole contract`() {
        expectDone(
            """
            assert stat.S_IMODE(os.stat(socket_path).st_mode) == 0o600
            assert stat.S_IMODE(os.stat(os.path.dirname(socket_path)).st_mode) == 0o700
            assert call(direct, "SetValue", "(ssv)", "a.b", "key", GLib.Variant("i", 5)) == (2,)
            assert call(bus, "GetValue", "(ss)", "a.b", "key") == (5, 2)
            assert refusal(direct, "Get", "(ss)", "a b", "key") == name + ".Error.InvalidDomain"
            described = [call(connection, "Introspect", "()",
                              interface="org.freedesktop.DBus.Introspectable") for connection in (direct, bus)]
            assert described[0] == described[1]
            served = call(direct, "Get", "(ss)", name, "BusAddress", interface="org.freedesktop.DBus.Properties")
            assert served[0] == os.environ["DBUS_SESSION_BUS_ADDRESS"].split(",guid=")[0], served
            """)
    }

    @Test func `FollowValues returns D-Bus values, and then sends names`() {
        expectDone(
            """
            other = connect()
            call(other, "SetValue", "(ssv)", "a.b", "key", GLib.Variant("as", ["x"]))
            reply, files = follow(direct, "a.b", "a.c", method="FollowValues")
            page, domains, generation = reply.unpack()
            assert os.fstat(files.get(page)).st_size == 32768 and generation == 2
            assert [domain[0] for domain in domains] == ["a.b", "a.c"]
            assert domains[0][2:] == ({"key": ["x"]}, [], []) and domains[1][2:] == ({}, [], [])
            call(other, "SetValue", "(ssv)", "a.c@host", "key", GLib.Variant("s", "x"))
            call(direct, "SetValue", "(ssv)", "a.b", "own", GLib.Variant("b", True))
            call(other, "Remove", "(ss)", "a.b", "key")
            settle()
            assert told == [
                ("Changed", ("a.c", "host", ["key"], [], 3, ":direct.2")),
                ("Changed", ("a.b", "domain", [], ["key"], 5, ":direct.2"))], told
            del told[:]
            follow(direct, "a.b")
            call(other, "Remove", "(ss)", "a.b", "own")
            call(direct, "Unfollow", "(as)", ["a.b", "a.c"])
            call(other, "Remove", "(ss)", "a.c@host", "key")
            settle()
            assert [signal for signal, change in told] == ["ChangedValues"], told
            """)
    }

    @Test func `A connection without descriptors cannot follow, and is sent nothing`() {
        expectDone(
            """
            import socket
            poor = socket.socket(socket.AF_UNIX)
            poor.connect(socket_path)
            poor.sendall(b"\\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\\r\\nBEGIN\\r\\n")
            assert poor.recv(100).startswith(b"OK")
            def ask(method, body, serial):
                message = Gio.DBusMessage.new_method_call(None, path, name, method)
                message.set_body(body)
                message.set_serial(serial)
                poor.sendall(message.to_blob(0))
                return poor.recv(5000)
            assert b"NEGOTIATE_UNIX_FD" in ask("Follow", GLib.Variant("(as)", (["a.b"],)), 1)
            assert call(direct, "SetValue", "(ssv)", "a.b", "key", GLib.Variant("i", 5)) == (2,)
            answer = ask("ListKeys", GLib.Variant("(s)", ("a.b",)), 2)
            assert b"key" in answer and b"ChangedValues" not in answer, answer
            """)
    }

    @Test func `On the bus Follow is refused, and the signals there have names only`() {
        expectDone(
            """
            names = listen(bus)
            for method in "Follow", "FollowValues":
                assert refusal(bus, method, "(as)", ["a.b"]) == "org.freedesktop.DBus.Error.NotSupported"
            call(direct, "SetValue", "(ssv)", "a.b", "key", GLib.Variant("s", "x"))
            while not names: GLib.MainContext.default().iteration(True)
            assert names == [("Changed", ("a.b", "domain", ["key"], [], 2, ":direct.1"))], names
            """)
    }

    @Test func `A thousand programs are connected, and each is served`() {
        expectDone(
            """
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
            many = [connect() for _ in range(1000)]
            for number, connection in enumerate(many):
                call(connection, "SetValue", "(ssv)", "a.b", f"key{number}", GLib.Variant("i", number))
            assert len(call(many[500], "ListKeys", "(s)", "a.b")[0]) == 1000
            for connection in many: connection.close_sync()
            assert len(call(direct, "ListKeys", "(s)", "a.b")[0]) == 1000
            """)
    }

    @Test func `A daemon that ends answers what it has read, says so, and takes its file away`()
        throws
    {
        expectDone(
            """
            import signal
            daemon = bus.call_sync(
                "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                GLib.Variant("(s)", (name,)), None, 0, -1, None).unpack()[0]
            call(direct, "SetValue", "(ssv)", "a.b", "key", GLib.Variant("i", 5))
            os.kill(daemon, signal.SIGTERM)
            while not direct.is_closed(): GLib.MainContext.default().iteration(True)
            assert told == [("Ending", ())], told
            assert call(bus, "GetValue", "(ss)", "a.b", "key") == (5, 2)
            assert call(connect(), "GetValue", "(ss)", "a.b", "key") == (5, 2)
            """)
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox"))
    func `Who is confined and reaches the socket is refused everything`() throws {
        let result = desktop.run(
            try desktop.wholeSandbox() + [
                "/usr/bin/python3", "-c",
                """
                \(Self.python)
                for method, signature, arguments in [
                        ("ListDomains", "()", ()), ("Get", "(ss)", ("a.b", "key")),
                        ("Follow", "(as)", (["a.b"],)), ("Remove", "(ss)", ("a.b", "key"))]:
                    answer = refusal(direct, method, signature, *arguments)
                    assert answer == "org.freedesktop.DBus.Error.AccessDenied", (method, answer)
                print("done")
                """,
            ])
        #expect(result.output == "done\n", "\(result)")
    }
}

/// The client library and the tool on the daemon's own socket.
@Suite(.startsPrograms, .serialized) struct DirectClientTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// How many connections a process has to the bus.
    private func busConnections(of process: pid_t) throws -> Int {
        let result = desktop.python(
            """
            import sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            def ask(method, *arguments):
                return bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", method,
                    GLib.Variant("(s)", arguments) if arguments else None, None, 0, -1, None).unpack()[0]
            def process(name):
                try: return ask("GetConnectionUnixProcessID", name)
                except GLib.Error: return 0
            names = [name for name in ask("ListNames") if name.startswith(":")]
            print(sum(process(name) == int(sys.argv[1]) for name in names))
            """, "\(process)")
        return try #require(Int(try result.requireOutput().trimmingCharacters(in: .newlines)))
    }

    private func route() throws -> String {
        let status = try desktop.tool("status", "--json").requireOutput()
        let object = try JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any]
        return object?["connection"] as? String ?? "none"
    }

    @Test func `The tool is on the socket if a daemon listens, and status says so`() throws {
        #expect(try route() == "bus")
        #expect(try route() == "direct")
        #expect(desktop.tool("write", "a.b", "key", "5").status == 0)
        #expect(try desktop.tool("read", "a.b", "key").requireOutput() == "5\n")
        #expect(
            try desktop.tool("status").requireOutput().contains("direct, without the bus"))
    }

    @Test func `A process leaves the bus when the daemon listens, and gets changes with values`()
        throws
    {
        let client = try ClientProcess(talkingOf: "org.example.App", in: desktop).whenCurrent()
        try wait { try busConnections(of: client.processID) == 0 }
        try desktop.setNumber(7, forKey: "Count", in: "org.example.App")
        try client.wait(for: "7", to: "get Count")
        try client.ask("set Count 8")
        try client.ask("flush")
        #expect(try desktop.number(forKey: "Count", in: "org.example.App") == 8)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `It comes back to the socket of the next daemon`(signal: Int32) throws {
        let client = try ClientProcess(talkingOf: "org.example.App", in: desktop).whenCurrent()
        for number in 1...3 {
            try wait { try busConnections(of: client.processID) == 0 }
            let daemon = try desktop.daemonPID()
            #expect(kill(daemon, signal) == 0)
            try client.ask("set Count \(number)")
            try client.ask("flush")
            // A daemon that is ending may have answered. Nobody would start the next one then.
            try wait { kill(daemon, 0) != 0 }
            #expect(try desktop.number(forKey: "Count", in: "org.example.App") == number)
        }
    }

    @Test func `It goes on if the socket and the page are taken away`() throws {
        let client = try ClientProcess(talkingOf: "org.example.App", in: desktop).whenCurrent()
        try wait { try busConnections(of: client.processID) == 0 }
        try FileManager.default.removeItem(atPath: desktop.directory.path + "/runtime/defaultsd")
        try desktop.setNumber(7, forKey: "Count", in: "org.example.App")
        try client.wait(for: "7", to: "get Count")
        #expect(try route() == "bus")
    }

    @Test func `A change of another machine is not taken for one of this machine`() throws {
        let client = try ClientProcess(talkingOf: "org.example.App", in: desktop).whenCurrent()
        try wait { try busConnections(of: client.processID) == 0 }
        func run(_ words: String...) { #expect(desktop.tool(words).status == 0) }
        run("write", "org.example.App@host", "Count", "-int", "1")
        try client.wait(for: "1", to: "get Count")
        run("write", "org.example.App@host:other", "Count", "-int", "2")
        run("write", "org.example.App@host:other", "Key", "-int", "3")
        // What is seen last was sent last.
        run("write", "org.example.App", "Number", "-int", "4")
        try client.wait(for: "4", to: "get Number")
        #expect(try client.ask("get Count") == "1")
        #expect(try client.ask("get Key") == "0")
        run("delete", "org.example.App@host:other", "Count")
        run("write", "org.example.App", "Number", "-int", "5")
        try client.wait(for: "5", to: "get Number")
        #expect(try client.ask("get Count") == "1")
    }

    @Test func `A daemon of another database leaves the socket to the one that has it`() throws {
        #expect(try route() == "bus")
        #expect(try route() == "direct")
        let other = try PrivateBus(
            serviceDirectory: nil, isOpenToAll: false, environment: desktop.environment)
        let config = try TemporaryDirectory()
        let result = ProgramResult.run(
            [
                "sh", "-c",
                """
                "$1/defaultsd" & gdbus wait --session org.defaultsd.Defaults1
                kill $!; wait $!
                """, "sh", Desktop.programs,
            ],
            environment: desktop.environment.merging([
                "DBUS_SESSION_BUS_ADDRESS": other.address, "XDG_CONFIG_HOME": config.path,
            ]) { $1 })
        #expect(result.status == 0, "\(result)")
        #expect(try route() == "direct")
    }

    @Test func `A program on another bus does not take the daemon of this one`() throws {
        #expect(desktop.call("ListDomains").status == 0)
        let other = try PrivateBus(
            serviceDirectory: nil, isOpenToAll: false, environment: desktop.environment)
        let result = desktop.run(
            [Desktop.programs + "/defaultsctl", "status", "--json"],
            environment: desktop.environment.merging(
                ["DBUS_SESSION_BUS_ADDRESS": other.address]) { $1 })
        #expect(!result.output.contains(#""connection":"direct""#), "\(result)")
    }
}

extension String {
    fileprivate func replacing(_ part: String, with other: String) -> String {
        replacingOccurrences(of: part, with: other)
    }
}
