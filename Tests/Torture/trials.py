"""Trials of faults, each with a daemon of its own, and what came of them."""

import contextlib
import itertools
import os
import pathlib
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clients import Refused
from desktop import Ended
from faults import NOBODY, Faults
from ground import Ground, Outcome
from victim import Failed, Victim, check

ONLY_ROOT = None if os.geteuid() == 0 else "only root may"

Begin = Callable[[Victim], None]
"""Begins a fault, or ends it."""


@dataclass(frozen=True)
class Fault:
    """What is done to a daemon that runs, and how it is undone."""

    name: str
    begin: Begin
    end: Begin = lambda victim: None
    skipped: str | None = None
    """Why it cannot be tried here."""
    prepare: Begin = lambda victim: None
    """What comes before the daemon starts."""


class Trials:
    """The trials of all faults, and what came of them."""

    def __init__(self, ground: Ground, faults: Faults):
        self.ground = ground
        self.faults = faults
        self.outcomes: dict[str, Outcome] = {}

    @property
    def all(self) -> list[Outcome]:
        return list(self.outcomes.values())

    def take(self, fault: Fault, way: Callable, is_quick: bool = True) -> None:
        """One trial of a fault, in one of the ways in which it may go on."""
        if not (is_quick or self.ground.thorough):
            return
        if self.ground.inject and any(outcome.findings for outcome in self.all):
            # The break was found.
            return
        outcome = self.outcomes.setdefault(
            fault.name, Outcome(fault.name, 0, skipped=fault.skipped))
        if fault.skipped:
            return
        began = time.monotonic()
        if self.ground.inject:
            way = broken(way, self.ground.inject)
        with Victim(self.ground, self.faults, fault.prepare) as victim, around(victim):
            try:
                outcome.trials += way(victim, fault) or 1
            except Exception as failure:
                outcome.trials += 1
                is_expected = isinstance(failure, (Failed, Ended, Refused, TimeoutError))
                outcome.findings.append(
                    f"{way.__name__.replace('_', ' ')}: "
                    f"{failure if is_expected else traceback.format_exc()}\n"
                    f"The log:\n{victim.daemon.log()}")
        self.ground.say(
            f"{fault.name}, {way.__name__.replace('_', ' ')}: {time.monotonic() - began:.1f} s")


def broken(way: Callable, break_: str) -> Callable:
    """The same trial with a deliberate break behind its back."""
    if break_ not in ("lost-change", "lost-database"):
        # A break of the campaign's own.
        return way

    def broken_way(victim: Victim, fault: Fault):
        if break_ == "lost-change":
            victim.ledger["never made"] = "lost"
            return way(victim, fault)
        start = victim.desktop.start

        def start_without(*arguments, **named):
            for file in victim.desktop.data.glob("defaults.db*"):
                file.unlink()
            return start(*arguments, **named)

        victim.desktop.start = start_without
        return way(victim, fault)
    broken_way.__name__ = way.__name__
    return broken_way


@contextlib.contextmanager
def around(victim: Victim) -> Iterator[None]:
    """Puts away what faults are made of, whatever comes."""
    try:
        yield
    finally:
        # What is bound to its own place is none that os.path.ismount would know.
        mounts = pathlib.Path("/proc/self/mounts").read_text()
        for directory in (victim.desktop.config, victim.desktop.runtime):
            if f" {directory} " in mounts:
                subprocess.run(["umount", "--lazy", directory], check=True)
        for directory in (victim.desktop.config, victim.desktop.data):
            if directory.is_dir():
                directory.chmod(0o700)


def small(name: str) -> Begin:
    """Has the directory of that name be a file system of its own, of 1 MiB."""
    def mount(victim: Victim) -> None:
        options = f"size=1m,mode=700,uid={NOBODY},gid={NOBODY}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs",
                        victim.desktop.directory / name], check=True)
    return mount


def fill(name: str) -> Begin:
    """Takes all the space that is left."""
    def write(victim: Victim) -> None:
        with (victim.desktop.directory / name / "filling").open("wb", buffering=0) as file:
            for size in (1 << 12, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)):
                        pass
    return write


def clear(name: str) -> Begin:
    return lambda victim: (victim.desktop.directory / name / "filling").unlink(missing_ok=True)


def on_disk(victim: Victim) -> None:
    """All that was acknowledged is on disk when Synchronize says so, and nowhere else need it be."""
    if not victim.daemon.has_ended:
        victim.synchronize()
    victim.restart_elsewhere()
    victim.expect_all()


def expect_no_start(victim: Victim) -> None:
    try:
        victim.start()
    except Ended:
        expect_sentence(victim)
    else:
        raise Failed("expected the daemon not to start, and it serves")


def expect_sentence(victim: Victim) -> None:
    """A daemon that could not start has told why."""
    status = victim.daemon.wait()
    check(status == 74, "exit status 74", status)
    check(len(victim.lines(2)) == 1, "one critical line in the log", victim.daemon.log())


def disarm(victim: Victim) -> None:
    victim.faults.disarm()


def nothing(victim: Victim) -> None:
    pass


def points(victim: Victim) -> Iterator[int]:
    """Places in a row of calls: each, or in the short run some drawn by chance."""
    if victim.desktop.ground.thorough:
        return itertools.count()
    step = victim.random.randint(4, 7)
    return itertools.count(victim.random.randrange(step), step)
