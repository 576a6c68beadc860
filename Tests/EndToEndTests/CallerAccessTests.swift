import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Who may call what: the user's own programs everything, those in a sandbox not all of it, and other
/// users nothing.
@Suite(.startsPrograms, .serialized) struct CallerAccessTests {
    private static let denied = "org.freedesktop.DBus.Error.AccessDenied"
    private static let isRoot = geteuid() == 0

    /// Begins a Python program with `bus`, which it has yet to make, and `answers`: what every method of
    /// the service says, those of the bus's own interfaces too, when it is called without arguments.
    private static let pythonAnswers = """
        import os, sys
        from gi.repository import Gio, GLib
        name, path, methods = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", sys.argv[1:]
        flags = Gio.DBusConnectionFlags
        flags = flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION
        address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
        def answers(bus):
            for method in methods:
                interface, member = method.rsplit(".", 1)
                try:
                    bus.call_sync(name, path, interface, member, None, None, 0, -1, None)
                    yield "answered"
                except GLib.Error as error: yield Gio.DBusError.get_remote_error(error)
        """

    /// All methods of the object, by interface and name.
    private func methods(of desktop: Desktop) throws -> [String] {
        var interface = ""
        return try desktop.introspect("/org/defaultsd/Defaults1").split(separator: "\n").compactMap
        {
            if let match = $0.firstMatch(of: /<interface name="([^"]+)"/) {
                interface = String(match.1)
            }
            return $0.firstMatch(of: /<method name="([^"]+)"/).map { "\(interface).\($0.1)" }
        }
    }

    @Test(.enabled(if: isRoot, "only root can run a program as another user"))
    func `Another user's program is refused in every call`() throws {
        let desktop = try Desktop(busIsOpenToAll: true)
        let methods = try methods(of: desktop)
        #expect(methods.count > 30)
        let program = """
            \(Self.pythonAnswers)
            print(set(answers(Gio.DBusConnection.new_for_address_sync(address, flags, None, None))))
            """
        let python = ["/usr/bin/python3", "-c", program] + methods
        let stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + python
        #expect(try desktop.run(stranger).requireOutput() == "{'\(Self.denied)'}\n")
        #expect(try !desktop.run(python).requireOutput().contains(Self.denied))
        let words = desktop.run(
            [
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "gdbus", "call",
                "--session", "--dest", "org.defaultsd.Defaults1", "--object-path",
                "/org/defaultsd/Defaults1", "--method", "org.defaultsd.Defaults1.ListDomains",
            ]
        ).error
        #expect(words.contains("another user") && !words.contains("sandbox"), "\(words)")
    }

    @Test func `A caller of unknown identity is refused in every call`() throws {
        let desktop = try Desktop(busIsOpenToAll: true)
        let methods = try methods(of: desktop)
        let output = try desktop.run(
            [
                "/usr/bin/python3", "-c",
                """
                \(Self.pythonAnswers)
                observer = Gio.DBusAuthObserver()
                observer.connect("allow-mechanism", lambda _, mechanism: mechanism == "ANONYMOUS")
                bus = Gio.DBusConnection.new_for_address_sync(address, flags, observer, None)
                print(set(answers(bus)))
                """,
            ] + methods
        ).requireOutput()
        #expect(output == "{'\(Self.denied)'}\n")
    }

    @Test(.enabled(if: isRoot, "only root can make a socket as another user"))
    func `Another user at the other end of a peer's socket is refused`() throws {
        let desktop = try Desktop()
        let program = """
            \(Self.pythonAnswers)
            import socket, subprocess
            def ask(user):
                os.seteuid(user)
                ours, theirs = socket.socketpair()
                os.seteuid(0)
                daemon = subprocess.Popen(["\(Desktop.programs)/defaultsd", "--peer", str(theirs.fileno())],
                                          pass_fds=[theirs.fileno()])
                theirs.close()
                socket_of_ours = Gio.Socket.new_from_fd(ours.detach())
                stream = socket_of_ours.connection_factory_create_connection()
                bus = Gio.DBusConnection.new_sync(
                    stream, None, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
                try: print(bus.call_sync(None, path, name, "ListDomains", None, None, 0, -1, None))
                except GLib.Error as error: print(Gio.DBusError.get_remote_error(error))
                bus.close_sync()
                daemon.wait()
            ask(65534)
            ask(0)
            """
        let output = try desktop.python(program).requireOutput()
        #expect(output == "\(Self.denied)\n(@as [],)\n" || output == "\(Self.denied)\n([],)\n")
    }

    // MARK: Sandboxes

    /// The answers to a program in a sandbox whose application is unknown.
    ///
    /// The first three calls are refused. The last one does not find the key.
    private static let answersToSandbox: [String?] = [
        denied, denied, denied, "org.defaultsd.Defaults1.Error.NotFound",
    ]

    /// What each of these says to a program that is run in some way.
    private func answers(_ desktop: Desktop, in way: [String]) -> [String?] {
        let calls = [
            ["Defaults1.Attach", "['a.b']"], ["Maintenance1.GetStatistics"],
            ["Defaults1.SetValue", "a.b", "key", "<1>"], ["Defaults1.GetValue", "a.b", "key"],
        ]
        return calls.map { call in
            let result = desktop.run(
                way + [
                    "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1",
                    "--object-path", "/org/defaultsd/Defaults1", "--method",
                    "org.defaultsd." + call[0], "--",
                ] + call.dropFirst())
            return result.status == 0 ? nil : result.errorName ?? result.error
        }
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A program with the host's root and other mounts is in a sandbox`() throws {
        let desktop = try Desktop()
        #expect(answers(desktop, in: []) == [nil, nil, nil, nil])
        #expect(
            answers(desktop, in: ["bwrap", "--bind", "/", "/", "--tmpfs", "/home"])
                == Self.answersToSandbox)
    }

    @Test(.enabled(if: isRoot, "only root can make mounts of its own"))
    func `A mount namespace with an empty home is a sandbox`() throws {
        let desktop = try Desktop()
        let way = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /home && exec \"$@\"", "sh"]
        #expect(answers(desktop, in: []) == [nil, nil, nil, nil])
        #expect(answers(desktop, in: way) == Self.answersToSandbox)
    }

    /// A Python program that connects by libdbus in a sandbox, forks, and lets the parent end.
    ///
    /// The child prints the parent's number, and calls `Attach` and `GetStatistics` for each line that it reads.
    private static let fork = """
        import ctypes, os, sys
        dbus = ctypes.CDLL("libdbus-1.so.3")
        class Error(ctypes.Structure):
            _fields_ = [("name", ctypes.c_char_p), ("message", ctypes.c_char_p),
                        ("bits", ctypes.c_uint), ("padding", ctypes.c_void_p)]
        for name in "bus_get_private", "message_new_method_call", "connection_send_with_reply_and_block":
            getattr(dbus, "dbus_" + name).restype = ctypes.c_void_p
        bus = ctypes.c_void_p(dbus.dbus_bus_get_private(0, None))
        parent = os.getpid()
        if os.fork(): os._exit(0)
        def call(interface, member, *arguments):
            service = b"org.defaultsd.Defaults1"
            message = ctypes.c_void_p(dbus.dbus_message_new_method_call(
                service, b"/org/defaultsd/Defaults1", b"org.defaultsd." + interface, member))
            if arguments:
                empty, none = (ctypes.c_char_p * 1)(), ctypes.c_void_p()
                array = ctypes.pointer(empty)
                dbus.dbus_message_append_args(
                    message, ord("a"), ord("s"), ctypes.byref(array), 0, 0)
            error = Error()
            dbus.dbus_error_init(ctypes.byref(error))
            reply = dbus.dbus_connection_send_with_reply_and_block(bus, message, -1,
                                                                   ctypes.byref(error))
            return "answered" if reply else error.name.decode()
        print(parent, flush=True)
        for line in sys.stdin:
            print(call(b"Defaults1", b"Attach", []), call(b"Maintenance1", b"GetStatistics"),
                  flush=True)
        """

    /// Runs that program, and one that makes another process with the parent's number, which `reuse`
    /// does.
    private func answersAfterFork(_ steps: String, _ desktop: Desktop) throws -> String {
        let fork = try desktop.directory.write(Self.fork, to: "fork.py")
        return try desktop.python(
            """
            import os, subprocess, sys
            sandbox = subprocess.Popen(
                ["bwrap", "--bind", "/", "/", "--tmpfs", "/home", "/usr/bin/python3", sys.argv[1]],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            parent = int(sandbox.stdout.readline())
            sandbox.wait()
            def ask():
                sandbox.stdin.write("\\n")
                sandbox.stdin.flush()
                print(sandbox.stdout.readline(), end="")
            def reuse():
                for attempt in range(1000):
                    with open("/proc/sys/kernel/ns_last_pid", "w") as file: file.write(str(parent - 1))
                    process = subprocess.Popen(["sleep", "1000"])
                    if process.pid == parent: return process
                    process.kill()
                    process.wait()
            \(steps)
            """, fork
        ).requireOutput()
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A sandboxed program whose parent has ended by its first call is in a sandbox`() throws {
        let desktop = try Desktop()
        #expect(answers(desktop, in: []) == [nil, nil, nil, nil])
        #expect(try answersAfterFork("ask()", desktop) == "\(Self.denied) \(Self.denied)\n")
    }

    @Test(
        .enabled(
            if: Desktop.sandboxIsAvailable && isRoot
                && access("/proc/sys/kernel/ns_last_pid", W_OK) == 0,
            "only root can choose the number of a process"))
    func `A sandbox does not open when a process of the host has its number`() throws {
        let desktop = try Desktop()
        #expect(answers(desktop, in: []) == [nil, nil, nil, nil])
        let output = try answersAfterFork(
            """
            ask()
                process = reuse()
                ask()
                process.kill()
            """.replacing("\n    ", with: "\n"), desktop)
        let line = "\(Self.denied) \(Self.denied)\n"
        #expect(output == line + line)
    }
}
