"""Space: what is removed is given back to the disk, and a full disk is healed by removing.

A greedy program fills the database, or makes very many domains and tokens, and the user removes what
it has made. The trials look at the files from outside: the database and its backups must be small
again, while all that others have stored is kept.
"""

import contextlib
import os
import signal
import sqlite3
import subprocess

from gi.repository import GLib

from clients import MAINTENANCE, Refused
from faults import NOBODY, Faults
from ground import Ground, Outcome
from privatebus import NAME as NAME_ON_BUS, OBJECT
from trials import ONLY_ROOT, Fault, Trials, fill, nothing, on_disk
from victim import LIMITS_EXCEEDED, NOT_DURABLE, Victim, check

NAME = "space"
FAULTS = "programs that fill the disk, the database or its tables, and what is removed of that"
INJECTIONS = ("nothing-returned", "no-reserve", "no-free-disk", "row-lost-in-tidying", "not-erased")
"""See BROKEN."""

GREEDY = "org.example.Greedy"
MIB = 1 << 20
SMALL = 2 * MIB
"""More than all takes up that is kept, with an empty log."""
MOST_DOMAINS = 2048
"""Empty domains of which the database may know."""
MOST_TOKENS = 16_384
FORGOTTEN_AT_ONCE = 1024
"""By how many tokens there may be more before it is looked at."""
MARKER = b"nobody may find this"


def run(ground: Ground) -> list[Outcome]:
    trials = Trials(ground, Faults(ground))
    if ground.inject:
        trials.take(*BROKEN[ground.inject])
        return trials.all
    trials.take(GREEDY_ON_SMALL, refused_in_time)
    trials.take(FULL, healed)
    trials.take(FULL, healed_after_a_start, is_quick=False)
    trials.take(FULL_OF_SMALL, healed_of_small)
    trials.take(LARGE, shrunk)
    trials.take(LARGE, killed_while_shrinking)
    trials.take(NUMEROUS, killed_while_shrinking)
    trials.take(LARGE, erased)
    trials.take(MANY, forgotten)
    trials.take(ASKING, kept_apart)
    return trials.all


# How a trial goes on

def refused_in_time(victim: Victim, fault: Fault) -> None:
    """The greedy program is refused while there is space for all others."""
    if victim.desktop.ground.inject == "no-free-disk":
        let_fill(victim)
    victim.synchronize()
    for number in range(200):
        try:
            greedily_set(victim, number, 2 * MIB)
        except Refused as refused:
            check(refused.name == LIMITS_EXCEEDED, "LimitsExceeded", refused)
            break
        check(not is_full(victim), "space for others to be left", "the disk is full")
    else:
        check(False, "a refusal", "there is none")
    for number in range(20):
        victim.expect_taken(f"after the refusal {number}")
    check(not is_full(victim), "space for others to be left", "the disk is full")
    victim.client.call("RemoveDomain", "(s)", GREEDY)
    expect_small(victim)
    on_disk(victim)


def healed(victim: Victim, fault: Fault) -> None:
    """The greedy program's values are removed, and all is on disk, though that was full."""
    fault.begin(victim)
    fill_until_refused(victim)
    heal(victim)


def healed_after_a_start(victim: Victim, fault: Fault) -> None:
    """The same by a daemon that has found the disk full."""
    fault.begin(victim)
    fill_until_refused(victim)
    victim.restart()
    heal(victim)


def healed_of_small(victim: Victim, fault: Fault) -> None:
    """The same where the values are small and very many, so that each page has several."""
    fault.begin(victim)
    fill_with_small(victim)
    heal(victim)


def heal(victim: Victim) -> None:
    if victim.desktop.ground.inject == "no-reserve":
        (victim.desktop.data / "reserve").unlink()
        fill("config")(victim)
    victim.client.call("RemoveDomain", "(s)", GREEDY)
    victim.expect_taken("after the removal")
    victim.synchronize()
    victim.expect_recovery()
    expect_small(victim)
    victim.wait_until(lambda: (victim.desktop.data / "reserve").exists())
    on_disk(victim)
    expect_gone(victim)


def shrunk(victim: Victim, fault: Fault) -> None:
    """Database and backups are small again."""
    fault.begin(victim)
    take_much(victim)
    victim.client.call("RemoveDomain", "(s)", GREEDY)
    victim.synchronize()
    if victim.desktop.ground.inject == "nothing-returned":
        take_much(victim)
    expect_small(victim)
    name = back_up(victim)
    size = (victim.desktop.data / "backups" / f"{name}.db").stat().st_size
    check(size < SMALL, "a small backup", f"one of {size} bytes")
    on_disk(victim)
    expect_gone(victim)


def killed_while_shrinking(victim: Victim, fault: Fault) -> int:
    """Killed at some moment while all is removed, nothing is lost, and the next goes on."""
    fault.begin(victim)
    rounds = victim.desktop.ground.scale(2, 40)
    for number in range(rounds):
        take_many(victim, 5_000) if fault is NUMEROUS else take_much(victim)
        victim.expect_taken(f"round {number}", size=3000)
        victim.client.call("RemoveDomain", "(s)", GREEDY)
        victim.synchronize()
        victim.desktop.pass_time(victim.random.random() / 20)
        victim.restart_elsewhere()
        if victim.desktop.ground.inject == "row-lost-in-tidying":
            victim.daemon.end()
            with contextlib.closing(sqlite3.connect(victim.desktop.data / "defaults.db")) as store:
                store.execute("DELETE FROM entries WHERE key = 'round 0'")
                store.commit()
            victim.start()
        victim.expect_all()
        expect_gone(victim)
    victim.expect_taken("the last")
    victim.synchronize()
    expect_small(victim)
    return rounds


def erased(victim: Victim, fault: Fault) -> None:
    """What was removed cannot be found in the files after an orderly end, or the end of the next."""
    for is_killed in (False, True):
        for number in range(100):
            victim.client.call("SetValue", "(ssv)", GREEDY, f"Key{number}",
                               GLib.Variant("s", MARKER.decode().rjust(60_000, ".")))
        victim.expect_taken("kept")
        victim.synchronize()
        victim.restart(signal.SIGTERM)
        victim.client.call("RemoveDomain", "(s)", GREEDY)
        if is_killed:
            victim.synchronize()
            victim.restart()
        status = victim.daemon.end(signal.SIGTERM)
        check(status == 0, "exit status 0", status)
        if victim.desktop.ground.inject == "not-erased":
            (victim.desktop.data / "defaults.db-journal").write_bytes(MARKER)
        found = [file.name for file in victim.desktop.data.glob("defaults.db*")
                 if MARKER in file.read_bytes()]
        check(not found, "the removed values to be nowhere", found)
        victim.start()
        victim.expect_all()
    on_disk(victim)


def forgotten(victim: Victim, fault: Fault) -> None:
    """Domains that are made and removed, and tokens of no change, do not stay for ever."""
    count = victim.desktop.ground.scale(6_000, 100_000)
    pending = []
    for number in range(count):
        domain = f"org.example.Made{number}"
        pending.append(victim.client.begin(
            "SetValue", "(ssv)", domain, "Key", GLib.Variant("b", True)))
        pending.append(victim.client.begin("RemoveDomain", "(s)", domain))
        if number >= count // 2:
            pending.append(victim.client.begin(
                "ApplyValues", "(sa{sv}asa{st}a{sv})", f"org.example.Token{number}", {}, [], {},
                {"token": GLib.Variant("s", "token")}))
        if len(pending) > 500:
            victim.wait_until(lambda: all(call.answer is not None for call in pending))
            pending.clear()
    victim.wait_until(lambda: all(call.answer is not None for call in pending))
    victim.synchronize()
    back_up(victim)
    domains, tokens = rows(victim)
    most = MOST_TOKENS + FORGOTTEN_AT_ONCE
    check(tokens <= most, f"{most} tokens at most", tokens)
    check(domains < tokens + MOST_DOMAINS + 10, f"{MOST_DOMAINS} empty domains at most", domains)
    victim.expect_all()
    on_disk(victim)


def kept_apart(victim: Victim, fault: Fault) -> None:
    """Programs that ask for backups do not evict the one that the user has made by the tool."""
    own = back_up(victim)
    for number in range(10):
        victim.expect_taken(f"another {number}")
        as_user(victim, "gdbus", "call", "--session", "--dest", NAME_ON_BUS, "--object-path", OBJECT,
                "--method", f"{MAINTENANCE}.BackUp")
    names = [file.stem for file in (victim.desktop.data / "backups").glob("*.db")]
    check(own in names, f"the user's backup {own} to be there", names)
    check(sum(name.endswith("-program") for name in names) == 7, "seven of programs", names)


def back_up(victim: Victim) -> str:
    """The name of a backup that the user makes by the tool."""
    tool = victim.desktop.ground.programs / "defaultsctl"
    return as_user(victim, tool, "backup", "now").strip()


def as_user(victim: Victim, *command) -> str:
    return subprocess.run(
        [*victim.desktop.wrapper, *command], env=victim.desktop.environment,
        stdout=subprocess.PIPE, text=True, check=True).stdout


# What is judged

def expect_small(victim: Victim) -> None:
    """The database gets small, by itself and soon."""
    store = victim.desktop.data / "defaults.db"
    try:
        victim.wait_until(lambda: store.stat().st_size < SMALL)
    except TimeoutError:
        check(False, f"a database below {SMALL} bytes", f"one of {store.stat().st_size}")


def expect_gone(victim: Victim) -> None:
    domains, = victim.client.call("ListDomains")
    check(GREEDY not in domains, f"{GREEDY} to be gone", "it is there")


def rows(victim: Victim) -> tuple[int, int]:
    """The rows of domains and tokens in the newest backup."""
    newest = max((victim.desktop.data / "backups").glob("*.db"), key=os.path.getmtime)
    with contextlib.closing(sqlite3.connect(newest)) as backup:
        return tuple(backup.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                     for table in ("domains", "tokens"))


# The faults

def take_much(victim: Victim) -> None:
    """The greedy program stores 20 MiB."""
    for number in range(20):
        greedily_set(victim, number, MIB)
    victim.synchronize()


def take_many(victim: Victim, count: int) -> None:
    """The greedy program stores small values, in an order that mixes the pages of keys and values."""
    numbers = list(range(count))
    victim.random.shuffle(numbers)
    for first in range(0, count, 1000):
        values = {f"Key{number}": GLib.Variant("s", f"{number}".ljust(900, "."))
                  for number in numbers[first:first + 1000]}
        victim.client.call("ApplyValues", "(sa{sv}asa{st}a{sv})", GREEDY, values, [], {}, {})
        victim.expect_taken(f"after {first}")
        victim.synchronize()


def let_fill(victim: Victim) -> None:
    """No space is kept free on the disk."""
    as_user(victim, victim.desktop.ground.programs / "defaultsctl", "write", "org.defaultsd.Quotas",
            "*", "-dict", "FreeDisk", "-int", "0")


def greedily_set(victim: Victim, number: int, size: int) -> None:
    value = GLib.Variant("s", f"{number}".ljust(size, "."))
    victim.client.call("SetValue", "(ssv)", GREEDY, f"Key{number}", value)


def fill_until_refused(victim: Victim) -> None:
    """The greedy program takes all the space that there is, as it is let to."""
    let_fill(victim)
    victim.synchronize()
    victim.wait_until(lambda: (victim.desktop.data / "reserve").exists())
    for number in range(200):
        greedily_set(victim, number, 2 * MIB)
        if is_full(victim):
            break
    else:
        check(False, "the disk to be full", "it is not")
    fill("config")(victim)


def fill_with_small(victim: Victim) -> None:
    """The greedy program stores very many values, and others take the rest of the space."""
    let_fill(victim)
    victim.synchronize()
    victim.wait_until(lambda: (victim.desktop.data / "reserve").exists())
    take_many(victim, 30_000)
    fill("config")(victim)


def is_full(victim: Victim) -> bool:
    try:
        victim.client.call("Synchronize")
    except Refused as refused:
        check(refused.name == NOT_DURABLE, "NotDurable", refused)
        return True
    return False


def mount(victim: Victim) -> None:
    options = f"size=96m,mode=700,uid={NOBODY},gid={NOBODY}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", victim.desktop.config],
                   check=True)


FULL = Fault("a disk that is filled by a program", nothing, skipped=ONLY_ROOT, prepare=mount)
GREEDY_ON_SMALL = Fault("a program that would fill a disk", nothing, skipped=ONLY_ROOT,
                        prepare=mount)
FULL_OF_SMALL = Fault("a disk that is filled with small values", nothing, skipped=ONLY_ROOT,
                      prepare=mount)
LARGE = Fault("20 MiB stored and removed", nothing)
NUMEROUS = Fault("5 000 values stored and removed", nothing)
MANY = Fault("domains made and removed, and tokens of no change", nothing)
ASKING = Fault("a program that asks for backups", nothing)

BROKEN = {
    "nothing-returned": (LARGE, shrunk), "no-reserve": (FULL, healed),
    "no-free-disk": (GREEDY_ON_SMALL, refused_in_time),
    "row-lost-in-tidying": (LARGE, killed_while_shrinking), "not-erased": (LARGE, erased),
}
"""The trial that a break is in."""
