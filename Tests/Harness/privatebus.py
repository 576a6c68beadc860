"""A private bus for programs that try the daemon, and what they all know of the contract.

As a program it becomes the bus, prints its address and ends with whoever started it:

    privatebus.py DIRECTORY [SERVICES]
"""

import os
import pathlib
import subprocess
import sys

NAME, OBJECT = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
ERROR = "org.defaultsd.Defaults1.Error."
BUS, BUS_OBJECT = "org.freedesktop.DBus", "/org/freedesktop/DBus"
NO_ANSWER = "no answer"
NO_REPLY = "org.freedesktop.DBus.Error.NoReply"

PATIENCE = 1800
"""Seconds after which nothing is expected to come any more. It ends what hangs, and nothing else: a
busy machine may take very long for everything."""

SESSION_LIMITS = {
    "max_incoming_bytes": 1_000_000_000, "max_outgoing_bytes": 1_000_000_000,
    "max_incoming_unix_fds": 250_000_000, "max_outgoing_unix_fds": 250_000_000,
    "max_message_size": 1_000_000_000, "max_connections_per_user": 100_000,
    "max_completed_connections": 100_000, "max_replies_per_connection": 50_000,
    "max_match_rules_per_connection": 50_000,
    # In milliseconds: a client that is kept waiting by others is no stranger to its bus.
    "auth_timeout": 3_600_000,
}
"""Those of a session bus as it is shipped."""

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
{services}
  <policy context="default">
    <allow user="*"/>
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
{limits}
</busconfig>
"""


class PrivateBus:
    """A dbus-daemon at the socket `name` in a directory, which may start services.

    `services` is the directory of activation files; `peers` adds those of the system.
    """

    def __init__(
        self, directory: pathlib.Path, environment: dict[str, str], *, name: str = "bus",
        services: pathlib.Path | None = None, peers: bool = False,
        limits: dict[str, int] = SESSION_LIMITS,
    ):
        self.socket = directory / name
        self.address = f"unix:path={self.socket}"
        self.environment = environment
        self.configuration = directory / f"{name}.conf"
        lines = [f"  <servicedir>{services}</servicedir>"] if services else []
        lines += ["  <standard_session_servicedirs/>"] if peers else []
        shown = [f'  <limit name="{limit}">{limits[limit]}</limit>' for limit in limits]
        self.configuration.write_text(CONFIGURATION.format(
            socket=self.socket, services="\n".join(lines), limits="\n".join(shown)))
        self.process: subprocess.Popen | None = None

    @property
    def command(self) -> list[str]:
        return ["dbus-daemon", f"--config-file={self.configuration}", "--nofork", "--print-address"]

    def start(self) -> "PrivateBus":
        """Starts it, at the same address each time, and waits until it listens."""
        # However this program ends, its bus ends with it, and so does the daemon. An interrupt from
        # the terminal reaches this program alone, which then puts things away.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *self.command], env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0)
        if not self.process.stdout.readline():
            raise RuntimeError(f"no bus: {' '.join(self.command)} ended with {self.process.wait()}")
        return self

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self) -> None:
        """Ends it, and with it every connection."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.socket.unlink(missing_ok=True)

    def __enter__(self) -> "PrivateBus":
        return self.start()

    def __exit__(self, *_) -> None:
        self.stop()


def activation_file(services: pathlib.Path, command: str, name: str = NAME) -> None:
    """Has a bus start a service by a command."""
    services.mkdir(mode=0o700, exist_ok=True)
    (services / f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={command}\n")


if __name__ == "__main__":
    directory, *services = map(pathlib.Path, sys.argv[1:])
    bus = PrivateBus(directory, dict(os.environ), services=services[0] if services else None)
    os.execvp(bus.command[0], bus.command)
