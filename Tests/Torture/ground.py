"""What a campaign uses, and what it returns."""

import errno
import pathlib
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field

from privatebus import PATIENCE


@dataclass
class Outcome:
    """What came of one kind of fault.

    A finding says what was expected, what came, and how to repeat it. `skipped` is the reason why
    the fault could not be tried here.
    """

    fault: str
    trials: int
    findings: list[str] = field(default_factory=list)
    note: str = ""
    skipped: str | None = None

    @property
    def words(self) -> str:
        """The last column of the table."""
        if self.findings:
            return f"{len(self.findings)} found"
        if self.skipped:
            return f"skipped: {self.skipped}"
        return f"nothing found{'; ' if self.note else ''}{self.note}"


@dataclass(frozen=True)
class Ground:
    """The programs, scratch directories and the chances of one campaign.

    `directory` is on a disk, or wherever temporary files are; `memory` is in memory, where there
    is such a file system, for those to whom the disk is nothing but slow. There, programs may not
    be allowed to run.

    `inject` is a break of its `INJECTIONS`, which it must then find; nil in an earnest run.
    """

    programs: pathlib.Path
    thorough: bool
    directory: pathlib.Path
    memory: pathlib.Path
    random: random.Random
    say: Callable[[str], None]
    inject: str | None = None

    @property
    def patience(self) -> int:
        """Seconds after which nothing is expected to come any more: few after a break, which some
        campaigns find by what does not come."""
        return 30 if self.inject else PATIENCE

    def scale(self, short: int, long: int) -> int:
        """One number for the suite, another for the long run."""
        return long if self.thorough else short


def remove_tree(directory: pathlib.Path) -> None:
    """Removes a directory with all in it, while a daemon may make and remove files there."""
    while True:
        try:
            return shutil.rmtree(directory)
        except FileNotFoundError:
            if not directory.exists():
                return
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
