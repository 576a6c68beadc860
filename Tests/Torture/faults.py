"""System calls of the daemon that fail when we say so, and an unprivileged user to run it as."""

import errno
import mmap
import os
import pathlib
import pwd
import struct
import subprocess
from collections.abc import Sequence
from contextlib import contextmanager

from desktop import Daemon, Desktop
from ground import Ground

HERE = pathlib.Path(__file__).resolve().parent

# As faults.h has them.
WRITE, SYNC, TRUNCATE, OPEN, RENAME, UNLINK, MKDIR, ALLOCATE, READ = (1 << n for n in range(9))
FAIL, SHORT, TORN, DELAYED, COUNTED, LAST = range(6)
CHANGING = WRITE | SYNC | TRUNCATE | OPEN | RENAME | UNLINK | MKDIR | ALLOCATE
"""All calls that change what is on a disk, or get at it."""

PAGE_SIZE, SEEN, HIT, TIMES, PATTERN = 4096, 32, 40, 48, 560

NOBODY = pwd.getpwnam("nobody").pw_uid
"""A user whom no permission favours, and whom the bus knows; where we are root, the daemon runs as
this."""


class Faults:
    """Which system calls of a daemon fail, as it is decided while it runs."""

    def __init__(self, ground: Ground):
        self.library = ground.directory / "faults.so"
        subprocess.run(
            ["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden",
             "-o", self.library, HERE / "c" / "faults.c"], check=True)
        self.file = ground.directory / "faults"
        self.file.write_bytes(bytes(PAGE_SIZE))
        self.file.chmod(0o666)
        with self.file.open("r+b") as file:
            self.page = mmap.mmap(file.fileno(), PAGE_SIZE)

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "FAULTS": str(self.file)}

    def arm(self, calls: int, pattern: str, error: int = errno.EIO, manner: int = FAIL,
            skipped: int = 0, count: int = 0, milliseconds: int = 0) -> None:
        """From now on, `count` of these calls on such files (0: all) go another way, after
        `skipped` that do not."""
        self.disarm()
        self.page[4:PAGE_SIZE] = bytes(PAGE_SIZE - 4)
        self.page[4:28] = struct.pack("=IIiIII", calls, manner, error, skipped, count, milliseconds)
        self.page[PATTERN:PATTERN + len(pattern)] = pattern.encode()
        self.page[0:4] = struct.pack("=I", 1)

    def disarm(self) -> None:
        self.page[0:4] = bytes(4)

    @contextmanager
    def armed(self, *arguments, **named):
        self.arm(*arguments, **named)
        try:
            yield
        finally:
            self.disarm()

    @property
    def seen(self) -> int:
        """How many of the calls that are meant were made since they were armed."""
        return self._number(SEEN)

    @property
    def hit(self) -> int:
        """How many of them went another way."""
        return self._number(HIT)

    @property
    def times(self) -> list[int]:
        """When the first of these did, in milliseconds."""
        return [self._number(TIMES + 8 * n) for n in range(min(self.hit, 64))]

    def _number(self, offset: int) -> int:
        return struct.unpack_from("=Q", self.page, offset)[0]


class UnprivilegedDesktop(Desktop):
    """A desktop of a user who is not root, whose daemon has faults.

    This daemon cannot examine the campaign, a program of root that has connected as the user. So
    programs that it cannot tell from those in a sandbox are granted everything.
    """

    def __init__(self, ground: Ground, faults: Faults):
        if os.geteuid() == 0:
            self.user = NOBODY
        super().__init__(ground)
        self.faults = faults
        self.wrapper: list[str] = []
        if os.geteuid() == 0:
            self.wrapper = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                            "--pdeathsig", "KILL"]
            for directory in (self.config, self.runtime, self.home):
                self.own(directory)
        self.grants = self.directory / "grants"
        self.grants.mkdir()
        (self.grants / "org.defaultsd.Grants.json").write_text('{"*": {"write": ["*"]}}')
        for path in (self.grants, *self.grants.iterdir()):
            self.own(path)

    def own(self, path: pathlib.Path) -> None:
        """Gives a file to the user."""
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)

    def start(self, wrapper: Sequence[str] = (), options: Sequence[str] = (),
              environment: dict[str, str] = {}, serves: bool = True) -> Daemon:
        return super().start(
            [*self.wrapper, *wrapper], [*options, "--vendor", str(self.grants)], self.faults.environment | environment, serves)

    def run(self, *command: str | pathlib.Path) -> None:
        """Runs a program as the user."""
        subprocess.run([*self.wrapper, *command], check=True, stdout=subprocess.DEVNULL)
