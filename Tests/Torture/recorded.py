"""Lives of the daemon that are recorded, with what was acknowledged when."""

import random
import signal
import time
from dataclasses import dataclass, replace

from changes import Book, Change, Contents
from desktop import Desktop
from ground import Ground
from ledger import Found, Ledger
from recording import Image, recorder

FIRST, SECOND = "org.example.Torture.First", "org.example.Torture.Second"
LARGE = 3_000_000
"""Bytes of a text of which some cause a checkpoint and a restart of the log."""


@dataclass
class Sent:
    """When a change was sent and replied: sizes of the log, and a time."""

    change: Change
    sent: int
    replied: int = 0
    time: float = 0


class RecordedLife:
    """A life of the daemon that is recorded, and what was acknowledged when."""

    def __init__(
        self, ground: Ground, desktop: Desktop, environment: dict[str, str], image: Image = {},
        ledger: Ledger | None = None
    ):
        """A life that begins with what an image holds, which the ledger knows."""
        self.ground, self.desktop, self.environment = ground, desktop, environment
        self.image = image
        self.log = ground.memory / "calls"
        self.log.unlink(missing_ok=True)
        self.client = desktop.connect()
        self.ledger = ledger or Ledger(random.Random(1))
        self.before: dict[str, Contents] = {}
        self.highest_before = 0
        self.sent: list[Sent] = []
        self.durable: list[tuple[int, int]] = []
        """Sizes of the log, and how many of the changes were on disk by then."""

    @property
    def now(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def look(self) -> None:
        """Finds out what the image holds, which no later cut may change."""
        self.ledger.judge(self.client, floor=0)
        self.before = {domain: book.contents for domain, book in self.ledger.books.items()}
        self.highest_before = self.ledger.highest

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

    def ledger_at(self, moment: int, chance: random.Random) -> Ledger:
        """What must hold after a cut at that size of the log."""
        count = max((count for at, count in self.durable if at <= moment), default=0)
        sent = [replace(record.change, is_acknowledged=place < count)
                for place, record in enumerate(self.sent) if record.sent < moment]
        replied = sent[:len(self.replied_by(moment))]
        ledger = Ledger(chance, first_number=self.sent[-1].change.number + 1)
        ledger.highest = max(
            [change.generation for change in replied], default=self.highest_before)
        ledger.owners = {change.generation: change for change in replied}
        for domain in (FIRST, SECOND):
            changes = [change for change in sent if change.domain == domain]
            tokens = [change for change in changes if change.token and change.is_acknowledged]
            contents = self.before.get(domain, {})
            ledger.books[domain] = Book(
                domain, contents, changes, tokens,
                self.known(contents, changes, replied, chance))
        return ledger

    def replied_by(self, moment: int) -> list[Sent]:
        """The changes that had been replied by then; one after the other was sent."""
        return [record for record in self.sent if 0 < record.replied <= moment]

    def known(
        self, contents: Contents, changes: list[Change], replied: list[Change],
        chance: random.Random
    ) -> tuple[int, dict[str, str]]:
        """A state of a domain that a client may have seen before the cut."""
        count = sum(change in changes for change in replied)
        if count == 0:
            return 0, {}
        seen = changes[:chance.randint(1, count)]
        for change in seen:
            contents = change.applied_to(contents)
        return seen[-1].generation, {key: text for key, (text, _) in contents.items()}


def ordinary(life: RecordedLife) -> None:
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


def large(life: RecordedLife) -> None:
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


def steady(life: RecordedLife) -> None:
    """a life in which nobody asks for the disk"""
    life.start()
    end = time.monotonic() + life.ground.scale(3, 15)
    while time.monotonic() < end:
        for domain in (FIRST, SECOND):
            life.draw(domain)
        # A writer who takes his time, but less than a quiet period.
        life.desktop.pass_time(0.05)
    life.end()


def no_runtime_directory(life: RecordedLife) -> None:
    """a life without a runtime directory: the journal stands on the disk"""
    ordinary(life)


SHORT_STORIES = ordinary, steady, no_runtime_directory
STORIES = *SHORT_STORIES, large
