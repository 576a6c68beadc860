extension Desktop {
    /// Begins a Python program about daemons that take over, with `connect`, `call`, `ask`, `request`,
    /// `owner`, `queue`, `replace` and `wait_in_line`.
    ///
    /// `replace` starts a daemon that takes over, and waits until it has the name; `wait_in_line`
    /// starts one, and waits until it waits for the name. `queue` has the owner and those who wait.
    /// The program's arguments are the path of the daemon and the address of the bus.
    static let pythonHandOver = """
        import os, signal, subprocess, sys, threading
        from gi.repository import Gio, GLib
        name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
        def connect():
            flags = Gio.DBusConnectionFlags
            return Gio.DBusConnection.new_for_address_sync(
                sys.argv[2], flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        def call(bus, method, signature, *arguments):
            return bus.call_sync(name, path, name, method, GLib.Variant(signature, arguments),
                                 None, 0, FOREVER, None).unpack()
        def ask(bus, method, *arguments):
            signature = "(" + "s" * len(arguments) + ")"
            return bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus", method, GLib.Variant(signature, arguments), None, 0, FOREVER,
                None).unpack()[0]
        def request(bus, flags):
            return bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus", "RequestName", GLib.Variant("(su)", (name, flags)), None, 0,
                FOREVER, None).unpack()[0]
        ALLOW_REPLACEMENT, REPLACE_EXISTING, DO_NOT_QUEUE = 1, 2, 4
        # A slow machine must not fail the test, and GLib takes this as no limit.
        FOREVER = 2**31 - 1
        def owner(bus): return ask(bus, "GetNameOwner", name)
        def queue(bus): return ask(bus, "ListQueuedOwners", name)
        def replace(bus):
            before = owner(bus)
            daemon = subprocess.Popen([sys.argv[1], "--replace"])
            while owner(bus) == before: pass
            return daemon
        def wait_in_line(bus):
            before = len(queue(bus))
            daemon = subprocess.Popen([sys.argv[1], "--replace"])
            while len(queue(bus)) == before: pass
            return daemon
        """
}
