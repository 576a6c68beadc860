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

USER, HOME, RUNTIME = "tester", "/home/tester", "/run/user/1000"
SCREEN = "1024x768x24"
PATIENCE = 60
"""Seconds after which nothing is expected to come any more."""
LOOK = 0.25
"""Seconds between two looks at the screen."""
CALM = 4
"""A picture is done if it is the same in so many looks, and no program has worked meanwhile."""
DAEMONS = {"org.defaultsd.Defaults1": "defaultsd", "ca.desrt.dconf": "dconf-service", "org.xfce.Xfconf": "xfconfd"}

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


class Failure(Exception):
    """What keeps a proof from being made, or what it has found."""


def require(condition, words):
    if not condition:
        raise Failure(words)


class Session:
    """`reference` has the pictures of the other side, if that has been before."""

    def __init__(self, root: pathlib.Path, report: pathlib.Path, side: str, reference: pathlib.Path):
        self.root, self.report, self.side, self.reference = root, report, side, reference
        self.notes: list[str] = []
        self.changed: set[str] = set()
        self.environment = dict(ENVIRONMENT)
        self.running: list[subprocess.Popen] = []
        self._mount()
        self._settle_home()
        self._start_screen()
        self.start_bus()
        self.vendor = set(self.channels())

    @property
    def is_ours(self):
        return self.side == "ours"

    # -- The ground

    def _mount(self):
        subprocess.run(["hostname", "desktop"], check=True)
        for place, mode in [("home", "755"), ("tmp", "1777"), ("run", "755"), ("var/tmp", "1777")]:
            # The size is in windows of programs.
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode={mode},size=10g", "tmpfs", self.root / place], check=True)
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

    def _settle_home(self):
        for version in ("3.0", "4.0"):
            self.write(f"{HOME}/.config/gtk-{version}/settings.ini", TOOLKIT)
        self.write(f"{HOME}/.config/user-dirs.dirs", "")

    def _start_screen(self):
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        self.start("Xvfb", "-displayfd", writing, "-screen", 0, SCREEN, "-fbdir", "/tmp/screen", "-nocursor",
                   "-dpi", 96, "-nolisten", "tcp", "-noreset", pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        require(number, f"there is no screen: {self.log()}")
        self.environment["DISPLAY"] = f":{number}"
        self.screen = self.inside("/tmp/screen/Xvfb_screen0")
        # No window shows a tooltip.
        self.run("xdotool", "mousemove", 1023, 767)

    def start_bus(self):
        """Starts the bus of the session; what it activates ends with it."""
        self.bus = self.start("dbus-daemon", "--session", "--nofork", "--print-address=1", stdout=subprocess.PIPE)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().strip()

    # -- Programs

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

    def log(self):
        return (self.root.parent / "log").read_text(errors="replace")[-3000:]

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

    def shell(self, text, **options):
        return self.run("sh", "-c", text, **options)

    def start_window_manager(self, *words, **variables):
        """Starts a window manager, and waits until it manages windows."""
        process = self.start(*words, **variables)
        while "window id" not in self.run("xprop", "-root", "_NET_SUPPORTING_WM_CHECK", status=None):
            require(process.poll() is None, f"{process.words} ended: {self.log()}")
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

    # -- Pictures

    def wait_for_window(self, title, is_there=True):
        """Waits for a window that is seen: its number."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = self.run("xdotool", "search", "--onlyvisible", "--name", title, status=None).split()
            if bool(found) == is_there:
                return found[-1] if found else None
            require(not is_there or not self._failed(), f"{self._failed()} failed: {self.log()}")
            time.sleep(LOOK)
        windows = self.run("sh", "-c", "for w in $(xdotool search --onlyvisible --name .); do xdotool getwindowname $w; done")
        raise Failure(f"no window '{title}' {'comes' if is_there else 'goes'}; there are {windows.split(chr(10))}; "
                      f"{self.log()}")

    def _failed(self):
        """The programs that have ended with an error."""
        return [f"{process.words} ({process.returncode})" for process in self.running if process.poll()]

    def _work(self):
        """How long all programs have worked, in ticks of the clock."""
        total = 0
        for place in (self.root / "proc").iterdir():
            if place.name.isdigit() and place.name != str(os.getpid()):
                try:
                    fields = (place / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                total += int(fields[11]) + int(fields[12])
        return total

    def _settled(self, wanted, looks):
        """The picture when it does not change any more. One that is not wanted has more time to change."""
        last, work, calm = b"", -1, 0
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            picture, worked = self.screen.read_bytes(), self._work()
            calm = calm + 1 if picture == last and worked - work <= 1 else 0
            if calm >= (looks if wanted in (None, picture) else 10 * looks):
                return picture
            last, work = picture, worked
            time.sleep(LOOK)
        self.notes.append("the picture did not come to rest")
        return last

    def picture(self, step, looks=CALM):
        """Keeps the picture of the screen when it has not changed in so many looks.

        Without the name of a step, it only waits for that.
        """
        place = self.reference / f"{step}.xwd"
        picture = self._settled(place.read_bytes() if self.is_ours and place.exists() else None, looks)
        if step:
            self.keep_picture(step, picture)

    def keep_picture(self, step, picture=None):
        """Keeps a picture in the report: that of the screen as it is, unless another one is given."""
        picture = picture or self.screen.read_bytes()
        if not self.is_ours:
            (self.reference / f"{step}.xwd").write_bytes(picture)
        (self.root / "tmp/picture.xwd").write_bytes(picture)
        place = f"/report/{self.report.name}/{self.side}-{step}.png"
        subprocess.run(["chroot", self.root, "convert", "xwd:/tmp/picture.xwd", place], check=True)

    def press(self, *keys):
        for key in keys:
            self.run("xdotool", "key", "--clearmodifiers", key)

    # -- What is kept

    def change(self, settings):
        """Sets each as a user does."""
        for setting in settings:
            if self.is_ours and setting.ours:
                self.run("defaultsctl", *setting.ours)
            else:
                self.run(*setting.command)
            if setting.channel:
                self.changed.add(setting.channel)

    def kept(self, places):
        """What programs read, and what the services of the peer keep: ours after a release."""
        kept = {"read": self.settings(places), "channels": self.channels(), "vendor": sorted(self.vendor)}
        self.check_owners()
        if self.is_ours:
            require(not self.inside(f"{HOME}/.config/dconf/user").exists(), "dconf was used as well")
            self.run("defaultsctl", "release")
            after = self.channels()
            require(after == kept["channels"],
                    f"after the release: {sorted(set(after) ^ set(kept['channels']))}")
        kept["stored"] = self.database()
        return kept

    def adopt(self):
        """Has defaultsd serve the programs, if this is our side."""
        if self.is_ours:
            self.run("defaultsctl", "adopt", "gsettings")
            self.run("defaultsctl", "adopt", "xfconf")

    def channels(self):
        """All properties of Xfconf, as its own tool prints them."""
        self.wait_for_files()
        lines = []
        for channel in sorted(self.run("xfconf-query", "-l").splitlines()[1:]):
            text = self.run("xfconf-query", "-c", channel.strip(), "-lv", status=None)
            lines += [f"{channel.strip()} {' '.join(line.split())}" for line in text.splitlines() if line.strip()]
        return lines

    def wait_for_files(self):
        """xfconfd lists a channel when its file has been written, some seconds after the change."""
        written = self.inside(f"{HOME}/.config/xfce4/xfconf/xfce-perchannel-xml")
        while not self.is_ours and not all((written / f"{channel}.xml").exists() for channel in self.changed):
            time.sleep(LOOK)

    def settings(self, places=()):
        """All values that programs of GSettings read, as GLib's own tool prints them.

        `places` are relocatable schemas with their paths, as SCHEMA:PATH.
        """
        lines = self.run("gsettings", "list-recursively").splitlines()
        for place in places:
            lines += [f"{place} {line}" for line in self.run("gsettings", "list-recursively", place).splitlines()]
        return sorted(lines)

    def database(self):
        """What is kept in dconf, as its own tool prints it."""
        lines, section = [], ""
        for line in self.run("dconf", "dump", "/").splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif line:
                lines.append(f"/{section}/{line}".replace("//", "/"))
        return sorted(lines)

    def check_owners(self):
        """The other side's services have nothing to do with it."""
        wanted = {"defaultsd"} if self.is_ours else {"dconf-service", "xfconfd"}
        for name, program in DAEMONS.items():
            number = self.owner(name)
            if number:
                found = (self.root / f"proc/{number}/comm").read_text().strip()
                require(found in wanted, f"{found} serves {name} on the side {self.side}")

    def keep_home(self):
        """Copies the user's home into the report."""
        shutil.copytree(self.inside(HOME), self.report / f"{self.side}-home", symlinks=True,
                        ignore=lambda _, names: [name for name in names if name in ("page", "socket")])

    def result(self, **more):
        return json.dumps({"notes": self.notes} | more)
