"""A graphical session of an ordinary user in a clean system: a screen in memory, a bus, a fresh home.

Whoever makes one is the first process of process numbers, mounts and a network of its own, so that all of it ends
with that process.
"""

import json
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import subprocess
import time

from failure import LOOK, PATIENCE, Failure, require
from screen import Screen
from settings import Settings

USER, HOME, RUNTIME = "tester", "/home/tester", "/run/user/1000"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/games", "HOME": HOME, "USER": USER, "LOGNAME": USER, "SHELL": "/bin/sh",
    "LANG": "C.UTF-8", "TZ": "UTC", "XDG_RUNTIME_DIR": RUNTIME, "NO_AT_BRIDGE": "1", "GTK_A11Y": "none",
    "XDG_DATA_DIRS": "/usr/share", "XDG_CONFIG_DIRS": "/etc/xdg",
    "GDK_SCALE": "1", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_OVERLAY_SCROLLING": "0",
    "LIBGL_ALWAYS_SOFTWARE": "1", "GVFS_DISABLE_FUSE": "1", "GTK_USE_PORTAL": "0",
    # No program finds the bus of the machine.
    "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={RUNTIME}/no-system-bus",
}
"""All is the same on each machine."""

TOOLKIT = """[Settings]
gtk-cursor-blink=0
gtk-enable-animations=0
gtk-font-name=DejaVu Sans 10
gtk-icon-theme-name=Adwaita
gtk-primary-button-warps-slider=0
"""
"""Nothing moves by itself, so that two pictures of the same are equal."""

CLOCK = {"LD_PRELOAD": "/usr/$LIB/faketime/libfaketime.so.1", "FAKETIME": "2026-03-01 12:00:00",
         "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
"""For programs that show the time."""


class Session:
    """`reference` has the pictures of the other side, if that has been before."""

    def __init__(self, root: pathlib.Path, report: pathlib.Path, side: str, reference: pathlib.Path):
        self.root, self.report, self.side, self.reference = root, report, side, reference
        self.notes: list[str] = []
        self.home = HOME
        self.environment = dict(ENVIRONMENT)
        self.running: list[subprocess.Popen] = []
        self._mount()
        self._furnish_home()
        self.screen = Screen(self)
        self._start_bus()
        self.settings = Settings(self)

    @property
    def is_ours(self):
        return self.side == "ours"

    # MARK: The ground

    def _mount(self):
        subprocess.run(["hostname", "desktop"], check=True)
        for place, mode in [("home", "755"), ("tmp", "1777"), ("run", "755"), ("var/tmp", "1777")]:
            # Windows of programs show how much is free.
            options = f"mode={mode},size=10g"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.root / place], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", self.root / "proc"], check=True)
        for place in (HOME, RUNTIME, "/tmp/screen"):
            self.make_directory(place)
        (self.root / "tmp/.X11-unix").mkdir()
        (self.root / "tmp/.ICE-unix").mkdir()
        for place in ("tmp/.X11-unix", "tmp/.ICE-unix"):
            (self.root / place).chmod(0o1777)

    def inside(self, path):
        """A path of the clean system, as this process sees it."""
        return self.root / str(path).lstrip("/")

    def make_directory(self, path):
        self.inside(path).mkdir(parents=True, mode=0o700)
        os.chown(self.inside(path), 1000, 1000)

    def write(self, path, text):
        """Writes a file of the user."""
        place = self.inside(path)
        for folder in reversed(place.parents):
            if not folder.exists():
                folder.mkdir(mode=0o700)
                os.chown(folder, 1000, 1000)
        place.write_text(text, encoding="utf-8")
        os.chown(place, 1000, 1000)

    def _furnish_home(self):
        for version in ("3.0", "4.0"):
            self.write(f"{HOME}/.config/gtk-{version}/settings.ini", TOOLKIT)
        self.write(f"{HOME}/.config/user-dirs.dirs", "")

    def _start_bus(self):
        self.bus = self.start("dbus-daemon", "--session", "--nofork", "--print-address=1", stdout=subprocess.PIPE)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().strip()

    # MARK: Programs

    def _command(self, words):
        return ["/usr/sbin/chroot", f"--userspec={USER}:{USER}", str(self.root), "env", f"--chdir={HOME}",
                *map(str, words)]

    def start(self, *words, stdout=None, pass_fds=(), **variables):
        """Starts a program of the user. What it prints is in a file."""
        with open(self.root.parent / "log", "a", encoding="utf-8") as log:
            process = subprocess.Popen(
                self._command(words), env=self.environment | variables, stdin=subprocess.DEVNULL,
                stdout=stdout or log, stderr=log, text=True, pass_fds=pass_fds)
        process.words = " ".join(map(str, words))
        self.running.append(process)
        return process

    def run(self, *words, status=0, timeout=PATIENCE, **variables):
        """Runs a program of the user to its end: its output."""
        try:
            done = subprocess.run(
                self._command(words), env=self.environment | variables, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, errors="replace", timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"{shlex.join(map(str, words))} does not end") from None
        require(status is None or done.returncode == status,
                f"{shlex.join(map(str, words))} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.rstrip("\n")

    def start_window_manager(self, *words, **variables):
        """Starts a window manager, and waits until it manages windows."""
        process = self.start(*words, **variables)
        while "window id" not in self.run("xprop", "-root", "_NET_SUPPORTING_WM_CHECK", status=None):
            require(process.poll() is None, f"{process.words} ended")
            time.sleep(LOOK)

    def end(self, process):
        """Waits for the end of a program that was asked to end."""
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure(f"{process.words} does not end") from None

    def owner(self, name):
        """The number of the process that owns a name of the bus; 0 for nobody."""
        answer = self.run(
            "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
            "org.freedesktop.DBus.GetConnectionUnixProcessID", name, status=None)
        found = re.search(r"uint32 (\d+)", answer)
        return int(found[1]) if found else 0

    def kill(self, number, with_signal=signal.SIGKILL):
        """Ends a process and waits for its end."""
        descriptor = os.pidfd_open(number)
        signal.pidfd_send_signal(descriptor, with_signal)
        ended, _, _ = select.select([descriptor], [], [], PATIENCE)
        require(ended, f"process {number} does not end")
        os.close(descriptor)

    def keep_home(self):
        """Copies the user's home into the report."""
        shutil.copytree(self.inside(HOME), self.report / f"{self.side}-home", symlinks=True,
                        ignore=lambda _, names: [name for name in names if name in ("page", "socket")])

    def result(self, **more):
        return json.dumps({"notes": self.notes} | more)
