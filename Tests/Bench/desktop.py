"""A desktop of our own: a bus, a home, a runtime directory, and the services of the bus."""

import collections
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile

from gi.repository import Gio, GLib

from privatebus import BUS, BUS_OBJECT, NAME, OBJECT, PrivateBus, activation_file
from servicemanager import ServiceManager

FLOOR = "org.defaultsd.BenchFloor"
ROAM = "org.defaultsd.Roam1"
SERVICES = ROAM, NAME, FLOOR, "ca.desrt.dconf", "org.xfce.Xfconf"


class Stopped(Exception):
    """A program failed or took too long: why."""


class Desktop:
    """The home is on a disk, where what is durable costs what it costs; the runtime directory is
    in memory, where every session has it."""

    def __init__(self, tools, serving=(), is_managed=False):
        """
        - serving: The services of other desktops that the daemon is, such as ("xfconf",).
        - is_managed: Whether a service manager keeps its page of counters, as systemd does.
        """
        self.tools = tools
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="defaultsd-bench-", dir="/var/tmp"))
        self.runtime = pathlib.Path(tempfile.mkdtemp(prefix="defaultsd-bench-", dir="/dev/shm"))
        self.log = self.home / "log"
        self.environment = {
            **os.environ, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"), "XDG_RUNTIME_DIR": str(self.runtime),
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.home}/system-bus"}
        (self.home / "config").mkdir()
        # The files of this machine's administrator have no part in it.
        places = " ".join(f"--{place} {self.home}/{place}"
                          for place in ("managed", "recommended", "vendor"))
        options = f"--serve {','.join(serving)}" if serving else ""
        self.manager = ServiceManager(self.home) if is_managed else None
        variables = self.manager.variables.items() if self.manager else ()
        self.offer(NAME, " ".join(["env", *(f"{name}={value}" for name, value in variables),
                                   f"{tools.directory}/defaultsd --verbose {options} {places}"]))
        self.offer(FLOOR, str(tools.program("floor")))
        self.daemon = PrivateBus(
            self.home, self.environment, services=self.home / "services", peers=True).start()
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.daemon.address
        self.bus = Gio.DBusConnection.new_for_address_sync(
            self.daemon.address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)

    def offer(self, name, command):
        activation_file(
            self.home / "services", f"/bin/sh -c 'exec {command} 2>>{self.log}'", name)

    def end(self):
        # Those that are left would end with their bus, and write to disk once more meanwhile.
        for name in SERVICES:
            self.end_service(name)
        self.daemon.stop()
        if self.manager:
            self.manager.end()
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.rmtree(self.runtime, ignore_errors=True)

    def call(self, member, signature="()", *arguments, name=NAME, path=OBJECT):
        answer = self.bus.call_sync(
            name, path, name, member, GLib.Variant(signature, arguments), None,
            Gio.DBusCallFlags.NONE, -1, None)
        return answer.unpack()

    def ask_bus(self, member, name):
        return self.call(member, "(s)", name, name=BUS, path=BUS_OBJECT)[0]

    def pid(self, name=NAME):
        return self.ask_bus("GetConnectionUnixProcessID", name)

    def end_service(self, name=NAME):
        """Ends a service as the session's end does, and waits for its process and its name."""
        if not self.ask_bus("NameHasOwner", name):
            return
        process = os.pidfd_open(self.pid(name))
        signal.pidfd_send_signal(process, signal.SIGTERM)
        select.select([process], [], [])
        os.close(process)
        while self.ask_bus("NameHasOwner", name):
            pass

    def forget_session(self):
        """Empties the runtime directory, as it is at the first start after a login."""
        for entry in self.runtime.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def run(self, program, *arguments, patience=120, wrapper=()):
        """Runs a program of the bench, in a wrapper if there is one: the times that it tells, by kind.

        - Raises Stopped where it fails or takes longer than patience, in seconds.
        """
        command = [*wrapper, self.tools.program(program), *map(str, arguments)]
        try:
            done = subprocess.run(
                command, env=self.environment, capture_output=True, text=True, timeout=patience)
        except subprocess.TimeoutExpired:
            raise Stopped(f"took more than {patience} s") from None
        if done.returncode:
            raise Stopped(done.stderr.strip() or f"{program} ended with {done.returncode}")
        times = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            kind, time = line.split()
            times[kind].append(float(time))
        return times

    def memory(self, name=NAME):
        """Anonymous and whole resident memory of a service, in MB."""
        status = pathlib.Path(f"/proc/{self.pid(name)}/status").read_text()
        sizes = dict(re.findall(r"(RssAnon|VmRSS):\s+(\d+)", status))
        return int(sizes["RssAnon"]) / 1024, int(sizes["VmRSS"]) / 1024
