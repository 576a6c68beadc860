"""A runtime directory that is full, fails, is closed to us or goes away, under a daemon that runs.

The crash journal is there. What it does not take goes to a journal on the disk, at once and with all that
is pending. If the disk's does not take it either, the change is refused, and nobody ever sees anything of
it; those before it live, and those after it are taken as soon as there is room.
"""

import contextlib
import dataclasses
import errno
import shutil
from pathlib import Path

from clients import Refused
from faults import CHANGING, LAST, RENAME, SHORT, TORN, TRUNCATE, UNLINK, WRITE, Faults
from ground import Ground, Outcome, remove_tree
from trials import (
    ONLY_ROOT, Begin, Fault, Trials, clear, disarm, fill, nothing, on_disk, points, small)
from victim import STORAGE_FAILED, Victim, check

NAME = "runtime"
FAULTS = "a runtime directory full, failing, closed, removed or replaced"
INJECTIONS = ("lost-database", "lost-change")


def run(ground: Ground) -> list[Outcome]:
    trials = Trials(ground, Faults(ground))
    for fault in REFUSING:
        for way in (taken_again, killed, killed_and_taken_again):
            trials.take(fault, way, is_quick=way is not killed or fault is TORN_FOR_GOOD)
    for fault in REFUSED_HERE:
        trials.take(fault, moved_journal)
    trials.take(FILLED, fills_itself)
    trials.take(FILLED_BEFORE, moved_journal)
    for fault in HARMLESS:
        trials.take(fault, unnoticed)
    for fault in TAKEN:
        trials.take(fault, moved_journal)
        trials.take(fault, moved_journal_and_written)
    trials.take(Fault("each call on the journal fails once", nothing), at_each_point)
    trials.take(Fault("killed before each call on the journal", nothing), killed_at_each)
    return trials.all


# How a trial goes on

def refused(victim: Victim, fault: Fault) -> None:
    """The fault begins: changes are refused, and all else goes on."""
    victim.expect_taken("pending")
    fault.begin(victim)
    for number in range(3):
        victim.expect_refused(f"during {number}", size=9000)
    victim.expect_refused("pending", size=9000)
    victim.expect_all()
    victim.expect_told(1, 0)
    check(victim.properties()["StorageError"] != "", "StorageError to be set", "an empty one")
    # The disk is well, and takes what waits.
    victim.synchronize()
    victim.expect_all()


def taken_again(victim: Victim, fault: Fault) -> None:
    """When it is over, changes are taken without more ado."""
    refused(victim, fault)
    fault.end(victim)
    for number in range(5):
        victim.expect_taken(f"after {number}", size=9000)
    victim.expect_told(1, 1)
    check(victim.properties()["StorageError"] == "", "StorageError to be empty", "another")
    victim.restart()
    victim.expect_all()
    on_disk(victim)


def killed(victim: Victim, fault: Fault) -> None:
    """The daemon is killed amid the fault: the next one finds nothing of what was refused."""
    refused(victim, fault)
    victim.daemon.end()
    fault.end(victim)
    victim.start()
    victim.expect_all()
    on_disk(victim)


def killed_and_taken_again(victim: Victim, fault: Fault) -> None:
    """What is taken after the fault is found behind what was refused, if that left anything."""
    refused(victim, fault)
    fault.end(victim)
    victim.expect_taken("after", size=10)
    victim.expect_taken("pending", size=10)
    victim.restart()
    victim.expect_all()
    on_disk(victim)


def fills_itself(victim: Victim, fault: Fault) -> None:
    """Changes that fill it up to the last byte do not shut out those that come when they are on
    disk."""
    fault.begin(victim)
    for _ in range(3):
        number = 0
        with contextlib.suppress(Refused):
            for number in range(10_000):
                victim.set(f"key {number % 50}", size=3000)
        check(0 < number < 5000, "the journal to be full some time", f"{number} changes")
        with contextlib.suppress(Refused):
            for number in range(10_000):
                victim.set("small", size=1)
        victim.synchronize()
        victim.expect_taken("room again", size=3000)
    fault.end(victim)
    victim.restart()
    victim.expect_all()
    on_disk(victim)


def unnoticed(victim: Victim, fault: Fault) -> None:
    """Changes go on, and the log has one line at most."""
    fault.begin(victim)
    for number in range(30):
        victim.expect_taken(f"during {number}", size=10_000)
        if number % 5 == 0:
            victim.synchronize()
    check(victim.faults.hit > 0, "the fault to happen", "no such call")
    victim.expect_told(0, 0)
    check(len(victim.lines(4)) <= 1, "one warning in the log at most", victim.lines(4))
    victim.restart()
    victim.expect_all()
    fault.end(victim)
    victim.restart()
    victim.expect_all()
    on_disk(victim)


def moved_journal(victim: Victim, fault: Fault) -> None:
    """Changes are taken on, and the next daemon finds them, amid the fault and when it is over."""
    victim.expect_taken("before it")
    fault.begin(victim)
    for number in range(5):
        victim.expect_taken(f"during {number}")
    victim.expect_told(0, 0)
    check(len(victim.lines(4)) <= 2, "two warnings in the log at most", victim.lines(4))
    victim.restart()
    victim.expect_all()
    victim.expect_taken("after a start amid the fault")
    victim.daemon.end()
    fault.end(victim)
    victim.start()
    victim.expect_all()
    on_disk(victim)


def moved_journal_and_written(victim: Victim, fault: Fault) -> None:
    """What is on disk by then need not be anywhere else."""
    victim.expect_taken("before it")
    fault.begin(victim)
    victim.expect_taken("during")
    victim.synchronize()
    victim.expect_taken("during")
    victim.synchronize()
    victim.expect_recovery()
    victim.daemon.end()
    fault.end(victim)
    on_disk(victim)


def at_each_point(victim: Victim, fault: Fault) -> int:
    """One call after the other fails once: the change is taken, or it is refused."""
    for tried, number in enumerate(points(victim), 1):
        with victim.faults.armed(CHANGING, runtime(victim), errno.EIO, skipped=number, count=1):
            for key in ("one", "other"):
                try:
                    victim.set(key, size=3000)
                except Refused as refused:
                    check(refused.name == STORAGE_FAILED, "StorageFailed", refused)
                victim.synchronize()
            is_over = victim.faults.hit == 0
        victim.expect_all()
        victim.restart()
        victim.expect_all()
        if is_over:
            return tried


def killed_at_each(victim: Victim, fault: Fault) -> int:
    """Killed before one call after the other, it leaves what the next daemon goes on with."""
    for tried, number in enumerate(points(victim), 1):
        victim.faults.arm(CHANGING, runtime(victim), manner=LAST, skipped=number)
        key, earlier, is_answered = "none", None, True
        with contextlib.suppress(Refused):
            for key in ("one", "other"):
                earlier, is_answered = victim.ledger.get(key), False
                victim.set(key, size=3000)
                is_answered = True
                victim.client.call("Synchronize")
        is_over = victim.faults.hit == 0
        victim.faults.disarm()
        victim.restart()
        if not is_answered:
            victim.expect_either(key, (earlier, victim.attempted))
        victim.expect_all()
        if is_over:
            on_disk(victim)
            return tried


# The faults

def runtime(victim: Victim) -> str:
    return f"{victim.desktop.runtime}/*"


def arm(*arguments, **named) -> Begin:
    return lambda victim: victim.faults.arm(arguments[0], runtime(victim), *arguments[1:], **named)


def journal(victim: Victim) -> Path:
    """The directory of the journal."""
    # Beside it is the daemon's socket.
    directory, = filter(Path.is_dir, (victim.desktop.runtime / "defaultsd").iterdir())
    return directory


def block_disk(victim: Victim) -> None:
    """No journal can be beside the database."""
    directory = victim.desktop.directory / "config" / "defaultsd"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    (directory / "journal").write_bytes(b"")
    for path in (directory, directory / "journal"):
        victim.desktop.own(path)


def with_disk_blocked(fault: Fault) -> Fault:
    def prepare(victim: Victim) -> None:
        fault.prepare(victim)
        block_disk(victim)
    return dataclasses.replace(fault, name=f"{fault.name}, and no journal on disk", prepare=prepare)


TORN_HERE = Fault("ENOSPC in the middle of a record that cannot be cut off",
                  arm(WRITE | TRUNCATE, errno.ENOSPC, TORN), disarm)
REFUSED_HERE = [
    Fault("full: ENOSPC on write", arm(WRITE, errno.ENOSPC), disarm),
    Fault("full: a small file system", fill("runtime"), clear("runtime"), ONLY_ROOT,
          prepare=small("runtime")),
    Fault("EIO on write", arm(WRITE, errno.EIO), disarm),
    Fault("ENOSPC in the middle of a record", arm(WRITE, errno.ENOSPC, TORN), disarm),
    TORN_HERE,
]
TORN_FOR_GOOD = with_disk_blocked(TORN_HERE)
REFUSING = [with_disk_blocked(fault) for fault in REFUSED_HERE[:-1]] + [TORN_FOR_GOOD]
FILLED = with_disk_blocked(
    Fault("full of the journal's own", nothing, nothing, ONLY_ROOT, prepare=small("runtime")))
HARMLESS = [
    Fault("short writes", arm(WRITE, 0, SHORT), disarm),
    Fault("EINTR on write", arm(WRITE, errno.EINTR, count=10), disarm),
    Fault("EIO on unlink", arm(UNLINK, errno.EIO), disarm),
    Fault("EIO on rename", arm(RENAME, errno.EIO), disarm),
]


def prepare_full(victim: Victim) -> None:
    small("runtime")(victim)
    fill("runtime")(victim)


FILLED_BEFORE = Fault("full before the start", nothing, clear("runtime"), ONLY_ROOT,
                      prepare=prepare_full)


def remove(victim: Victim) -> None:
    remove_tree(victim.desktop.runtime / "defaultsd")


def remove_all(victim: Victim) -> None:
    remove_tree(victim.desktop.runtime)


def make_all(victim: Victim) -> None:
    victim.desktop.runtime.mkdir(mode=0o700)
    victim.desktop.own(victim.desktop.runtime)


def chmod(mode: int, place) -> Begin:
    return lambda victim: place(victim).chmod(mode)


def replace_by_file(victim: Victim) -> None:
    remove(victim)
    (victim.desktop.runtime / "defaultsd").write_bytes(b"")


def remove_file(victim: Victim) -> None:
    (victim.desktop.runtime / "defaultsd").unlink()


def replace_by_copy(victim: Victim) -> None:
    """A copy as it was a moment ago, that the daemon does not write to."""
    directory = victim.desktop.runtime / "defaultsd"
    moved = victim.desktop.directory / "moved"
    directory.rename(moved)
    shutil.copytree(moved, directory, ignore=shutil.ignore_patterns("direct"))
    for path in [directory, *directory.rglob("*")]:
        victim.desktop.own(path)


TAKEN = [
    Fault("the journal's directory removed", remove),
    Fault("the runtime directory removed, and not to be made", remove_all, make_all, ONLY_ROOT),
    Fault("replaced by a file", replace_by_file, remove_file),
    Fault("replaced by a copy", replace_by_copy),
    Fault("chmod 0 of the journal's directory", chmod(0, journal), chmod(0o700, journal)),
    Fault("chmod 0 of the runtime directory", chmod(0, lambda victim: victim.desktop.runtime),
          chmod(0o700, lambda victim: victim.desktop.runtime)),
    Fault("read-only: chmod 0555 of the journal's directory", chmod(0o555, journal),
          chmod(0o700, journal)),
]
