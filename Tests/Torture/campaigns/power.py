"""The power cut: the database as it would be had the machine lost all that was not synchronised.

The daemon lives a life while strace tells what it does to the directory of the database. For every
moment of that, after each call that changes something there, the directory is rebuilt as a disk may
have left it; a daemon starts on it as in another boot, with the runtime directory empty.
"""

import hashlib
import pathlib
import pickle
import random
import subprocess
import uuid
from collections.abc import Callable

from changes import APPLY
from desktop import Desktop, Ended
from ground import Ground, Outcome
from ledger import Found, Ledger
from recorded import (
    FIRST, SECOND, SHORT_STORIES, STORIES, RecordedLife, Sent, large, no_runtime_directory, ordinary)
from recording import (
    NAMED, STRICT, WHOLE, WRITTEN, Cut, Event, Image, Tree, Unknown, events, put, recorder, taken,
    torn)
from stepper import choice

NAME = "power"
FAULTS = "power cut after every change of the database's directory, with reordered and torn writes"
INJECTIONS = ("no-fsync",)

HERE = pathlib.Path(__file__).resolve().parent
AFTER = "org.example.Torture.After"

WINDOW = 2
"""Seconds after the first change in which its write begins at the latest."""

TOLERANCE = 2
"""Seconds by which a busy machine, or strace, may make that later."""

PAGE = "counters"
"""A mapped file. No system call shows its contents."""


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
    with Desktop(ground, is_in_memory=True) as desktop:
        stories = STORIES if ground.thorough else SHORT_STORIES
        outcomes = [Cuts(ground, desktop, boot, story).outcome() for story in stories]
        return outcomes + [CutsAfterCuts(ground, desktop, boot, ordinary).outcome()]


class Cuts:
    """Power cuts in one life."""

    def __init__(
        self, ground: Ground, desktop: Desktop, boot: pathlib.Path, story: Callable[[RecordedLife], None]
    ):
        self.ground, self.desktop, self.story = ground, desktop, story
        self.boot, self.boot_id = boot, ground.directory / "boot-id"
        self.environment = {"XDG_RUNTIME_DIR": ""} if story is no_runtime_directory else {}
        self.seen: set = set()
        self.trials = self.recorded = 0
        self.oldest = 0.0
        self.longest_flush = 0.0

    @property
    def fault(self) -> str:
        return f"power cut in {self.story.__doc__}"

    def outcome(self) -> Outcome:
        outcome = Outcome(self.fault, 0)
        try:
            self.cut_lives()
        except (Found, Unknown) as found:
            outcome.findings.append(str(found))
            for daemon in self.desktop.daemons:
                daemon.end()
        outcome.trials = self.trials
        outcome.note = (f"{self.recorded} moments; the oldest acknowledged change that was lost "
                        f"was {self.oldest:.1f} s old")
        self.ground.say(f"{self.trials} times a {self.fault}: {outcome.note}")
        return outcome

    def cut_lives(self) -> None:
        """Lives, and cuts; raises Found or Unknown."""
        life = self.live(self.story)
        self.cut_at(self.chosen(self.moments(life)), life)
        life.client.close()

    def live(self, story: Callable[[RecordedLife], None], *beginning) -> RecordedLife:
        """Records a life."""
        self.desktop.forget_all()
        self.seen.clear()
        life = RecordedLife(self.ground, self.desktop, self.environment, *beginning)
        put(life.image, self.desktop.config)
        story(life)
        return life

    def moments(self, life: RecordedLife) -> list[str]:
        """All that changed the directory; checks that it explains what is there."""
        tree, found, began = Tree(self.desktop.config, life.image), [], None
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
        self.recorded += len(found)
        return found

    def chosen(self, moments: list[str]) -> set[int]:
        """The numbers of the moments to cut at."""
        # A large text is written by rows of calls that are all alike.
        numbers = choice(
            [f"after {what}" for what in moments], 1, ends=1 if self.story is large else 4)
        if self.ground.thorough:
            return set(numbers)
        return set(self.ground.random.sample(numbers, min(len(numbers), 5)))

    def cut_at(self, numbers: set[int], life: RecordedLife) -> None:
        """Follows the life once more, and cuts at these moments in every way."""
        tree, number = Tree(self.desktop.config, life.image), 0
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

    def cut(self, way: Cut, tree: Tree, event: Event, life: RecordedLife) -> None:
        """Starts a daemon on what a cut leaves, and judges."""
        image = way.image(tree.root)
        ledger = life.ledger_at(event.end, self.ground.random)
        required = [change.generation for book in ledger.books.values() for change in book.sent
                    if change.is_acknowledged]
        # The same files, of which the same is expected, need not be looked at again.
        mark = hashlib.sha256(pickle.dumps(image)).digest(), len(required), ledger.highest
        if mark in self.seen:
            return
        self.seen.add(mark)
        self.trials += 1
        self.desktop.forget_all()
        put(image, self.desktop.config)
        self.desktop.start(environment=self.environment | self.new_boot())
        # A journal on the disk may have lost a record and kept the next.
        ledger.judge(
            life.client, in_order=self.story is not no_runtime_directory,
            floor=max(required, default=0))
        repair = life.client.statistics()["LastRescue"]
        if repair:
            raise Found(f"what a power cut leaves was taken for damage: {repair}")
        self.count_on(ledger, life)
        self.desktop.daemon.end()
        if way is STRICT:
            self.look_at_window(ledger, life.replied_by(event.end), event)

    def new_boot(self) -> dict[str, str]:
        """The environment of a daemon that is to find itself in another boot."""
        identity = uuid.UUID(int=self.ground.random.getrandbits(128))
        self.boot_id.write_text(f"{identity}\n")
        return {"LD_PRELOAD": str(self.boot), "BOOT_ID": str(self.boot_id)}

    def count_on(self, ledger: Ledger, life: RecordedLife) -> None:
        """Makes a change, whose generation is above all that were replied before the cut."""
        change = ledger.note(AFTER, ["key0"])
        ledger.acknowledge(change, life.client.call("ApplyValues", APPLY, *change.arguments)[0])

    def look_at_window(self, ledger: Ledger, replied: list[Sent], event: Event) -> None:
        """Checks that nothing is lost that is older than the time within which it is written."""
        missing = {
            change.number for book in ledger.books.values() for change in book.missing}
        lost = [record for record in replied if record.change.number in missing]
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


class CutsAfterCuts(Cuts):
    """Power cuts in a life that begins with what another one has left."""

    fault = "power cut in a life that begins with what another cut has left"

    def cut_lives(self) -> None:
        first = self.live(self.story)
        moments = self.moments(first)
        numbers = self.ground.random.sample(
            range(len(moments) // 4, len(moments) + 1), self.ground.scale(1, 12))
        tree, number = Tree(self.desktop.config, {}), 0
        beginnings = []
        for event in events(first.log):
            if tree.follow(event) is not None:
                number += 1
                if number in numbers:
                    beginnings.append((torn(self.ground.random).image(tree.root),
                                       first.ledger_at(event.end, random.Random(1))))
        first.client.close()
        for image, ledger in beginnings:
            self.cut_after(image, ledger)

    def cut_after(self, image: Image, ledger: Ledger) -> None:
        """Goes on with an image, and cuts that life."""
        self.environment = self.new_boot()
        life = self.live(self.awake, image, ledger)
        self.cut_at(self.chosen(self.moments(life)), life)
        life.client.close()

    def awake(self, life: RecordedLife) -> None:
        life.start()
        life.look()
        life.change(FIRST, "key0", "key1")
        life.change(SECOND, "key0", length=20_000)
        life.synchronize()
        life.draw(FIRST)
        life.draw(SECOND)
        life.end()
