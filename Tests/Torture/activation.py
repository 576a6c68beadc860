"""Desktops whose daemon nobody starts: the bus does, or the user's service manager."""

import os
import pathlib
import signal
import subprocess

from clients import Client, mixed_clients
from desktop import Desktop
from ground import Ground
from privatebus import BUS, BUS_OBJECT, NAME, PATIENCE, activation_file

MANAGER = pathlib.Path("/lib/systemd/systemd")
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class ActivatingDesktop(Desktop):
    """A desktop whose bus starts the daemon at the first call to it.

    `wrapper` precedes the program from its next start on.
    """

    def __init__(self, ground: Ground):
        self.wrapper: tuple[str, ...] = ()
        super().__init__(ground)

    @property
    def services(self) -> pathlib.Path:
        return self.directory / "services"

    def start_bus(self) -> None:
        # The shell reads the script, so the script is not a program. Nobody can start a program that
        # another process still has open for writing.
        activation_file(self.services, f"/bin/sh {self.directory / 'start-daemon'}")
        self.write_starter()
        super().start_bus()

    def write_starter(self) -> None:
        starter = self.directory / "start-daemon"
        command = " ".join((*self.wrapper, f"{self.ground.programs}/defaultsd"))
        starter.write_text(f"exec {command} 2>>{self.directory}/log\n")

    @property
    def log(self) -> str:
        return (self.directory / "log").read_text(errors="replace")


class UserManager:
    """The programs as they are installed, under a `systemd --user` of their own.

    It has what campaigns want of a desktop: `connect`, `connect_mixed`, `wait_until`, `forget_session`.
    """

    @staticmethod
    def reason_to_skip() -> str | None:
        if not pathlib.Path("/run/systemd/system").exists() or not MANAGER.exists():
            return "systemd is not the init here"
        return None

    def __init__(self, ground: Ground):
        # For its directories, its environment and its patience; its bus is not used.
        self.desktop = Desktop(ground)
        self.desktop.stop_bus()
        self.address = f"unix:path={self.desktop.runtime}/bus"
        self.environment = self.desktop.environment | {
            "DBUS_SESSION_BUS_ADDRESS": self.address,
            "XDG_DATA_HOME": str(self.desktop.home / ".local/share")}
        self.wait_until, self.forget_session = self.desktop.wait_until, self.desktop.forget_session
        self.runtime = self.desktop.runtime
        self.install(ground.programs)
        self.clients: list[Client] = []

    def install(self, programs: pathlib.Path) -> None:
        """Puts the programs and their unit where the manager looks, as `make install` does."""
        prefix = self.desktop.home / ".local"
        subprocess.run(
            ["make", "-C", REPOSITORY, "install", f"PREFIX={prefix}", f"RELEASE={programs}"],
            env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        """Begins the session, with its bus."""
        # Services start here more often than a manager takes for sound.
        settings = self.desktop.config / "systemd/user.conf"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text("[Manager]\nDefaultStartLimitIntervalSec=0\n")
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", REPOSITORY / "Tests/Torture/user-manager"],
            env=self.environment, stdout=subprocess.DEVNULL,
            stderr=(self.desktop.directory / "manager.log").open("ab"),
            process_group=0)
        try:
            self.wait_until(lambda: self.systemctl("is-active", "dbus.socket") == "active")
        except TimeoutError:
            raise TimeoutError(
                f"the manager does not come up (it has ended with {self.process.poll()}): "
                + (self.desktop.directory / "manager.log").read_text()) from None

    def connect(self) -> Client:
        client = Client(self.address)
        self.clients.append(client)
        return client

    def connect_mixed(self, count: int) -> list[Client]:
        """New clients over the bus and the daemon's socket."""
        clients = mixed_clients(count, self.address, self.runtime)
        self.clients += clients
        return clients

    def activate(self) -> int:
        """Starts the daemon as a first call does; its process."""
        client = Client(self.address)
        client.call("StartServiceByName", "(su)", NAME, 0, name=BUS, path=BUS_OBJECT, interface=BUS)
        process, = client.call("GetConnectionUnixProcessID", "(s)", NAME, name=BUS, path=BUS_OBJECT,
                               interface=BUS)
        client.close()
        return process

    def systemctl(self, *verb: str) -> str:
        return subprocess.run(
            ["systemctl", "--user", *verb], env=self.environment, capture_output=True,
            text=True).stdout.strip()

    def log_out(self) -> None:
        """Ends the session as logging out does: the manager stops everything, and ends."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.close_clients()

    def close_clients(self) -> None:
        for client in self.clients:
            client.close()
        self.clients.clear()

    def close(self) -> None:
        if self.process.poll() is None:
            self.log_out()
        self.desktop.daemons.clear()


def runs(process: int) -> bool:
    """Whether a process, not a child of ours, has not ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
