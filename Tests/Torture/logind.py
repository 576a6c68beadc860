"""A system bus of our own, and a logind on it that announces sleeps and gives out delay locks."""

import os
import select

from gi.repository import Gio, GLib

from clients import Client
from desktop import Desktop
from privatebus import BUS, BUS_OBJECT, PrivateBus

LOGIND, MANAGER = "org.freedesktop.login1", "org.freedesktop.login1.Manager"
LOGIND_OBJECT = "/org/freedesktop/login1"
REPLACE_EXISTING, ALLOW_REPLACEMENT = 2, 1

INTERFACE = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.freedesktop.login1.Manager">
  <method name="Inhibit">
    <arg name="what" type="s" direction="in"/><arg name="who" type="s" direction="in"/>
    <arg name="why" type="s" direction="in"/><arg name="mode" type="s" direction="in"/>
    <arg name="pipe_fd" type="h" direction="out"/>
  </method>
  <signal name="PrepareForSleep"><arg name="start" type="b"/></signal>
</interface></node>""").interfaces[0]


class SystemBus(PrivateBus):
    """The bus at the address that a desktop's daemons take for the machine's."""

    def __init__(self, desktop: Desktop):
        super().__init__(desktop.directory, desktop.environment, name="system-bus")
        self.start()

    def __enter__(self) -> "SystemBus":
        return self


class Lock:
    """A delay lock: held as long as the other end of its pipe is open."""

    def __init__(self, arguments: tuple[str, ...], descriptor: int):
        self.arguments = arguments
        self.descriptor = descriptor

    @property
    def is_held(self) -> bool:
        poll = select.poll()
        poll.register(self.descriptor, 0)
        return not poll.poll(0)


class Logind:
    """A logind; `locks` has those that it has granted, in their order."""

    def __init__(self, bus: SystemBus, grants: bool = True):
        self.grants = grants
        self.asked = 0
        self.locks: list[Lock] = []
        self.client = Client(bus.address)
        self.client.connection.register_object(
            LOGIND_OBJECT, INTERFACE, self._answer, None, None)
        self.client.call("RequestName", "(su)", LOGIND, REPLACE_EXISTING | ALLOW_REPLACEMENT,
                         name=BUS, path=BUS_OBJECT, interface=BUS)

    def prepare(self, is_sleep: bool) -> None:
        """Tells that the machine is about to sleep, or has woken up."""
        self.client.connection.emit_signal(
            None, LOGIND_OBJECT, MANAGER, "PrepareForSleep", GLib.Variant("(b)", (is_sleep,)))
        self.client.flush()

    @property
    def held(self) -> list[Lock]:
        return [lock for lock in self.locks if lock.is_held]

    def close(self) -> None:
        self.client.close()
        for lock in self.locks:
            os.close(lock.descriptor)
        self.locks.clear()

    def _answer(self, _connection, _sender, _path, _interface, _method, arguments, invocation):
        self.asked += 1
        if not self.grants:
            invocation.return_dbus_error("org.freedesktop.DBus.Error.AccessDenied", "Not you.")
            return
        ours, theirs = os.pipe()
        self.locks.append(Lock(arguments.unpack(), ours))
        descriptors = Gio.UnixFDList.new_from_array([theirs])
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (0,)), descriptors)
