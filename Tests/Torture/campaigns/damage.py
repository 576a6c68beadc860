"""Databases that are damaged in every way, while a daemon runs or between two.

A trial fills a database whose every value is known, damages its files, and has a daemon serve what
there is. Whatever is not as it was must be told of, and what was removed must stay away.
"""

import math
import pathlib
import re
import signal
import sqlite3
import subprocess
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from clients import MAINTENANCE, Refused
from desktop import Desktop, Ended
from ground import Ground, Outcome
from messages import GLib
from privatebus import ERROR

NAME = "damage"
FAULTS = "a damaged database or log: cut, zeroed, flipped, replaced, gone, of another schema or time"
INJECTIONS = ("silent-loss",)

HERE = pathlib.Path(__file__).parent
PAGE = 4096
EARLIER_LOG = "earlier-log"
DOMAINS = [f"org.example.Damage{number}" for number in range(4)]
SPARE = "org.example.Spare"
"""A domain that is removed right after the damage. Its keys are not counted."""

TOLD = re.compile(
    r"(\d+) keys? (?:with (?:an )?unknown names? )?"
    r"(?:(?:is|are|was|were) (?:lost|taken from)|(?:has|have) an earlier value)")

UNTOLD = "only in it are lost", "Changes after that backup", "If there were other keys"
"""Sentences for losses that nobody can count."""

ENDS = {
    "closed": "ended in order", "killed": "killed", "running": "running",
    "rebooted": "killed, and the machine started again",
    "closed-rebooted": "ended in order, and the machine started again"}


@dataclass(frozen=True)
class Damage:
    """What is done to the files of a database, and whether a daemon may refuse to serve then."""

    name: str
    apply: Callable
    is_refused: bool = False
    ends: tuple[str, ...] = ("closed", "killed", "running")


def run(ground: Ground) -> list[Outcome]:
    outcomes = []
    subprocess.run(
        ["cc", "-std=c11", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror",
         HERE.parent / "c/boot.c", "-o", ground.directory / "boot.so"], check=True)
    for damage in DAMAGES:
        outcome = Outcome(damage.name, 0)
        outcomes.append(outcome)
        repaired = 0
        for number in range(ground.scale(1, 100)):
            outcome.trials += 1
            trial = Trial(
                ground, damage, ground.random.choice(damage.ends), ground.random.random() < 0.5)
            try:
                repaired += trial.take()
            except (Ended, Refused, TimeoutError, AssertionError) as error:
                outcome.findings.append(f"{trial.words}: {error or type(error).__name__}")
                if len(outcome.findings) >= 3:
                    break
        outcome.note = f"{repaired} repairs"
        ground.say(f"{damage.name}: {outcome.words}")
        if ground.inject and outcome.findings:
            break
    return outcomes


class Trial:
    """One database, one damage."""

    def __init__(self, ground: Ground, damage: Damage, end: str, has_backup: bool):
        self.ground, self.chance, self.damage = ground, ground.random, damage
        self.end, self.has_backup = end, has_backup
        self.held: dict[tuple[str, str], int] = {}
        self.removed: set[tuple[str, str]] = set()
        self.words = f"{damage.name}, {ENDS[end]}, {'with' if has_backup else 'without'} a backup"

    def take(self) -> int:
        """Carries the trial out; 1 if the store was rebuilt."""
        with Desktop(self.ground, is_in_memory=True) as desktop:
            self.desktop = desktop
            try:
                return self._take()
            finally:
                self.log = desktop.daemon.log() if desktop.daemon else ""
                desktop.close()
                desktop.forget()

    def _take(self) -> int:
        desktop = self.desktop
        self._boot()
        desktop.start()
        self.client = desktop.connect()
        self._fill(rounds=2)
        (desktop.config / EARLIER_LOG).write_bytes(
            (desktop.data / "defaults.db-wal").read_bytes())
        if self.has_backup:
            self.client.call("BackUp", interface=MAINTENANCE)
        self._fill(rounds=1)
        if not self.has_backup:
            self._remove_backups()
        if self.end.startswith("closed"):
            assert desktop.daemon.end(signal.SIGTERM) == 0
        elif self.end in ("killed", "rebooted"):
            desktop.daemon.end(signal.SIGKILL)
        if self.end.endswith("rebooted"):
            desktop.forget_session()
            self._boot()
        store = desktop.data / "defaults.db"
        before = {file.name: file.read_bytes() for file in desktop.data.glob("defaults.db*")}
        self.damage.apply(store, self.chance)
        if self.damage.is_refused:
            return self._expect_refusal(before)
        if self.end != "running":
            desktop.start()
        self.client.call("RemoveDomain", "(s)", SPARE)
        told = self._read_until_sound()
        self._judge(told)
        # A daemon that ran may have needed nothing of what was damaged, and the next one finds it.
        desktop.restart()
        self._judge(self._read_until_sound())
        # What was mended stays so.
        self.client.call("SetValue", "(ssv)", DOMAINS[0], "after", GLib.Variant("x", 1))
        self.client.call("Synchronize")
        last = self.client.statistics()["LastRescueTime"]
        desktop.restart()
        assert self.client.statistics()["LastRescueTime"] == last, (
            "it was made anew twice: "
            + "".join(file.read_text() for file in sorted(desktop.directory.glob("log-*"))))
        assert self.client.call("GetValue", "(ss)", DOMAINS[0], "after")[0] == 1
        for domain in DOMAINS:
            self.client.call("RemoveDomain", "(s)", domain)
        assert not self._read(), "RemoveDomain has left keys"
        assert not last or self.damage.apply is not nothing, f"a false alarm: {last}"
        return 1 if last else 0

    def _boot(self) -> None:
        """Has the daemons from now on find themselves in another boot than those before."""
        boot = self.desktop.directory / "boot-id"
        boot.write_text(f"{uuid.UUID(int=self.chance.getrandbits(128))}\n")
        self.desktop.environment |= {
            "LD_PRELOAD": str(self.ground.directory / "boot.so"), "BOOT_ID": str(boot)}

    def _remove_backups(self) -> None:
        """Removes the daily one, when it is made."""
        self.desktop.wait_until(lambda: self.client.statistics()["Backups"] > 0)
        for file in (self.desktop.data / "backups").iterdir():
            file.unlink()

    def _expect_refusal(self, before: dict[str, bytes]) -> int:
        store = self.desktop.data / "defaults.db"
        damaged = store.read_bytes()
        daemon = self.desktop.start(serves=False)
        status = daemon.wait()
        assert status == 65, f"exit status {status}, expected 65: {daemon.log()}"
        assert store.read_bytes() == damaged, "the file was not left as it was"
        return 0

    # What is stored

    def _fill(self, rounds: int) -> None:
        """Sets, changes and removes keys, and has all of it on disk."""
        for _ in range(rounds):
            self.client.call("SetValue", "(ssv)", SPARE, "key", GLib.Variant("x", 1))
            for domain in DOMAINS:
                pairs = {}
                for _ in range(25):
                    number = self.chance.randrange(1, 1 << 40)
                    key = f"key{self.chance.randrange(80)}"
                    size = self.chance.choice([0, 10, 100, 1000, 20_000])
                    pairs[key] = GLib.Variant("(xs)", (number, "x" * size))
                    self.held[domain, key] = number
                    self.removed.discard((domain, key))
                gone = [key for at, key in self.held if at == domain and key not in pairs]
                gone = self.chance.sample(gone, min(len(gone), 3))
                self.client.call(
                    "ApplyValues", "(sa{sv}asa{st}a{sv})", domain, pairs, gone, {}, {})
                for key in gone:
                    del self.held[domain, key]
                    self.removed.add((domain, key))
            self.client.call("Synchronize")

    def _read(self) -> dict[tuple[str, str], int]:
        """All that there is, read by several ways; what differs between them is a fault."""
        found = {}
        for domain in DOMAINS:
            for key in self.client.call("ListKeys", "(s)", domain)[0]:
                try:
                    found[domain, key] = self.client.call("GetValue", "(ss)", domain, key)[0][0]
                except Refused as refused:
                    # The store was rebuilt between the two.
                    assert refused.name == ERROR + "NotFound", f"{domain} {key}: {refused}"
        return found

    def _read_until_sound(self) -> int:
        """Reads, and has the daemon look at every row, until that finds nothing.

        Returns how many keys the daemon says are not as they were.
        """
        told = None
        for _ in range(5):
            self._read()
            try:
                self.client.call("BackUp", interface=MAINTENANCE)
            except Refused as refused:
                assert "damaged" in refused.message, refused
                self.desktop.wait_until(
                    lambda: self.client.statistics()["LastRescue"] not in (told, ""))
                told = self.client.statistics()["LastRescue"]
                continue
            statistics = self.client.statistics()
            report = statistics["LastRescue"]
            if self.ground.inject == "silent-loss":
                report = ""
            if any(words in report for words in UNTOLD):
                return math.inf
            return sum(int(number) for number in TOLD.findall(report))
        raise AssertionError(f"it is damaged again and again: {self.desktop.daemon.log()}")

    def _judge(self, told: int) -> None:
        found = self._read()
        differing = sorted(
            name for name, number in self.held.items() if found.get(name) != number)
        # A backup may know nothing of removals that came after it.
        back = sorted(self.removed & found.keys())
        assert len(differing) + len(back) <= told, (
            f"{len(differing)} keys are not as they were, {len(back)} are back, and {told} are told "
            f"of: {differing[:5]} {back[:5]}; {self.desktop.daemon.log()}")
        for name in found.keys() - self.held.keys() - self.removed - {(DOMAINS[0], "after")}:
            raise AssertionError(f"nobody has ever set {name}")


# The damages

def cut(store, chance):
    size = store.stat().st_size
    with store.open("r+b") as file:
        file.truncate(chance.choice([chance.randrange(size), PAGE * chance.randrange(size // PAGE)]))


def zero(store, chance):
    pages = store.stat().st_size // PAGE
    with store.open("r+b") as file:
        for _ in range(chance.choice([1, 1, 3])):
            file.seek(PAGE * chance.randrange(pages))
            file.write(bytes(PAGE))


def zero_first(store, chance):
    with store.open("r+b") as file:
        file.write(bytes(PAGE))


def flip(store, chance):
    _flip(store, chance, chance.choice([1, 1, 10, 100]))


def flip_log(store, chance):
    log = store.with_name("defaults.db-wal")
    _flip(log, chance, chance.choice([1, 1, 10]))


def _flip(path, chance, count):
    data = bytearray(path.read_bytes())
    for _ in range(count):
        # A flip in the first hundred bytes may make it one of another version, which is refused.
        data[chance.randrange(100, len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def replace_log(change):
    """Damages the log: `change` gets its bytes and returns the new bytes."""
    def apply(store, chance):
        log = store.with_name("defaults.db-wal")
        log.write_bytes(change(bytearray(log.read_bytes()), chance))
    return apply


def zero_log_header(log, chance):
    log[:32] = bytes(32)
    return log


def flip_log_header(log, chance):
    # What the header counts for itself, the number of its checkpoint, is covered by its checksum.
    log[chance.randrange(32)] ^= 1 << chance.randrange(8)
    return log


def zero_last_frame(log, chance):
    frame = PAGE + 24
    log[-frame:] = bytes(frame)
    return log


def nothing(store, chance):
    pass


def old_log(store, chance):
    store.with_name("defaults.db-wal").write_bytes(
        (store.parent.parent / EARLIER_LOG).read_bytes())


def noise(store, chance):
    with store.open("r+b") as file:
        file.seek(chance.randrange(store.stat().st_size))
        file.write(chance.randbytes(chance.choice([16, 512, 3 * PAGE])))


def empty(store, chance):
    store.write_bytes(b"")


def replace(store, chance):
    store.write_text("no database\n" * 100)


def remove_file(store, chance):
    store.unlink()


def remove_log(store, chance):
    store.with_name("defaults.db-wal").unlink(missing_ok=True)


def remove_all(store, chance):
    for file in store.parent.glob("defaults.db*"):
        file.unlink()


def schema(store, chance):
    _execute(store, chance.choice([
        "DROP TABLE state", "DELETE FROM state", "ALTER TABLE entries RENAME TO others",
        "ALTER TABLE domains DROP COLUMN horizon", "DROP TABLE tokens",
        "DROP INDEX entries_by_generation", "PRAGMA user_version = 1",
        "PRAGMA application_id = 7", "UPDATE state SET uuid = x'00'",
        "UPDATE domains SET key_count = 1000000", "DELETE FROM domains"]))


def rows(store, chance):
    """Removes rows and leaves the counts, or the other way round."""
    count = chance.choice([-1 << 63, -1, 0, 1, (1 << 63) - 1])
    _execute(store, chance.choice([
        "DELETE FROM entries", "DELETE FROM entries WHERE id % 3 = 0",
        f"UPDATE domains SET key_count = {count}", f"UPDATE domains SET key_bytes = {count}"]))


def newer(store, chance):
    _execute(store, f"PRAGMA user_version = {chance.choice([99, 1000])}")


def foreign(store, chance):
    remove_all(store, chance)
    with closing(sqlite3.connect(store)) as connection:
        connection.executescript("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")


def _execute(store, sql):
    with closing(sqlite3.connect(store)) as connection:
        connection.executescript("PRAGMA foreign_keys = OFF;" + sql)


STILL = ("closed", "killed")
KILLED = ("killed", "rebooted")
DAMAGES = [
    Damage("the file is cut off", cut), Damage("pages are zero", zero),
    Damage("the first page is zero", zero_first), Damage("bits are flipped", flip),
    Damage("noise is written over it", noise), Damage("the file is empty", empty, ends=STILL),
    Damage("the file is something else", replace, ends=STILL),
    Damage("a log without its database", remove_file, ends=("killed",)),
    Damage("a database without its log", remove_log, ends=KILLED),
    Damage("bits of the log are flipped", flip_log, ends=KILLED),
    Damage("the log is zero", replace_log(lambda log, _: bytes(len(log))), ends=KILLED),
    Damage("the header of the log is zero", replace_log(zero_log_header), ends=KILLED),
    Damage("a bit of the log's header is flipped", replace_log(flip_log_header), ends=KILLED),
    Damage("the log is cut off", replace_log(
        lambda log, chance: log[:chance.choice([0, 10, 32, 100])]), ends=KILLED),
    Damage("the log is a text", replace_log(
        lambda _, chance: b"no log at all\n" * chance.choice([1, 1000])), ends=KILLED),
    Damage("the log is zeros of another size", replace_log(
        lambda _, chance: bytes(chance.choice([1, 32, 1 << 24]))), ends=KILLED),
    Damage("the last frame of the log is zero", replace_log(zero_last_frame), ends=KILLED),
    Damage("the log is an old one", old_log, ends=(*KILLED, "closed", "closed-rebooted")),
    Damage("nothing is damaged", nothing,
           ends=(*KILLED, "closed", "closed-rebooted")),
    Damage("all of it is gone", remove_all, ends=STILL),
    Damage("the schema is wrong", schema, ends=STILL),
    Damage("the counts do not fit the rows", rows, ends=STILL),
    Damage("the schema is newer", newer, is_refused=True, ends=("closed",)),
    Damage("it is another program's", foreign, is_refused=True, ends=("closed",)),
]
