"""Programs that call the daemon: over the bus, and over its own socket."""

import contextlib
import itertools
import os
import pathlib
from collections.abc import Callable
from dataclasses import dataclass

from gi.repository import Gio, GLib

from directsocket import DirectConnection
from messages import packed, plain
from privatebus import NAME, NO_ANSWER, NO_REPLY, OBJECT, PATIENCE

MAINTENANCE = "org.defaultsd.Maintenance1"


class Refused(Exception):
    """An error that a call was answered with, or `NO_ANSWER`."""

    def __init__(self, name: str, message: str):
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


Answer = tuple | Refused

raised: list[Exception] = []
"""What callbacks have raised: GLib's main loop would swallow it."""


def guarded(callback: Callable[..., None], *arguments) -> None:
    try:
        callback(*arguments)
    except Exception as error:
        raised.append(error)


class Pending:
    """A call in flight: `answer` is its result, or a Refused, as soon as there is one."""

    def __init__(self):
        self.answer: Answer | None = None


def refused(error: GLib.Error) -> Refused:
    name = Gio.dbus_error_get_remote_error(error)
    Gio.dbus_error_strip_remote_error(error)
    return Refused(name or NO_ANSWER, error.message)


@dataclass(frozen=True)
class Call:
    """What is sent, and how long an answer may take, in seconds."""

    method: str
    body: GLib.Variant
    interface: str
    name: str
    path: str
    timeout: float

    def send(self, connection: Gio.DBusConnection, done: Callable[[Answer], None]) -> None:
        """Sends it; what comes of it, archives as bytes, is given to `done` by the main loop."""
        def finish(connection, result):
            try:
                answer = plain(connection.call_finish(result))
            except GLib.Error as error:
                answer = refused(error)
            done(answer)

        connection.call(
            self.name, self.path, self.interface, self.method, self.body, None,
            Gio.DBusCallFlags.NO_AUTO_START, int(self.timeout * 1000), None, finish)


@contextlib.contextmanager
def acting_as(user: int | None):
    """Makes root another user for a moment, as whom a connection is made; None changes nothing."""
    if user is None:
        yield
        return
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)


class Client:
    """A program on the bus, with a unique name of its own."""

    def __init__(self, address: str, user: int | None = None):
        with acting_as(user):
            self.connection = Gio.DBusConnection.new_for_address_sync(
                address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
                | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.connection.set_exit_on_close(False)
        self.name = self.connection.get_unique_name()
        self.descriptors: list[int] = []

    def call(self, method: str, signature: str = "()", *arguments, timeout: float = PATIENCE,
             interface: str = NAME, name: str = NAME, path: str = OBJECT) -> tuple:
        """Calls and waits: the results, archives as bytes.

        Descriptors that came along are left in `descriptors`, and are the caller's to close.
        Raises Refused.
        """
        try:
            body, list_of = self.connection.call_with_unix_fd_list_sync(
                name, path, interface, method, packed(signature, arguments), None,
                Gio.DBusCallFlags.NO_AUTO_START, int(timeout * 1000), None, None)
        except GLib.Error as error:
            raise refused(error) from None
        self.descriptors = list(list_of.steal_fds()) if list_of else []
        return plain(body)

    def begin(self, method: str, signature: str = "()", *arguments, timeout: float = PATIENCE,
              interface: str = NAME, name: str = NAME, path: str = OBJECT,
              done: Callable[[Pending], None] | None = None) -> Pending:
        """Sends a call; its answer comes while Desktop.wait_until runs, which hands it to `done`,
        too, and raises what that raises."""
        pending = Pending()

        def finish(answer: Answer) -> None:
            pending.answer = answer
            if done is not None:
                guarded(done, pending)

        self.send(Call(method, packed(signature, arguments), interface, name, path, timeout), finish)
        return pending

    def send(self, call: Call, done: Callable[[Answer], None]) -> None:
        call.send(self.connection, done)

    def listen(self, member: str, heard: Callable[..., None], *, interface: str = NAME,
               sender: str | None = NAME) -> None:
        """Gives the arguments of every such signal to `heard`, while Desktop.wait_until runs."""
        self.connection.signal_subscribe(
            sender, interface, member, None, None, Gio.DBusSignalFlags.NONE,
            lambda *signal: guarded(heard, *plain(signal[5])))

    def properties(self) -> dict[str, object]:
        """The daemon's properties."""
        return self.call(
            "GetAll", "(s)", NAME, interface="org.freedesktop.DBus.Properties")[0]

    def statistics(self) -> dict[str, object]:
        """The figures of the maintenance interface."""
        return self.call("GetStatistics", interface=MAINTENANCE)[0]

    def flush(self) -> None:
        """Waits until all that was sent without waiting has left."""
        self.connection.flush_sync()

    def close(self) -> None:
        if not self.connection.is_closed():
            self.connection.close_sync()


@dataclass(eq=False)
class Errand:
    """A call of a direct client, and the function that gets its result."""

    number: int
    call: Call
    done: Callable[[Answer], None]


class DirectClient(Client):
    """A program whose calls with `begin` go to the daemon's socket, or to the bus while no daemon
    listens there.

    All that are under way are on one connection, so they keep their order. Those that a daemon has
    left to the next one are sent again before any other.
    """

    def __init__(self, address: str, runtime: pathlib.Path):
        super().__init__(address)
        self.runtime = runtime
        self.direct: DirectConnection | None = None
        self.numbers = itertools.count(1)
        self.sent: list[Errand] = []
        self.returned: list[Errand] = []
        self.unsent: list[Errand] = []

    def send(self, call: Call, done: Callable[[Answer], None]) -> None:
        self.unsent.append(Errand(next(self.numbers), call, done))
        self._go_on()

    def _go_on(self) -> None:
        if not self.sent:
            self._choose_connection()
            # GLib ends the calls of a closed connection in any order.
            self.unsent = sorted(self.returned, key=lambda errand: errand.number) + self.unsent
            self.returned = []
        elif self.direct and self.direct.is_closed:
            return  # What comes back from there is first.
        self.sent += self.unsent
        for errand in self.unsent:
            errand.call.send(
                self.direct.gio if self.direct else self.connection,
                lambda answer, errand=errand: self._finish(errand, answer))
        self.unsent = []

    def _choose_connection(self) -> None:
        if self.direct is None or self.direct.is_closed:
            try:
                self.direct = DirectConnection(self.runtime)
            except GLib.Error:
                self.direct = None

    def _finish(self, errand: Errand, answer: Answer) -> None:
        self.sent.remove(errand)
        is_lost = (self.direct is not None and self.direct.is_closed
                   and isinstance(answer, Refused) and answer.name == NO_ANSWER)
        if is_lost and self.direct.has_ended:
            self.returned.append(errand)
        elif is_lost:
            # As of a daemon that has left the bus.
            errand.done(Refused(NO_REPLY, answer.message))
        else:
            errand.done(answer)
        self._go_on()

    def close(self) -> None:
        if self.direct:
            self.direct.close()
        super().close()


def mixed_clients(
    count: int, address: str, runtime: pathlib.Path, user: int | None = None
) -> list[Client]:
    """New clients, of which each second one uses the daemon's socket; another user's use the bus."""
    return [
        DirectClient(address, runtime) if number % 2 and user is None else Client(address, user)
        for number in range(count)]
