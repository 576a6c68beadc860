"""Users of a clean system and their sessions: under a service manager, or with a bus alone."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 60
PROGRAM = "/usr/bin/defaultsd"


def wait_until(condition, what):
    """Waits for something that another process does."""
    deadline = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < deadline, f"this does not happen: {what}"
        time.sleep(0.02)
    return result


class System:
    """The clean system."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        subprocess.run(["mount", "--rbind", "/sys", self.root / "sys"], check=True)
        # systemd --user wants to know that systemd is the init.
        (self.root / "run/systemd/system").mkdir(parents=True)
        for file in (HERE.parent / "Torture/user-manager", HERE / "writer"):
            shutil.copy(file, self.root / "usr/local/bin")

    def run(self, *command, check=True):
        done = subprocess.run(
            ["chroot", self.root, "env", "--ignore-environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
             "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        said = done.stdout + done.stderr
        assert not check or done.returncode == 0, f"{' '.join(map(str, command))}: {said}"
        return said

    def apt(self, *words):
        """Installs or removes packages; what apt and the maintainer scripts say."""
        return self.run("apt-get", "--yes", "--quiet", "--allow-downgrades", "-o", "Dpkg::Use-Pty=0", *words)

    def daemons(self):
        """The processes of the daemon, without its helpers, and whether their program is the installed one."""
        found = {}
        for process in (self.root / "proc").glob("[0-9]*"):
            try:
                program = (process / "exe").readlink()
                if (process / "comm").read_text() == "defaultsd\n":
                    found[int(process.name)] = "(deleted)" not in str(program)
            except OSError:
                continue
        return found


class Session:
    """A user who is logged in."""

    def __init__(self, system, name, user, runtime=None):
        self.system, self.name, self.user = system, name, user
        self.runtime = runtime or f"/run/user/{user}"
        self.home = f"/home/{name}"
        self.variables = {"HOME": self.home, "USER": name, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                          "XDG_RUNTIME_DIR": self.runtime}
        self.make_runtime()

    def make_runtime(self):
        directory = self.system.root / self.runtime[1:]
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True, mode=0o700)
        shutil.chown(directory, self.user, self.user)

    def command(self, *words, as_root=False):
        identity = [] if as_root else [f"--userspec={self.user}:{self.user}"]
        variables = [f"{name}={value}" for name, value in self.variables.items()]
        return ["chroot", *identity, self.system.root, "env", "--ignore-environment", *variables, *words]

    def start(self, *words, **options):
        return subprocess.Popen(self.command(*words), text=True, **options)

    def run(self, *words):
        done = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return (done.stdout + done.stderr).rstrip("\n")

    def tool(self, *words):
        return self.run("defaultsctl", *words)

    def write(self, key, number):
        said = self.tool("write", "org.example.App", key, "-int", str(number))
        assert said == "", said

    def read(self, key):
        return self.tool("read", "org.example.App", key)

    def begin_writing(self, count):
        self.writers = [
            self.start("/usr/local/bin/writer", f"org.example.Writer{number}", stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE) for number in range(count)]
        for writer in self.writers:
            assert writer.stdout.readline() == "begun\n", writer.communicate()[1]

    def end_writing(self):
        """Ends the programs; the changes that they have made. Each of them must be there."""
        total = 0
        for number, writer in enumerate(self.writers):
            said, error = writer.communicate("end")
            assert writer.returncode == 0, f"a call of {self.name} was lost: {error}"
            kept = self.tool("read", f"org.example.Writer{number}", "Number")
            assert kept == said.strip(), f"{kept} is stored, but {said.strip()} was acknowledged"
            total += int(said)
        return total


class ManagedSession(Session):
    """A session under the user's own systemd."""

    def log_in(self):
        self.variables["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={self.runtime}/bus"
        log = (self.system.root / f"tmp/manager-{self.user}.log").open("w+")
        self.manager = subprocess.Popen(
            self.command("/usr/local/bin/user-manager", str(self.user), as_root=True), stdout=log, stderr=log)
        wait_until(lambda: self.unit("is-active", "dbus.socket") == "active",
                   f"the service manager starts; it says so in {log.name}")

    def log_out(self):
        """Ends everything of the session, and removes what a restart of the machine removes."""
        self.unit("exit")
        self.manager.wait()
        self.make_runtime()

    def unit(self, *words):
        return self.run("systemctl", "--user", *words)


class PlainSession(Session):
    """A session with a bus, and a daemon that somebody has started by hand."""

    def log_in(self, *options):
        said = self.run("dbus-daemon", "--session", "--fork", "--print-address=1")
        self.variables["DBUS_SESSION_BUS_ADDRESS"] = said.splitlines()[0]
        self.variables["XDG_CONFIG_HOME"] = f"{self.home}/other settings"
        self.start(PROGRAM, *options, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
        wait_until(lambda: "org.defaultsd.Defaults1" in self.names(), "the daemon serves")

    def names(self):
        """The names on the bus."""
        return self.run("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                        "org.freedesktop.DBus.ListNames")

    def log_out(self):
        """Ends the bus, and with it the programs that are on it."""
        bus, = self.run("dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/",
                        "org.freedesktop.DBus.GetConnectionUnixProcessID",
                        "string:org.freedesktop.DBus").split()[-1:]
        os.kill(int(bus), signal.SIGTERM)
