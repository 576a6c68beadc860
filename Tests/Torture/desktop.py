"""A desktop of our own: a bus, a home, a runtime directory, and the daemon as our child."""

import contextlib
import itertools
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

from gi.repository import GLib

from clients import Client, Refused, mixed_clients, raised
from ground import Ground, remove_tree
from privatebus import BUS, BUS_OBJECT, NAME, PATIENCE, SESSION_LIMITS, PrivateBus


class Ended(Exception):
    """A daemon ended that was to serve: what it said."""


class Daemon:
    """A daemon that we started."""

    def __init__(self, process: subprocess.Popen, log: pathlib.Path):
        self.process = process
        self.pid = process.pid
        self.file = log
        self.descriptor = os.pidfd_open(process.pid)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Sends a signal; does nothing if it has ended."""
        if self.descriptor is not None:
            try:
                signal.pidfd_send_signal(self.descriptor, number)
            except ProcessLookupError:
                pass

    def wait(self, timeout: float = PATIENCE) -> int:
        """Waits for its end: the exit status, negative for a signal.

        Raises TimeoutError if it does not end.
        """
        if self.descriptor is not None:
            poll = select.poll()
            poll.register(self.descriptor, select.POLLIN)
            if not poll.poll(timeout * 1000):
                raise TimeoutError(f"the daemon has not ended after {timeout} s")
            os.close(self.descriptor)
            self.descriptor = None
        return self.process.wait()

    def end(self, number: int = signal.SIGKILL, timeout: float = PATIENCE) -> int:
        """Sends a signal and waits for the end."""
        self.kill(number)
        return self.wait(timeout)

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def log(self) -> str:
        """All that it has said."""
        return self.file.read_text(errors="replace")


class Desktop:
    """A desktop in a directory of its own; it ends only what it started.

    `directory` holds config, runtime and home, the bus's socket and the daemons' logs. `user` is who
    calls the daemon, which answers its own user alone; None is the one that runs this.
    """

    user: int | None = None
    services: pathlib.Path | None = None

    def __init__(
        self, ground: Ground, limits: dict[str, int] = SESSION_LIMITS, is_in_memory: bool = False
    ):
        self.ground = ground
        self.directory = _new_directory(ground.memory if is_in_memory else ground.directory)
        self.config = self._made("config")
        self.runtime = self._made("runtime")
        self.home = self._made("home")
        self.data = self.config / "defaultsd"
        self.address = f"unix:path={self.directory}/bus"
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("XDG_", "DBUS_"))
        } | {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.config),
             "XDG_RUNTIME_DIR": str(self.runtime), "DBUS_SESSION_BUS_ADDRESS": self.address,
             # The machine's own is nothing to try this on.
             "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.directory}/system-bus"}
        self.daemons: list[Daemon] = []
        self.logs = itertools.count(1)
        self.clients: list[Client] = []
        self.daemon: Daemon | None = None
        self.bus = PrivateBus(
            self.directory, self.environment, services=self.services, limits=limits)
        self.start_bus()

    def __enter__(self) -> "Desktop":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Ends all that was started here."""
        for daemon in self.daemons:
            daemon.end()
        self.stop_bus()

    def forget(self) -> None:
        """Removes the directory of a desktop that was closed."""
        shutil.rmtree(self.directory, ignore_errors=True)

    # The bus

    def start_bus(self) -> None:
        """Starts the bus, at the same address each time."""
        self.bus.start()
        self.watcher = Client(self.address, self.user)
        self.owner = ""
        self.watcher.listen(
            "NameOwnerChanged", self._note_owner, interface=BUS, sender=BUS)
        # A round trip, after which the match rule is in force.
        self.watcher.call("GetId", name=BUS, path=BUS_OBJECT, interface=BUS)

    def stop_bus(self) -> None:
        """Ends the bus, and with it every connection."""
        for client in [*self.clients, self.watcher]:
            client.close()
        self.clients.clear()
        self.bus.stop()

    def connect(self) -> Client:
        """A new client."""
        client = Client(self.address, self.user)
        self.clients.append(client)
        return client

    def connect_mixed(self, count: int) -> list[Client]:
        """New clients over the bus and the daemon's socket."""
        clients = mixed_clients(count, self.address, self.runtime, self.user)
        self.clients += clients
        return clients

    # The daemon

    def start(self, wrapper: Sequence[str] = (), options: Sequence[str] = (),
              environment: dict[str, str] = {}, serves: bool = True) -> Daemon:
        """Starts the daemon and waits until it has the name.

        A wrapper is a command that precedes the program, such as `strace -D -f` or `setpriv`; it has
        to become the program in its own process. With `serves` false nothing is waited for.
        Raises Ended where the daemon ends instead.
        """
        log = self.directory / f"log-{next(self.logs)}"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *wrapper, f"{self.ground.programs}/defaultsd",
                 "--priorities", *options],
                env=self.environment | environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=output, process_group=0)
        daemon = Daemon(process, log)
        self.daemons = [each for each in self.daemons if not each.has_ended] + [daemon]
        self.daemon = daemon
        if serves:
            self.wait_until_serving(daemon)
        return daemon

    def wait_until_serving(self, daemon: Daemon, timeout: float | None = None) -> None:
        """Waits until this daemon has the name.

        Raises Ended where it ends instead, TimeoutError where neither comes.
        """
        self.wait_until(lambda: daemon.has_ended or self.owner_process() == daemon.pid, timeout)
        if daemon.has_ended:
            raise Ended(f"the daemon ended with {daemon.wait()}: {daemon.log()}")

    def restart(self, number: int = signal.SIGTERM, **start) -> Daemon:
        """Ends the daemon by a signal and starts the next, as `start` does."""
        self.daemon.end(number)
        return self.start(**start)

    def owner_process(self) -> int | None:
        """The process that has the name now."""
        if not self.owner:
            return None
        try:
            return self.watcher.call(
                "GetConnectionUnixProcessID", "(s)", self.owner, name=BUS, path=BUS_OBJECT,
                interface=BUS)[0]
        except Refused:
            return None

    def wait_until(self, holds: Callable[[], bool], timeout: float | None = None) -> None:
        """Hands out answers, signals and ends of daemons until it holds.

        Raises TimeoutError.
        """
        timeout = self.ground.patience if timeout is None else timeout
        context, deadline = GLib.MainContext.default(), time.monotonic() + timeout
        # What does not come by the main loop, as a file that grows, is looked at now and then.
        ticker = GLib.timeout_add(20, lambda: GLib.SOURCE_CONTINUE)
        try:
            while not holds():
                if time.monotonic() > deadline:
                    raise TimeoutError(f"what was waited for has not come after {timeout} s")
                context.iteration(True)
                if raised:
                    raise raised.pop(0)
        finally:
            GLib.source_remove(ticker)

    def pass_time(self, seconds: float) -> None:
        """Hands out what comes while that time passes."""
        with contextlib.suppress(TimeoutError):
            self.wait_until(lambda: False, seconds)

    def settle(self) -> None:
        """Hands out what is there already."""
        while GLib.MainContext.default().iteration(False):
            if raised:
                raise raised.pop(0)

    def forget_session(self) -> None:
        """Empties the runtime directory, as it is at the first start after a boot."""
        _empty(self.runtime)

    def forget_all(self) -> None:
        """Removes the database, too."""
        self.forget_session()
        _empty(self.config)

    def _note_owner(self, name: str, _: str, owner: str) -> None:
        if name == NAME:
            self.owner = owner

    def _made(self, name: str) -> pathlib.Path:
        path = self.directory / name
        path.mkdir(mode=0o700)
        return path


def _empty(directory: pathlib.Path) -> None:
    for entry in directory.iterdir():
        remove_tree(entry) if entry.is_dir() else entry.unlink()


def _new_directory(parent: pathlib.Path) -> pathlib.Path:
    for number in itertools.count(1):
        path = parent / f"desktop-{number}"
        try:
            path.mkdir(mode=0o755)
            return path
        except FileExistsError:
            continue
    raise AssertionError
