"""A disk that refuses, and files that are taken away, under a daemon that runs.

Where the disk refuses, changes are taken all the same and wait; where a file is taken away that the
daemon has open, it is made again. In the end only what the disk has counts: each trial ends with the
daemon killed and the session's memory gone.
"""

import contextlib
import errno
import itertools
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator

from clients import Refused
from desktop import Ended
from faults import CHANGING, DELAYED, LAST, SHORT, SYNC, TORN, TRUNCATE, WRITE, Faults
from ground import Ground, Outcome, remove_tree
from trials import (
    ONLY_ROOT, Begin, Fault, Trials, clear, disarm, expect_no_start, expect_sentence, fill, nothing,
    on_disk, points, small)
from victim import NOT_DURABLE, Victim, check

NAME = "disk"
FAULTS = "a disk full, read-only or failing, permission taken away, files removed or replaced"
INJECTIONS = ("lost-database", "lost-change")

def run(ground: Ground) -> list[Outcome]:
    trials = Trials(ground, Faults(ground))
    for fault in REFUSING:
        for way in (demanded, waited, killed, restarted):
            trials.take(fault, way, is_quick=(fault, way) in QUICK)
    for way in (demanded, waited, killed, restarted):
        trials.take(SMALL, way, is_quick=way is killed)
    trials.take(FULL, backing_off)
    trials.take(FULL, bounded, is_quick=False)
    trials.take(SLOW, served)
    for fault in HARMLESS:
        trials.take(fault, unnoticed, is_quick=fault is HARMLESS[0])
    for fault in CHECKPOINTS:
        trials.take(fault, checkpointed, is_quick=fault is CHECKPOINTS[0])
    for fault in FORBIDDEN:
        trials.take(fault, permitted_later)
    for fault in TAKEN:
        for way in (made_anew, made_anew_at_the_end):
            trials.take(fault, way, is_quick=way is made_anew)
    for way in (demanded, waited):
        trials.take(NO_PARENT, way, is_quick=way is demanded)
    trials.take(DESCRIPTORS, unnoticed)
    trials.take(READ_ONLY, served_and_written_later)
    trials.take(Fault("each call of a flush fails once", nothing), at_each_point)
    trials.take(Fault("each call of making it again fails once", remove_directory), at_each_point)
    trials.take(Fault("killed before each call of making it again", replace_by_copy), killed_at_each)
    return trials.all


# How a trial goes on

def refused(victim: Victim, fault: Fault) -> None:
    """The fault begins, and is reported once."""
    fault.begin(victim)
    for number in range(5):
        victim.expect_taken(f"during {number}", size=5000)
    victim.expect_disk_refusal()
    victim.expect_trouble(pending=5)
    victim.expect_taken("during 0")
    victim.expect_taken("later")
    victim.expect_disk_refusal()
    # A change counts, whether it replaces another one or not.
    victim.expect_trouble(pending=7)
    victim.expect_told(1, 0)
    victim.expect_all()


def demanded(victim: Victim, fault: Fault) -> None:
    """When it is over, the next Synchronize writes it all."""
    refused(victim, fault)
    fault.end(victim)
    victim.synchronize()
    victim.expect_recovery()
    victim.expect_told(1, 1)
    on_disk(victim)


def waited(victim: Victim, fault: Fault) -> None:
    """When it is over, all is written though nobody asks for it."""
    refused(victim, fault)
    fault.end(victim)
    victim.wait_until(lambda: victim.told[-1:] == [""])
    victim.expect_recovery()
    victim.expect_told(1, 1)
    on_disk(victim)


def killed(victim: Victim, fault: Fault) -> None:
    """The daemon is killed amid the fault, and the next one starts when it is over."""
    refused(victim, fault)
    victim.daemon.end()
    fault.end(victim)
    victim.start()
    victim.expect_all()
    on_disk(victim)


def restarted(victim: Victim, fault: Fault) -> None:
    """The daemon is killed amid the fault, and so is the next one, if that can start at all."""
    refused(victim, fault)
    victim.daemon.end()
    try:
        victim.start()
        victim.expect_all()
        victim.expect_taken("after a start amid the fault")
        victim.daemon.end()
    except Ended:
        expect_sentence(victim)
    fault.end(victim)
    victim.start()
    victim.expect_all()
    on_disk(victim)


def bounded(victim: Victim, fault: Fault) -> None:
    """Changes are taken up to 64 MiB, and refused from then on, until the fault is over."""
    fault.begin(victim)
    taken = 0
    with contextlib.suppress(Refused):
        for taken in range(80):
            victim.set(f"large {taken}", size=1 << 20)
    check(55 < taken < 65, "about 63 changes of 1 MiB to be taken", taken)
    victim.expect_refused("one more", size=1 << 20)
    victim.expect_taken("large 0", size=10)
    victim.expect_all()
    victim.expect_told(1, 0)
    fault.end(victim)
    victim.synchronize()
    victim.expect_taken("one more", size=1 << 20)
    on_disk(victim)


def backing_off(victim: Victim, fault: Fault) -> None:
    """Each attempt comes after twice the time that the one before came after."""
    fault.begin(victim)
    victim.expect_taken("during")
    attempts = victim.desktop.ground.scale(3, 5)
    victim.wait_until(lambda: len(moments(victim.faults.times)) >= attempts)
    times = moments(victim.faults.times)
    waits = [later - earlier for earlier, later in zip(times, times[1:])]
    for number, wait in enumerate(waits):
        check(wait >= 1000 << number, f"the attempt {number + 2} after {1 << number} s at the soonest",
              f"one after {wait} ms")
    victim.expect_told(1, 0)
    fault.end(victim)
    on_disk(victim)


def moments(times: list[int]) -> list[int]:
    """The times of attempts, each of which may have had several calls that failed."""
    return [time for place, time in enumerate(times) if place == 0 or time - times[place - 1] > 300]


def served(victim: Victim, fault: Fault) -> None:
    """While the disk takes its time, changes and reads do not wait for it."""
    victim.expect_taken("first")
    fault.begin(victim)
    waiting = victim.client.begin("Synchronize")
    victim.wait_until(lambda: victim.faults.hit > 0)
    for number in range(20):
        victim.expect_taken(f"meanwhile {number}")
    victim.desktop.settle()
    check(waiting.answer is None, "Synchronize to wait for the disk", waiting.answer)
    fault.end(victim)
    victim.wait_until(lambda: waiting.answer is not None)
    check(isinstance(waiting.answer, tuple), "Synchronize to succeed", waiting.answer)
    on_disk(victim)


def unnoticed(victim: Victim, fault: Fault) -> None:
    """Nothing comes of it."""
    fault.begin(victim)
    for number in range(30):
        victim.expect_taken(f"during {number}", size=10_000)
        if number % 10 == 0:
            victim.synchronize()
    victim.synchronize()
    check(victim.faults.hit > 0 or fault is DESCRIPTORS, "the fault to happen", "no such call")
    victim.expect_recovery()
    victim.expect_told(0, 0)
    # A backup that was due may fail of the same cause, which is told, too. The descriptors that it lets go
    # of end the trouble for a moment, so what comes after it may be told once more.
    told = [line.split()[:3] for line in victim.lines(4)]
    backups = [number for number, line in enumerate(victim.lines(4)) if "No backup of" in line]
    parts = [told[:backups[0]], told[backups[0]:]] if backups else [told]
    check(all(part.count(beginning) == 1 for part in parts for beginning in part),
          "each warning in the log once", victim.lines(4))
    fault.end(victim)
    on_disk(victim)


def checkpointed(victim: Victim, fault: Fault) -> None:
    """The write-ahead log has everything, though it cannot be folded back."""
    fault.begin(victim)
    for number in range(10):
        victim.expect_taken(f"large {number}", size=1 << 20)
        if number % 2:
            victim.synchronize()
    check(victim.faults.hit > 0, "the fault to happen", "no such call")
    victim.expect_recovery()
    victim.daemon.end()
    fault.end(victim)
    on_disk(victim)


def permitted_later(victim: Victim, fault: Fault) -> None:
    """What is open can be written, and what is not can be opened when it is permitted again."""
    fault.begin(victim)
    victim.expect_taken("during")
    victim.synchronize()
    victim.expect_recovery()
    victim.daemon.end()
    expect_no_start(victim)
    fault.end(victim)
    on_disk(victim)


def served_and_written_later(victim: Victim, fault: Fault) -> None:
    """What cannot be written is served, changes are in the journal, and all is written when that is possible."""
    victim.expect_taken("in the journal")
    victim.daemon.end()
    fault.begin(victim)
    victim.start()
    victim.expect_all()
    victim.expect_taken("during")
    fault.end(victim)
    victim.expect_taken("afterwards")
    victim.expect_all()
    on_disk(victim)


def made_anew(victim: Victim, fault: Fault) -> None:
    """What is taken away is there again when the next change is on disk."""
    victim.expect_taken("pending")
    fault.begin(victim)
    victim.expect_all()
    victim.expect_taken("during")
    victim.synchronize()
    expect_own_files(victim)
    victim.expect_all()
    victim.expect_recovery()
    # Again, with nothing to be written but what was taken.
    fault.begin(victim)
    victim.synchronize()
    expect_own_files(victim)
    told = [line for line in victim.lines(4) if "was written again" in line]
    check(len(told) == (0 if fault is LOCK else 2), "a warning of each time", victim.lines(4))
    check(bool(list(victim.desktop.data.glob("*.replaced-*"))) == ("replaced" in fault.name),
          "what was put there to be kept, and nothing else", list(victim.desktop.data.iterdir()))
    fault.end(victim)
    on_disk(victim)
    victim.expect_taken("afterwards")
    on_disk(victim)


def made_anew_at_the_end(victim: Victim, fault: Fault) -> None:
    """The daemon ends in order, and before that makes everything again that was removed."""
    fault.begin(victim)
    status = victim.daemon.end(signal.SIGTERM)
    check(status == 0, "exit status 0", status)
    victim.desktop.forget_session()
    victim.start()
    victim.expect_all()
    on_disk(victim)


def at_each_point(victim: Victim, fault: Fault) -> int:
    """One call after the other fails once: the flush fails with a reason, or goes well."""
    for tried, number in enumerate(points(victim), 1):
        victim.set(f"key {number % 7}", size=3000)
        fault.begin(victim)
        with victim.faults.armed(CHANGING, config(victim), errno.EIO, skipped=number, count=1):
            try:
                victim.client.call("Synchronize")
            except Refused as refused:
                check(refused.name == NOT_DURABLE, "NotDurable", refused)
            is_over = victim.faults.hit == 0
        victim.synchronize()
        expect_own_files(victim)
        victim.expect_recovery()
        if is_over or tried % 3 == 0:
            victim.restart_elsewhere()
            victim.expect_all()
        if is_over:
            return tried


def killed_at_each(victim: Victim, fault: Fault) -> int:
    """Killed before one call after the other, it leaves what the next daemon goes on with."""
    for tried, number in enumerate(points(victim), 1):
        victim.set(f"key {number % 7}", size=3000)
        victim.synchronize()
        fault.begin(victim)
        victim.faults.arm(CHANGING, config(victim), manner=LAST, skipped=number)
        with contextlib.suppress(Refused):
            victim.client.call("Synchronize")
        is_over = victim.faults.hit == 0
        victim.faults.disarm()
        victim.restart()
        # The copy that was put there is as good as what it was put in the place of.
        victim.expect_all()
        if is_over:
            on_disk(victim)
            return tried


# What is judged

def expect_own_files(victim: Victim) -> None:
    """The directory, the database and its lock are there, this user's alone, and in use."""
    data = victim.desktop.data
    for path, mode in ((data, 0o40700), (data / "defaults.db", 0o100600), (data / "lock", 0o100600),
                       (data / "defaults.db-wal", 0o100600)):
        check(path.exists(), f"{path.name} to be there", "nothing")
        check(path.stat().st_mode == mode, f"mode {mode:o} of {path.name}", f"{path.stat().st_mode:o}")
    free = subprocess.run(["flock", "--nonblock", data / "lock", "true"]).returncode == 0
    check(not free, "the lock to be held", "a free one")
    check(not list(data.glob("*.unfinished")) and not list(data.glob("*.renewed")),
          "nothing unfinished", list(data.iterdir()))


# The faults

def config(victim: Victim) -> str:
    return f"{victim.desktop.config}/*"


def arm(*arguments, pattern: str = "/*", **named) -> Begin:
    return lambda victim: victim.faults.arm(
        arguments[0], f"{victim.desktop.config}{pattern}", *arguments[1:], **named)


FULL = Fault("full: ENOSPC on write", arm(WRITE, errno.ENOSPC), disarm)
REFUSING = [
    FULL,
    Fault("quota: EDQUOT on write", arm(WRITE, errno.EDQUOT), disarm),
    Fault("EIO on write", arm(WRITE, errno.EIO), disarm),
    Fault("read-only: EROFS on write, open, fsync", arm(CHANGING, errno.EROFS), disarm),
    Fault("EIO on fsync", arm(SYNC, errno.EIO), disarm),
    Fault("ENOSPC in the middle of a write", arm(WRITE, errno.ENOSPC, TORN), disarm),
]
QUICK = [(REFUSING[0], killed), (REFUSING[0], demanded), (REFUSING[1], restarted),
         (REFUSING[2], killed), (REFUSING[3], demanded), (REFUSING[4], waited),
         (REFUSING[5], demanded)]
SMALL = Fault("full: a small file system", fill("config"), clear("config"), ONLY_ROOT,
              prepare=small("config"))
SLOW = Fault("an fsync that takes 1 s", arm(SYNC, 0, DELAYED, count=1, milliseconds=1000), disarm)
HARMLESS = [
    Fault("short writes", arm(WRITE, 0, SHORT), disarm),
    Fault("EINTR on write", arm(WRITE, errno.EINTR, count=10), disarm),
]
CHECKPOINTS = [
    Fault("ENOSPC on write in a checkpoint", arm(WRITE, errno.ENOSPC, pattern="/*/defaults.db"), disarm),
    Fault("EIO in the middle of a checkpoint",
          arm(WRITE, errno.EIO, pattern="/*/defaults.db", skipped=100), disarm),
    Fault("EIO on ftruncate after a checkpoint", arm(TRUNCATE, errno.EIO), disarm),
    Fault("EIO on fsync in a checkpoint", arm(SYNC, errno.EIO, pattern="/*/defaults.db"), disarm),
]


def chmod(mode: int, *names: str) -> Begin:
    def change(victim: Victim) -> None:
        for name in names:
            (victim.desktop.data / name).chmod(mode)
    return change


def both(*steps: Begin) -> Begin:
    return lambda victim: [step(victim) for step in steps]


def chown_to(user: int) -> Begin:
    def change(victim: Victim) -> None:
        for file in [victim.desktop.data, *victim.desktop.data.iterdir()]:
            os.chown(file, user, user)
    return change


def chown_back(victim: Victim) -> None:
    for file in [victim.desktop.data, *victim.desktop.data.iterdir()]:
        victim.desktop.own(file)


FORBIDDEN = [
    Fault("chmod 0 of the directory", chmod(0, "."), chmod(0o700, ".")),
    Fault("chmod 0 of the files", chmod(0, "defaults.db", "lock"),
          chmod(0o600, "defaults.db", "lock")),
    Fault("chown to another user", chown_to(0), chown_back, skipped=ONLY_ROOT),
]


def remove_directory(victim: Victim) -> None:
    remove_tree(victim.desktop.data)


def unlink(*names: str) -> Begin:
    def remove(victim: Victim) -> None:
        for name in names:
            (victim.desktop.data / name).unlink()
    return remove


def move_away(victim: Victim) -> None:
    aside = victim.desktop.directory / "moved"
    if aside.exists():
        shutil.rmtree(aside)
    victim.desktop.data.rename(aside)


def replace(name: str, make: Callable[[pathlib.Path], None]) -> Begin:
    """Puts another file in the place of one."""
    def put(victim: Victim) -> None:
        other = victim.desktop.data / "other"
        file = victim.desktop.data / name
        other.write_bytes(file.read_bytes())
        make(other)
        victim.desktop.own(other)
        other.rename(file)
    return put


def make_foreign(path: pathlib.Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE other (name)")
        database.commit()


def replace_by_copy(victim: Victim) -> None:
    """Puts whole copies, such as a synchronising program makes, in the place of the files."""
    for name in ("defaults.db", "defaults.db-wal"):
        replace(name, lambda path: None)(victim)


def remove_parent(victim: Victim) -> None:
    remove_tree(victim.desktop.config)


def make_parent(victim: Victim) -> None:
    victim.desktop.config.mkdir(mode=0o700)
    victim.desktop.own(victim.desktop.config)


LOCK = Fault("the lock removed", unlink("lock"))
TAKEN = [
    Fault("the directory removed", remove_directory),
    Fault("the directory moved away", move_away),
    Fault("the database removed", unlink("defaults.db")),
    Fault("the write-ahead log removed", unlink("defaults.db-wal")),
    LOCK,
    Fault("the database replaced by garbage", replace("defaults.db", lambda path: path.write_bytes(
        b"garbage" * 1000))),
    Fault("the database replaced by another program's", replace("defaults.db", make_foreign)),
    Fault("the database replaced by an older copy", replace("defaults.db", lambda path: None)),
    Fault("the write-ahead log replaced by a copy", replace("defaults.db-wal", lambda path: None)),
]
NO_PARENT = Fault("the directory and its parent removed, and not to be made", remove_parent, make_parent,
                  skipped=ONLY_ROOT)


def limit_descriptors(victim: Victim) -> None:
    """No more files are to be opened than are open."""
    set_descriptor_limit(victim, len(list(pathlib.Path(f"/proc/{victim.daemon.pid}/fd").iterdir())))


def free_descriptors(victim: Victim) -> None:
    set_descriptor_limit(victim, 1024)


def set_descriptor_limit(victim: Victim, number: int) -> None:
    # As its own user: another one's limits take a capability that root may not have.
    victim.desktop.run("prlimit", f"--pid={victim.daemon.pid}", f"--nofile={number}:")


DESCRIPTORS = Fault("no file descriptor left", limit_descriptors, free_descriptors)


def mount_read_only(victim: Victim) -> None:
    """The file system of the database, bound to its place once more, for reading only."""
    config = victim.desktop.config
    for options in ("bind", "remount,bind,ro"):
        subprocess.run(["mount", "-o", options, config, config], check=True)


def unmount(victim: Victim) -> None:
    # The daemon has files open there.
    subprocess.run(["umount", "--lazy", victim.desktop.config], check=True)


READ_ONLY = Fault("a read-only file system at the start", mount_read_only, unmount,
                  skipped=ONLY_ROOT)
