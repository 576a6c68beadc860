"""A session of one trial: a bus, a home, a daemon that the bus starts, and programs that use GSettings."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile

from privatebus import NAME, OBJECT, PATIENCE, PrivateBus, activation_file

HERE = pathlib.Path(__file__).resolve().parent
CLIENT = HERE / "client.py"
PRELUDE = """
import os, pathlib, subprocess
from gi.repository import Gio, GLib

def threads():
    '''How many of its threads are those of the module.'''
    tasks = pathlib.Path('/proc/self/task').iterdir()
    return sum((task / 'comm').read_text() == 'defaultsd\\n' for task in tasks)
"""


class Failure(Exception):
    """What a trial has found."""


def require(condition, words):
    if not condition:
        raise Failure(words)


def require_equal(found, expected, words):
    require(found == expected, f"{words}: {found!r} in place of {expected!r}")


class Session:
    """The bus is at the same address if it is started again."""

    def __init__(self, programs: pathlib.Path, module: pathlib.Path, schemas=()):
        self.programs = programs
        # Short, because a socket's path has 107 bytes at most.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="gs-", dir="/tmp"))
        self.managed, self.runtime = self.home / "managed", self.home / "run"
        for directory in (self.managed, self.runtime, self.home / "config"):
            directory.mkdir(mode=0o700)
        self.log = self.home / "daemon.log"
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("XDG_", "GSETTINGS_", "GIO_", "DBUS_", "SNAP"))}
        self.environment |= {
            "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_RUNTIME_DIR": str(self.runtime), "GSETTINGS_BACKEND": "defaultsd",
            "GIO_EXTRA_MODULES": str(module.parent)}
        if schemas:
            self.environment["GSETTINGS_SCHEMA_DIR"] = ":".join(map(str, schemas))
        self.command = [str(programs / "defaultsd")] + [
            f"--{place}={self.home}/{place}" for place in ("managed", "recommended", "vendor")]
        self.daemons: list[subprocess.Popen] = []
        activation_file(
            self.home / "services",
            f"/bin/sh -c 'exec {' '.join(self.command)} 2>>{self.log}'")
        self.bus = PrivateBus(self.home, self.environment, services=self.home / "services").start()
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.address
        self.clients: list[Client] = []
        self.client_variables: dict[str, str] = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.end()
        self.bus.stop()
        for daemon in self.daemons:
            daemon.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, *command, status=0, **variables):
        """Runs a program to its end: its output without the last line end."""
        done = subprocess.run(
            list(map(str, command)), env=self.environment | variables, capture_output=True,
            text=True, timeout=PATIENCE)
        require(status is None or done.returncode == status,
                f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        self.errors = done.stderr
        return done.stdout.rstrip("\n")

    def ctl(self, *arguments, status=0):
        return self.run(self.programs / "defaultsctl", *arguments, status=status)

    def gsettings(self, *arguments, **options):
        return self.run("gsettings", *arguments, **self.client_variables | options)

    def python(self, lines):
        """Runs a program without a main loop: what it prints."""
        return self.run(sys.executable, "-c", PRELUDE + lines, **self.client_variables)

    def sanitize_clients(self):
        """Has the clients load the runtimes of the sanitizers, which the module needs."""
        paths = [subprocess.run(["cc", f"-print-file-name=lib{name}.so"], check=True,
                                capture_output=True, text=True).stdout.strip()
                 for name in ("asan", "ubsan")]
        self.client_variables = {"LD_PRELOAD": " ".join(paths), "G_SLICE": "always-malloc",
                                 "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}

    def client(self, **variables):
        self.clients.append(Client(self.environment | self.client_variables | variables))
        return self.clients[-1]

    def call(self, name, path, member, *arguments):
        """Calls a method: the last word of the answer."""
        answer = self.run("gdbus", "call", "--session", "--dest", name, "--object-path", path,
                          "--method", member, *arguments)
        return answer.strip("(),").split()[-1]

    def daemon(self):
        """The number of the daemon's process."""
        bus = "org.freedesktop.DBus"
        return int(self.call(bus, "/", f"{bus}.GetConnectionUnixProcessID", NAME))

    def generation(self, domain, key):
        """That of the last change of a key."""
        return int(self.call(NAME, OBJECT, f"{NAME}.GetValue", domain, key))

    def replace_daemon(self, **variables):
        """Starts another daemon, and waits for the end of the first one."""
        first = os.pidfd_open(self.daemon())
        self.start_daemon("--replace", **variables)
        select.select([first], [], [])
        os.close(first)

    def start_daemon(self, *options, **variables):
        """Starts a daemon by hand."""
        with open(self.log, "a") as log:
            self.daemons.append(subprocess.Popen(
                [*self.command, *options], env=self.environment | variables, stderr=log))

    def kill_daemon(self):
        """Kills the daemon, and waits for the end of the process."""
        process = os.pidfd_open(self.daemon())
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [])
        os.close(process)


class Client:
    """A program with a main loop that carries out commands; see client.py."""

    def __init__(self, environment):
        self.process = subprocess.Popen(
            [sys.executable, "-B", CLIENT], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.signals: list[list] = []
        self.unread = b""

    def post(self, *words):
        """Has it do something, without waiting for the answer."""
        try:
            self.process.stdin.write(json.dumps(words) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failure(f"the program has ended: {self.process.stderr.read()}") from None

    def tell(self, *words):
        """Has it do something: its answer."""
        self.post(*words)
        return self.answer()

    def answer(self):
        """The answer to what was posted."""
        while True:
            kind, answer = self._next()
            if kind == "answer":
                return answer
            self.signals.append(answer)

    def wait_for(self, *wanted):
        """Waits for a signal, and forgets those before it."""
        while True:
            while self.signals:
                if self.signals.pop(0) == list(wanted):
                    return
            kind, answer = self._next()
            require(kind == "signal", f"an answer without a question: {answer}")
            self.signals.append(answer)

    def _next(self):
        while b"\n" not in self.unread:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            require(ready, "the program is silent")
            some = os.read(self.process.stdout.fileno(), 1 << 16)
            if not some:
                raise Failure(f"the program has ended: {self.process.stderr.read()}")
            self.unread += some
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line)

    def end(self):
        """Ends it: its messages."""
        if self.process.poll() is None:
            self.process.stdin.close()
        self.process.wait(PATIENCE)
        words = "" if self.process.stderr.closed else self.process.stderr.read()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        return words
