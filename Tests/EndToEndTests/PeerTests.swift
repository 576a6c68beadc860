import DBus
import DefaultsProtocol
import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// `defaultsd --peer`: the same object without a bus, for libdbus and for GLib.
@Suite(.startsPrograms, .serialized) struct PeerTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Python that has `peer`, a GLib connection to a daemon at the other end of a socket pair, and
    /// `call`.
    static let python = """
        import os, socket, subprocess, sys
        from gi.repository import Gio, GLib
        name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
        ours, theirs = socket.socketpair()
        daemon = subprocess.Popen([sys.argv[1], f"--peer={theirs.fileno()}"],
            pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True)
        theirs.close()
        stream = Gio.Socket.new_from_fd(ours.detach()).connection_factory_create_connection()
        peer = Gio.DBusConnection.new_sync(
            stream, None, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
        peer.set_exit_on_close(False)
        def call(method, signature, *arguments):
            return peer.call_sync(None, path, name, method, GLib.Variant(signature, arguments),
                                  None, 0, -1, None).unpack()
        def refusal(method, signature, *arguments):
            try: return call(method, signature, *arguments)
            except GLib.Error as error: return Gio.DBusError.get_remote_error(error)
        """

    @Test func `GLib has the same rules, errors and signals, and the daemon ends with its peer`()
        throws
    {
        let output = try desktop.python(
            """
            \(PeerTests.python)
            loop, told = GLib.MainLoop(), []
            def changed(connection, sender, path, interface, member, arguments):
                told.append(arguments.unpack())
                loop.quit()
            peer.signal_subscribe(None, name, "Changed", path, None, 0, changed)
            assert call("SetValue", "(ssv)", "a.b", "key", GLib.Variant("i", 5)) == (2,)
            loop.run()
            assert told == [("a.b", "domain", ["key"], [], 2, "")], told
            assert call("GetAllValues", "(s)", "a.b") == ({"key": 5}, [], 2)
            assert call("ApplyValues", "(sa{sv}asa{st}a{sv})", "a.b", {"x": GLib.Variant("b", True)},
                        ["key"], {"": 2}, {"durable": GLib.Variant("b", True)}) == (3,)
            assert refusal("Get", "(ss)", "a.b", "key") == name + ".Error.NotFound"
            assert refusal("Get", "(ss)", "a b", "key") == name + ".Error.InvalidDomain"
            assert call("Synchronize", "()") == (3,)
            answer, files = peer.call_with_unix_fd_list_sync(
                None, path, name, "Attach", GLib.Variant("(as)", (["a.b"],)), None, 0, -1, None, None)
            assert os.fstat(files.get(answer.unpack()[0])).st_size == 32768
            peer.close_sync()
            assert daemon.wait() == 0
            print(daemon.stderr.read())
            """, Desktop.programs + "/defaultsd"
        ).requireOutput()
        #expect(output.contains("Serving \(desktop.databasePath)"))
        #expect(!output.contains("error:") && !output.contains("warning:"))
        #expect(desktop.call("GetAllValues", "a.b").output == "({'x': <true>}, @as [], uint64 3)\n")
    }

    /// Each call by a libdbus that starts a daemon for it; not in this process, for libdbus does not
    /// wait for the end of what it has started.
    @Test func `libdbus starts the daemon at the other end of its own socket`() {
        let address =
            "unixexec:path=/usr/bin/env,argv1=XDG_CONFIG_HOME%3d\(desktop.directory.path)/config,"
            + "argv2=XDG_RUNTIME_DIR%3d\(desktop.directory.path)/runtime,"
            + "argv3=\(Desktop.programs)/defaultsd,argv4=--peer,argv5=0"
        func call(_ method: String, _ arguments: String...) -> ProgramResult {
            desktop.run(
                [
                    "dbus-send", "--peer=\(address)", "--print-reply=literal",
                    Contract.objectPath.string,
                    "\(Contract.interface).\(method)",
                ] + arguments)
        }
        let written = call("SetValue", "string:a.b", "string:key", "variant:string:text")
        #expect(written.output.hasSuffix("uint64 2\n"), "\(written)")
        // The next one waits for the one before to give up the database.
        let read = call("GetValue", "string:a.b", "string:key").output
        #expect(read.contains("text") && read.hasSuffix("uint64 2\n"), "\(read)")
        let refused = call("GetValue", "string:a.b", "string:absent")
        #expect(refused.error.contains("Error org.defaultsd.Defaults1.Error.NotFound: "))
        #expect(desktop.call("GetValue", "a.b", "key").output == "(<'text'>, uint64 2)\n")
    }

    /// The peer reads nothing for a while, so that the end takes its time after the database is closed.
    @Test func `SIGHUP after the database is closed changes nothing about an orderly end`() throws {
        let output = try desktop.python(
            """
            \(PeerTests.python)
            import fcntl, signal
            serial = [2]
            def message(method, signature, *arguments):
                message = Gio.DBusMessage.new_method_call(None, path, name, method)
                message.set_body(GLib.Variant(signature, arguments))
                message.set_serial(serial[0])
                serial[0] += 1
                return message.to_blob(Gio.DBusCapabilityFlags.NONE)
            ours, theirs = socket.socketpair()
            peer.close_sync()
            assert daemon.wait() == 0
            daemon = subprocess.Popen([sys.argv[1], f"--peer={theirs.fileno()}"],
                pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True)
            theirs.close()
            ours.sendall(b"\\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\\r\\n")
            assert ours.recv(99).startswith(b"OK")
            ours.sendall(b"BEGIN\\r\\n")
            large = GLib.Variant("s", "x" * 3000000)
            ours.sendall(message("SetValue", "(ssv)", "a.b", "key", large))
            ours.sendall(message("GetValue", "(ss)", "a.b", "key"))
            assert ours.recv(16, socket.MSG_PEEK | socket.MSG_WAITALL)
            for _ in range(8): ours.sendall(message("GetValue", "(ss)", "a.b", "key"))
            daemon.send_signal(signal.SIGTERM)
            with open(os.environ["XDG_CONFIG_HOME"] + "/defaultsd/lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
            assert daemon.poll() is None, "the rest of its replies is still to be read"
            daemon.send_signal(signal.SIGHUP)
            while ours.recv(1 << 20): pass
            print(daemon.wait(), daemon.stderr.read())
            """, Desktop.programs + "/defaultsd"
        ).requireOutput()
        #expect(output.hasPrefix("0 "), "\(output)")
    }

    @Test func `A database that a daemon on the bus serves is refused, with its process`() throws {
        let daemon = try desktop.daemonPID()
        let output = try desktop.python(
            """
            import socket, subprocess, sys
            ours, theirs = socket.socketpair()
            daemon = subprocess.run([sys.argv[1], "--peer", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True)
            print(daemon.returncode, daemon.stderr)
            """, Desktop.programs + "/defaultsd"
        ).requireOutput()
        #expect(output.hasPrefix("69 "))
        #expect(output.contains("is in use by process \(daemon) on host"))
    }

    @Test(arguments: [
        (["--peer", "99"], 69), (["--peer", "0"], 69), (["--peer", "x"], 64), (["--peer"], 64),
        (["--peer=-1"], 64), (["--peer=0", "--replace"], 64),
    ])
    func `Anything but a connected socket is refused in a sentence`(
        arguments: [String], status: Int
    ) throws {
        let daemon = desktop.run([Desktop.programs + "/defaultsd"] + arguments)
        #expect(daemon.status == Int32(status))
        #expect(daemon.error.split(separator: "\n").count == 1)
        #expect(!daemon.error.contains("org.freedesktop.DBus.Error"))
    }

    @Test(arguments: ["b''", "b'GET / HTTP/1.0\\r\\n\\r\\n'", "b'\\0AUTH NONSENSE\\r\\n' * 99"])
    func `A peer that does not speak D-Bus is reported, and the daemon fails`(
        bytes: String
    ) throws {
        let output = try desktop.python(
            """
            import socket, subprocess, sys
            ours, theirs = socket.socketpair()
            daemon = subprocess.Popen([sys.argv[1], "--peer", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True)
            theirs.close()
            ours.sendall(\(bytes))
            ours.shutdown(socket.SHUT_WR)
            complaints = [line for line in daemon.stderr if line.startswith("defaultsd: error: ")]
            print(daemon.wait(), *complaints)
            """, Desktop.programs + "/defaultsd"
        ).requireOutput()
        let complaint = "defaultsd: error: The program at the other end of the socket has closed it"
        #expect(output.hasPrefix("69 \(complaint)"))
    }
}
