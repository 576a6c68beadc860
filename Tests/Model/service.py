"""The service that is tested: a bus of its own, the daemon that it starts, and callers."""

import os
import pathlib
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass

from gi.repository import Gio, GLib

from directsocket import DirectConnection
from privatebus import ERROR, NAME, NO_ANSWER, NO_REPLY, OBJECT, PrivateBus, activation_file

MAINTENANCE = "org.defaultsd.Maintenance1"

NOT_TAKEN = "not taken"
"""The name of the error of a call that a daemon which ended in order has left to the next one."""


@dataclass(frozen=True)
class Refusal:
    """An error's name, its sentence, and what comes after that."""

    name: str
    message: str = ""
    details: tuple = ()


@dataclass(frozen=True)
class Reply:
    """What a call was answered with, and the descriptors that came with it."""

    body: GLib.Variant
    descriptors: tuple[int, ...] = ()


class Pending:
    """A call that is in flight."""

    def __init__(self):
        self.answer: Reply | Refusal | None = None


class Service:
    """A desktop in a temporary directory; it ends only what it started."""

    def __init__(self, programs: pathlib.Path, callers: int, patience: float):
        """After `patience` seconds no answer is expected any more."""
        self.patience = patience
        self.timeout = int(patience * 1000)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="defaultsd-model-"))
        for name in ("config", "runtime"):
            (self.directory / name).mkdir(mode=0o700)
        services = self.directory / "services"
        activation_file(
            services, f"/bin/sh -c 'exec {programs}/defaultsd 2>>{self.directory}/log'")
        self.bus = PrivateBus(
            self.directory,
            os.environ | {"HOME": str(self.directory),
                          "XDG_CONFIG_HOME": str(self.directory / "config"),
                          "XDG_RUNTIME_DIR": str(self.directory / "runtime"),
                          # The machine's own has no part in this.
                          "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"},
            services=services).start()
        self.address = self.bus.address
        # Half of them use the bus, and the others the daemon's socket.
        self.callers = [None if number % 2 else self._connect() for number in range(callers)]
        self.direct: dict[int, DirectConnection] = {}
        """The open connections of the others."""
        self.daemon = 0
        """The process whose socket they were made to."""
        self.names = {
            caller.get_unique_name(): number
            for number, caller in enumerate(self.callers) if caller}
        """The numbers of the callers by the names that signals give them."""
        self.watcher = self._connect()
        self.heard: list[GLib.Variant] = []
        self.signalled: set[int] = set()
        self.watcher.signal_subscribe(
            None, NAME, "Changed", OBJECT, None, Gio.DBusSignalFlags.NONE,
            lambda *call: self.heard.append(call[5]))

    def close(self, is_patient: bool) -> bool:
        """Ends the bus; whether the daemon has ended by itself then, as it should.

        It is not waited for if it is known to have failed.
        """
        owner = self._owner_process()
        for direct in self.direct.values():
            direct.close()
        for connection in [*filter(None, self.callers), self.watcher]:
            connection.close_sync()
        self.bus.stop()
        has_ended = is_patient and (owner is None or self._ends(owner))
        if not has_ended:
            # One that was to end and did not may have given up its name.
            for process in self.signalled | {owner} - {None}:
                if _runs(process):
                    os.kill(process, signal.SIGKILL)
                self._ends(process)
        shutil.rmtree(self.directory)
        return has_ended

    def log(self) -> str:
        """What the daemon has said."""
        file = self.directory / "log"
        return file.read_text() if file.exists() else ""

    # Calls

    def begin(self, caller: int, method: str, arguments: GLib.Variant) -> Pending:
        """Sends a call, and does not wait for its answer."""
        pending, connection = Pending(), self._reach(caller)

        def finish(_, result):
            try:
                pending.answer = _answer(connection.send_message_with_reply_finish(result))
            except GLib.Error as error:
                pending.answer = self._refusal(caller, error)

        connection.send_message_with_reply(
            _message(method, arguments), Gio.DBusSendMessageFlags.NONE, self.timeout, None, finish)
        return pending

    def call(self, caller: int, method: str, arguments: GLib.Variant) -> Reply | Refusal:
        """Sends a call and waits for its answer."""
        try:
            reply, _ = self._reach(caller).send_message_with_reply_sync(
                _message(method, arguments), Gio.DBusSendMessageFlags.NONE, self.timeout, None)
            return _answer(reply)
        except GLib.Error as error:
            return self._refusal(caller, error)

    def wait_for(self, calls: list[Pending], count: int) -> None:
        """Waits until this many of these calls are answered."""
        while sum(call.answer is not None for call in calls) < count:
            GLib.MainContext.default().iteration(True)

    def settle(self) -> list[GLib.Variant]:
        """The Changed signals that have come since it was asked last.

        The service asks the bus who listens, and then sends them. It says how many wait for that.
        """
        while self._ask(NAME, OBJECT, MAINTENANCE, "GetStatistics")[0]["WaitingSignals"]:
            pass
        while GLib.MainContext.default().iteration(False):
            pass
        heard = self.heard[:]
        self.heard.clear()
        return heard

    def properties(self) -> dict[str, object]:
        return self._ask(
            NAME, OBJECT, "org.freedesktop.DBus.Properties", "GetAll", "(s)", NAME)[0]

    def methods(self) -> set[str]:
        """The methods that the service has."""
        text, = self._ask(NAME, OBJECT, "org.freedesktop.DBus.Introspectable", "Introspect")
        interface = Gio.DBusNodeInfo.new_for_xml(text).lookup_interface(NAME)
        return {method.name for method in interface.methods}

    # The daemon

    def process(self) -> int:
        """The daemon's process, which is started where none runs."""
        self._ask_bus("StartServiceByName", "(su)", NAME, 0)
        return self._ask_bus("GetConnectionUnixProcessID", "(s)", NAME)

    def signal(self, process: int, name: str) -> None:
        """Sends the daemon's process `KILL`, `TERM` or `HUP`."""
        self.signalled.add(process)
        os.kill(process, signal.Signals["SIG" + name])

    def wait_until_gone(self, process: int) -> None:
        """Waits until the daemon's process, to which a signal was sent, has ended.

        Raises TimeoutError if it does not.
        """
        self._wait(lambda: self._owner_process() != process and not _runs(process))
        self.signalled.remove(process)
        self._wait(self._direct_are_closed)
        self.direct.clear()

    def _direct_are_closed(self) -> bool:
        """Whether all connections to the socket are closed, which the main loop notes."""
        GLib.MainContext.default().iteration(False)
        return all(direct.is_closed for direct in self.direct.values())

    def _reach(self, caller: int) -> Gio.DBusConnection:
        """A caller's connection; one to the socket ends with its daemon and is made again."""
        if connection := self.callers[caller]:
            return connection
        if direct := self.direct.get(caller):
            return direct.gio
        daemon = self.process()
        if daemon != self.daemon:
            self.daemon = daemon
            self.names = {
                name: number for name, number in self.names.items() if self.callers[number]}
        # It listens when it has answered.
        self._ask(NAME, OBJECT, "org.freedesktop.DBus.Peer", "Ping")
        direct = DirectConnection(self.directory / "runtime")
        # The daemon counts those that it accepts.
        opened = sum(self.callers[number] is None for number in self.names.values())
        self.names[f":direct.{opened + 1}"] = caller
        self.direct[caller] = direct
        return direct.gio

    def _refusal(self, caller: int, error: GLib.Error) -> Refusal:
        direct = self.direct.get(caller)
        if direct and error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CLOSED):
            # What came before that may still be in the main loop.
            while GLib.MainContext.default().iteration(False):
                pass
            name = NOT_TAKEN if direct.has_ended else NO_REPLY
        else:
            name = Gio.dbus_error_get_remote_error(error)
        Gio.dbus_error_strip_remote_error(error)
        return Refusal(name or NO_ANSWER, error.message)

    def _connect(self) -> Gio.DBusConnection:
        return Gio.DBusConnection.new_for_address_sync(
            self.address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)

    def _ask(self, name: str, path: str, interface: str, member: str, signature="()", *arguments):
        return self.watcher.call_sync(
            name, path, interface, member, GLib.Variant(signature, arguments), None,
            Gio.DBusCallFlags.NONE, self.timeout, None).unpack()

    def _ask_bus(self, member: str, signature: str, *arguments):
        return self._ask(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member,
            signature, *arguments)[0]

    def _ends(self, process: int) -> bool:
        try:
            self._wait(lambda: not _runs(process))
        except TimeoutError:
            return False
        return True

    def _wait(self, holds) -> None:
        """Asks again and again, each time by something that takes its time, until it holds."""
        deadline = time.monotonic() + self.patience
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError("what was waited for has not come")

    def _owner_process(self) -> int | None:
        try:
            return self._ask_bus("GetConnectionUnixProcessID", "(s)", NAME)
        except GLib.Error:
            return None


def _message(method: str, arguments: GLib.Variant) -> Gio.DBusMessage:
    message = Gio.DBusMessage.new_method_call(NAME, OBJECT, NAME, method)
    message.set_body(arguments)
    return message


def _answer(reply: Gio.DBusMessage) -> Reply | Refusal:
    """What a message says, which is a reply or an error."""
    body = reply.get_body() or GLib.Variant("()", ())
    if reply.get_message_type() != Gio.DBusMessageType.ERROR:
        return Reply(body, _stolen(reply.get_unix_fd_list()))
    sentence, *details = body.unpack() or ("",)
    return Refusal(reply.get_error_name(), sentence, tuple(details))


def _stolen(descriptors: Gio.UnixFDList | None) -> tuple[int, ...]:
    """The descriptors themselves, which are the caller's to close."""
    return tuple(descriptors.steal_fds()) if descriptors else ()


def _runs(process: int) -> bool:
    """Whether a process has not ended; the bus may take a while to take notice of one that has."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
