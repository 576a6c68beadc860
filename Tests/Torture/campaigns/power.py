"""The power cut: the database as it would be had the machine lost all that was not synchronised.

The daemon lives a life while strace tells what it does to the directory of the database. For every
moment of that, after each call that changes something there, the directory is rebuilt as a disk may
have left it; a daemon starts on it as in another boot, with the runtime directory empty.
"""

import pathlib
import random
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from desktop import Desktop, Ended
from ground import Ground, Outcome
from ledger import APPLY, Book, Change, Found, Ledger
from recording import (
    NAMED, STRICT, WHOLE, WRITTEN, Cut, Event, Tree, Unknown, events, put, recorder, taken, torn)
from stepper import choice

NAME = "power"
FAULTS = "power cut after every change of the database's directory, with reordered and torn writes"
INJECTIONS = ("no-fsync",)

HERE = pathlib.Path(__file__).resolve().parent
FIRST, SECOND, AFTER = (f"org.example.Torture.{name}" for name in ("First", "Second", "After"))
LARGE = 3_000_000
"""Bytes of a text of which some make the log be folded back and begun anew."""

WINDOW = 2
"""Seconds after the first change in which its write begins at the latest."""

TOLERANCE = 2
"""Seconds by which a busy machine, or strace, may make that later."""

PAGE = "counters"
"""A mapped file, of which no call tells what is in it."""


def run(ground: Ground) -> list[Outcome]:
    try:
        subprocess.run(recorder(ground.directory / "tried") + ["true"], check=True,
                       capture_output=True)
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        return [Outcome(FAULTS, 0, skipped=f"strace cannot trace here: {error}")]
    boot = ground.directory / "boot.so"
    subprocess.run(
        ["cc", "-std=c11", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror",
         HERE.parent / "c/boot.c", "-o", boot], check=True)
    with Desktop(ground) as desktop:
        return [Cuts(ground, desktop, boot, story).outcome() for story in STORIES]


@dataclass
class Sent:
    """When a change was sent and replied: sizes of the log, and a time."""

    change: Change
    sent: int
    replied: int = 0
    time: float = 0


class Life:
    """A life of the daemon that is recorded, and what was acknowledged when."""

    def __init__(self, ground: Ground, desktop: Desktop, environment: dict[str, str]):
        self.ground, self.desktop, self.environment = ground, desktop, environment
        self.log = ground.directory / "calls"
        self.log.unlink(missing_ok=True)
        self.client = desktop.connect()
        self.ledger = Ledger(random.Random(1))
        self.sent: list[Sent] = []
        self.durable: list[tuple[int, int]] = []
        """Sizes of the log, and how many of the changes were on disk by then."""

    @property
    def now(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def start(self) -> None:
        self.desktop.start(
            wrapper=recorder(self.log) + ["--output-append-mode"], environment=self.environment)

    def change(self, domain: str, *keys: str, **how) -> None:
        """Makes a change that sets these keys."""
        self.make(self.ledger.note(domain, keys, **how))

    def draw(self, domain: str) -> None:
        """Makes a change that is drawn by chance."""
        self.make(self.ledger.change(domain, largest=20_000))

    def make(self, change: Change) -> None:
        record = Sent(change, self.now)
        self.sent.append(record)
        call = change.send(self.client)
        self.desktop.wait_until(lambda: call.answer is not None)
        if not isinstance(call.answer, tuple):
            raise call.answer
        record.replied, record.time = self.now, time.time()
        self.ledger.acknowledge(change, call.answer[0])
        if change.is_durable:
            self.note_durable()

    def synchronize(self) -> None:
        self.client.call("Synchronize")
        self.note_durable()

    def note_durable(self) -> None:
        """Says that everything sent so far is on disk."""
        self.durable.append((self.now, len(self.sent)))

    def end(self, number: int = signal.SIGTERM) -> None:
        """Ends the daemon; where it ends cleanly, everything is on disk."""
        status = self.desktop.daemon.end(number)
        if number == signal.SIGTERM:
            if status != 0:
                raise Found(f"the daemon ended with {status}: {self.desktop.daemon.log()}")
            self.note_durable()

    def ledger_at(self, moment: int, chance: random.Random) -> tuple[Ledger, list[Sent]]:
        """What must hold after a cut at that size of the log, and what had been replied."""
        count = max((count for at, count in self.durable if at <= moment), default=0)
        sent = [record for record in self.sent if record.sent < moment]
        for place, record in enumerate(sent):
            record.change.is_acknowledged = place < count
        replied = [record for record in sent if 0 < record.replied <= moment]
        ledger = Ledger(chance)
        ledger.highest = max((record.change.generation for record in replied), default=0)
        ledger.owners = {record.change.generation: record.change for record in replied}
        for domain in (FIRST, SECOND):
            changes = [record.change for record in sent if record.change.domain == domain]
            tokens = [change for change in changes if change.token and change.is_acknowledged]
            ledger.books[domain] = Book(
                domain, sent=changes, with_token=tokens,
                known=self.known(changes, replied, chance))
        return ledger, replied

    def known(
        self, changes: list[Change], replied: list[Sent], chance: random.Random
    ) -> tuple[int, dict[str, str]]:
        """A state of a domain that a client may have seen before the cut."""
        seen = [place for place, change in enumerate(changes)
                if any(record.change is change for record in replied)]
        if not seen:
            return 0, {}
        contents, last = {}, chance.choice(seen)
        for change in changes[:last + 1]:
            contents = change.applied_to(contents)
        return changes[last].generation, {key: text for key, (text, _) in contents.items()}


class Cuts:
    """Power cuts in one life."""

    def __init__(
        self, ground: Ground, desktop: Desktop, boot: pathlib.Path, story: Callable[[Life], None]
    ):
        self.ground, self.desktop, self.story = ground, desktop, story
        self.boot, self.boot_id = boot, ground.directory / "boot-id"
        self.environment = {"XDG_RUNTIME_DIR": ""} if story is no_runtime_directory else {}
        self.seen: set = set()
        self.trials = 0
        self.oldest = 0.0
        self.longest_flush = 0.0

    def outcome(self) -> Outcome:
        outcome = Outcome(f"power cut in {self.story.__doc__}", 0)
        self.desktop.forget_all()
        life = Life(self.ground, self.desktop, self.environment)
        try:
            self.story(life)
            moments = self.moments(life)
            self.cut_at(self.chosen(moments), life)
            outcome.note = (f"{len(moments)} moments; the oldest acknowledged change that was lost "
                            f"was {self.oldest:.1f} s old")
        except (Found, Unknown) as found:
            outcome.findings.append(str(found))
        finally:
            for daemon in self.desktop.daemons:
                daemon.end()
            life.client.close()
        outcome.trials = self.trials
        self.ground.say(f"{self.story.__name__}: {self.trials} cuts, {outcome.note}")
        return outcome

    def moments(self, life: Life) -> list[str]:
        """All that changed the directory; checks that it explains what is there."""
        tree, found, began = Tree(self.desktop.config), [], None
        for event in events(life.log):
            what = tree.follow(event)
            if what is None:
                continue
            found.append(what)
            if what == "pwrite defaults.db-wal" and began is None:
                began = event.time
            elif what.endswith("sync defaults.db-wal") and began is not None:
                self.longest_flush = max(self.longest_flush, event.time - began)
                began = None
        if _without_page(WHOLE.image(tree.root)) != _without_page(taken(self.desktop.config)):
            raise Unknown("the recorded calls do not make what is on the disk")
        return found

    def chosen(self, moments: list[str]) -> set[int]:
        """The numbers of the moments to cut at."""
        numbers = choice([f"after {what}" for what in moments], 1)
        if self.ground.thorough:
            return set(numbers)
        return set(self.ground.random.sample(numbers, min(len(numbers), 5)))

    def cut_at(self, numbers: set[int], life: Life) -> None:
        """Follows the life once more, and cuts at these moments in every way."""
        tree, number = Tree(self.desktop.config), 0
        for event in events(life.log):
            if self.ground.inject == "no-fsync" and _synchronizes_log(event):
                continue
            what = tree.follow(event)
            if what is None:
                continue
            number += 1
            if number not in numbers:
                continue
            ways = [STRICT, NAMED, WRITTEN] if self.ground.thorough else [STRICT]
            ways += [torn(self.ground.random) for _ in range(self.ground.scale(1, 4))]
            for way in ways:
                try:
                    self.cut(way, tree, event, life)
                except (Found, Ended) as found:
                    raise Found(f"cut after {what} (moment {number} of {self.story.__name__}), "
                                f"of what was not synchronised {way.name} is left: {found}"
                                ) from None

    def cut(self, way: Cut, tree: Tree, event: Event, life: Life) -> None:
        """Starts a daemon on what a cut leaves, and judges."""
        image = way.image(tree.root)
        ledger, replied = life.ledger_at(event.end, self.ground.random)
        required = [change.number for book in ledger.books.values() for change in book.sent
                    if change.is_acknowledged]
        # The same files, of which the same is expected, need not be looked at again.
        mark = repr(image), len(required), ledger.highest
        if mark in self.seen:
            return
        self.seen.add(mark)
        self.trials += 1
        self.desktop.forget_all()
        put(image, self.desktop.config)
        self.boot_id.write_text(f"{uuid.UUID(int=self.ground.random.getrandbits(128))}\n")
        self.desktop.start(environment=self.environment | {
            "LD_PRELOAD": str(self.boot), "BOOT_ID": str(self.boot_id)})
        floor = max((change.generation for book in ledger.books.values() for change in book.sent
                     if change.is_acknowledged), default=0)
        # A journal on the disk may have lost a record and kept the next.
        ledger.judge(
            life.client, in_order=self.story is not no_runtime_directory, floor=floor)
        self.count_on(ledger, life)
        self.desktop.daemon.end()
        if way is STRICT:
            self.look_at_window(ledger, replied, event)

    def count_on(self, ledger: Ledger, life: Life) -> None:
        """Makes a change, whose generation is above all that were replied before the cut."""
        change = ledger.note(AFTER, ["key0"])
        ledger.acknowledge(change, life.client.call("ApplyValues", APPLY, *change.arguments)[0])

    def look_at_window(self, ledger: Ledger, replied: list[Sent], event: Event) -> None:
        """Checks that nothing is lost that is older than the time within which it is written."""
        missing = {change for book in ledger.books.values() for change in book.missing}
        lost = [record for record in replied if record.change in missing]
        if not lost:
            return
        age = event.time - min(record.time for record in lost)
        self.oldest = max(self.oldest, age)
        if age > WINDOW + TOLERANCE + 2 * self.longest_flush:
            raise Found(f"{lost[0].change} was lost {age:.1f} s after it was acknowledged, and the "
                        f"longest flush took {self.longest_flush:.1f} s")


def _synchronizes_log(event: Event) -> bool:
    return event.name in ("fsync", "fdatasync") and event.arguments.endswith(
        "".join(f"\\x{byte:02x}" for byte in b"defaults.db-wal") + ">")


def _without_page(image: dict) -> dict:
    return {name: _without_page(content) if isinstance(content, dict) else content
            for name, content in image.items() if name != PAGE}


# The lives


def ordinary(life: Life) -> None:
    """a life with flushes, restarts and a kill"""
    life.start()
    life.change(FIRST, "key0", "key1")
    life.change(SECOND, "key0")
    life.synchronize()
    for domain in (FIRST, SECOND) * 4:
        life.draw(domain)
    life.change(FIRST, "key0", "key4", has_token=True)
    life.change(FIRST, "key2", "key3", is_durable=True)
    for domain in (FIRST, SECOND) * 2:
        life.draw(domain)
    life.end()
    life.start()
    life.change(SECOND, "key0", "key5", length=20_000)
    life.synchronize()
    life.change(FIRST, "key0", "key1", length=20_000)
    life.change(SECOND, "key0", "key1", has_token=True)
    life.end(signal.SIGKILL)
    life.start()
    life.change(SECOND, "key1", "key2")
    life.synchronize()
    for domain in (FIRST, SECOND) * 2:
        life.draw(domain)
    life.end()


def large(life: Life) -> None:
    """a life with large values: the log is folded back and begun anew"""
    life.start()
    life.change(FIRST, "key0", "key1")
    life.synchronize()
    for key in ("key1", "key2"):
        life.change(FIRST, key, length=LARGE)
        life.change(SECOND, "key0", "key1")
        life.synchronize()
    for _ in range(3):
        life.change(SECOND, "key0", "key1", length=100)
        life.synchronize()
    life.change(FIRST, "key1", "key2")
    life.change(SECOND, "key1", "key2")
    life.end()


def steady(life: Life) -> None:
    """a life in which nobody asks for the disk"""
    life.start()
    end = time.monotonic() + life.ground.scale(3, 15)
    while time.monotonic() < end:
        for domain in (FIRST, SECOND):
            life.draw(domain)
        # A writer who takes his time, but less than a quiet period.
        life.desktop.pass_time(0.05)
    life.end()


def no_runtime_directory(life: Life) -> None:
    """a life without a runtime directory: the journal stands on the disk"""
    ordinary(life)


STORIES = (ordinary, large, steady, no_runtime_directory)
