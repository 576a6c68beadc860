"""Backups: made and restored while the daemon is killed or ended, and spoiled on disk.

The domains are written while backups are made, by changes that give every key of a domain the same
text, so that half a change shows. What a backup holds must be what the domains held after some change
that was sent, and no older than what was acknowledged before it was asked for.
"""

import random
import shutil
import signal
import sqlite3
import threading
import time
from contextlib import closing

from clients import MAINTENANCE, Client, Refused
from desktop import Desktop
from ground import Ground, Outcome
from gi.repository import GLib
from ledger import GONE, Found
from privatebus import ERROR, PATIENCE

NAME = "backups"
FAULTS = "SIGKILL and SIGTERM while a backup is made or restored, and backups that are damaged"
INJECTIONS = ("lost-backup-row", "truncated-backup")

DOMAINS = tuple(f"org.example.Torture.Domain{number}" for number in range(4))
KEYS = tuple(f"key{number}" for number in range(300))
PADDING = "x" * 2000
KINDS = {
    "making": "SIGKILL while a backup is made",
    "restoring": "SIGKILL while a backup is restored",
    "ending": "SIGTERM while a backup is made or restored",
    "spoiling": "a damaged backup is restored",
}
TRIALS_OF_A_DESKTOP = 40
KEPT = 7
"""Backups of a kind that are not removed."""


def run(ground: Ground) -> list[Outcome]:
    trials = ground.scale(16, 400)
    outcomes = {kind: Outcome(words, 0) for kind, words in KINDS.items()}
    done = 0
    while done < trials:
        with Trials(ground) as series:
            for _ in range(min(TRIALS_OF_A_DESKTOP, trials - done)):
                kind = list(KINDS)[done % len(KINDS)]
                done += 1
                outcomes[kind].trials += 1
                try:
                    series.take(kind)
                except Found as found:
                    outcomes[kind].findings.append(f"trial {done}: {found}")
                    break
            for kind, note in series.notes().items():
                outcomes[kind].note = note
        ground.say(f"{done} trials")
        if any(outcome.findings for outcome in outcomes.values()):
            break
    return [outcome for outcome in outcomes.values() if outcome.trials]


class Trials:
    """Trials on one database."""

    def __init__(self, ground: Ground):
        self.ground, self.chance = ground, ground.random
        self.desktop = Desktop(ground, is_in_memory=True)
        self.desktop.start()
        self.client = self.desktop.connect()
        self.number = 0
        self.highest = 0
        self.held = {domain: 0 for domain in DOMAINS}
        """The number of the last change of each domain that was acknowledged."""
        self.cut_off = self.finished = self.refused = self.partly = 0
        for domain in DOMAINS:
            self.change(domain)
        self.asked("BackUp")

    def __enter__(self) -> "Trials":
        return self

    def __exit__(self, *_) -> None:
        self.desktop.close()
        self.desktop.forget()

    def notes(self) -> dict[str, str]:
        return {"making": f"{self.cut_off} cut off, {self.finished} done before the signal",
                "spoiling": f"{self.refused} refused, {self.partly} restored but for what is damaged"}

    def take(self, kind: str) -> None:
        """Breaks something, and judges; raises Found."""
        match kind:
            case "making":
                self.interrupt(signal.SIGKILL, "BackUp")
            case "restoring":
                self.interrupt(signal.SIGKILL, "RestoreBackup")
            case "ending":
                self.interrupt(signal.SIGTERM, self.chance.choice(("BackUp", "RestoreBackup")))
            case "spoiling":
                self.spoil()

    # What is done

    def change(self, domain: str) -> None:
        """Gives every key of a domain a text that was never there, in one change."""
        self.number += 1
        text = GLib.Variant("s", f"{self.number} {PADDING}")
        generation, = self.client.call(
            "ApplyValues", "(sa{sv}asa{st}a{sv})", domain, {key: text for key in KEYS}, [], {}, {})
        if generation <= self.highest:
            raise Found(f"a change got generation {generation} after {self.highest}")
        self.highest = generation
        self.held[domain] = self.number

    def asked(self, method: str, *arguments: str) -> tuple:
        signature = f"({'s' * len(arguments)})"
        return self.client.call(
            method, signature, *arguments, interface=MAINTENANCE, timeout=PATIENCE)

    def interrupt(self, number: signal.Signals, method: str) -> None:
        """Sends the signal at a moment of the call that is drawn by chance."""
        earlier = dict(self.held)
        for domain in self.chance.sample(DOMAINS, 2):
            self.change(domain)
        before = dict(self.held)
        backups = {backup[0]: self.contents(backup[0]) for backup in self.asked("ListBackups")[0]}
        target = self.chance.choice(sorted(backups))
        restores = method == "RestoreBackup"
        call = self.client.begin(
            method, "(s)" if restores else "()", *([target] if restores else []),
            interface=MAINTENANCE, timeout=PATIENCE)
        self.client.flush()
        daemon = self.desktop.daemon
        killer = threading.Thread(
            target=lambda: (time.sleep(self.chance.uniform(0, 0.25)), daemon.kill(number)))
        killer.start()
        status = daemon.wait(PATIENCE)
        killer.join()
        self.desktop.wait_until(lambda: call.answer is not None)
        self.expect_end(number, status, call.answer)
        self.spoil_files()
        self.desktop.start()
        goal = backups[target] if restores else before
        self.judge_backups(backups, earlier, before, goal)
        now = self.read()
        for domain in DOMAINS:
            if now[domain] not in (before[domain], goal.get(domain)):
                raise Found(f"{domain} holds {now[domain]} after {before[domain]} and a {method} of "
                            f"{goal.get(domain)}")
        if restores and not isinstance(call.answer, Refused) and now != goal:
            raise Found(f"the restoration of {goal} was acknowledged, and there is {now}")
        self.held = now

    def expect_end(self, number: int, status: int, answer: tuple | Refused) -> None:
        expected = -number if number == signal.SIGKILL else 0
        if status != expected:
            raise Found(f"the daemon ended with {status}: {self.desktop.daemon.log()}")
        if not isinstance(answer, Refused):
            self.finished += 1
            return
        self.cut_off += 1
        may_be = GONE | ({ERROR + "StorageFailed"} if number == signal.SIGTERM else set())
        if answer.name not in may_be:
            raise Found(f"the call was answered with {answer}")

    def spoil_files(self) -> None:
        """The breaks that must be found."""
        files = sorted((self.desktop.data / "backups").glob("*.db"))
        if self.ground.inject == "lost-backup-row":
            with closing(sqlite3.connect(files[0])) as backup, backup:
                backup.execute("DELETE FROM entries WHERE key = 'key7'")
        elif self.ground.inject == "truncated-backup":
            shutil.copyfile(files[0], files[0].with_name("2024-01-01T000000Z-2-manual.db"))
            with files[0].with_name("2024-01-01T000000Z-2-manual.db").open("r+b") as file:
                file.truncate(50_000)

    def spoil(self) -> None:
        """Damages a backup at some places and restores it."""
        self.asked("BackUp")
        names = [backup[0] for backup in self.asked("ListBackups")[0]]
        name = names[0]
        goal = self.contents(name)
        for domain in DOMAINS:
            self.change(domain)
        before = self.texts()
        file = self.desktop.data / "backups" / f"{name}.db"
        intact = file.read_bytes()
        file.write_bytes(damaged(intact, self.chance))
        try:
            self.asked("RestoreBackup", name)
        except Refused as refusal:
            if refusal.name != ERROR + "StorageFailed":
                raise Found(f"a damaged backup was answered with {refusal}") from None
            self.refused += 1
            if "nothing of it was restored" in refusal.message and self.texts() != before:
                raise Found(f"{refusal}, and something has changed") from None
        else:
            self.partly += 1
        now = self.texts()
        for domain in DOMAINS:
            for key in KEYS:
                here = now[domain].get(key)
                if here not in (before[domain][key], f"{goal[domain]} {PADDING}"):
                    raise Found(f"{key} of {domain} is {here and here[:20]} after a damaged backup "
                                f"of {goal[domain]} was restored over {before[domain][key][:20]}")
        if self.desktop.daemon.has_ended:
            raise Found(f"the daemon has ended: {self.desktop.daemon.log()}")
        file.write_bytes(intact)
        undo = self.asked("RestoreBackup", name)[0]
        # It is of a restoration that was not whole; there is none if the damage cost nothing.
        if undo:
            (self.desktop.data / "backups" / f"{undo}.db").unlink()
        self.held = self.read()
        if self.held != goal:
            raise Found(f"the backup of {goal} was restored, and there is {self.held}")
        self.highest = self.client.properties()["Generation"]

    # The judges

    def judge_backups(
        self, known: dict[str, dict[str, int]], earlier: dict[str, int], before: dict[str, int],
        goal: dict[str, int]
    ) -> None:
        """Checks every backup by another SQLite: those that were there, and new ones.

        The day's backup may come after any flush: before the last changes, amid a restoration or
        after it.
        """
        left = [backup[0] for backup in self.asked("ListBackups")[0]]
        names = {file.stem for file in (self.desktop.data / "backups").glob("*.db")}
        if names != set(left):
            raise Found(f"listed are {left}, and there are {sorted(names)}")
        for name in left:
            contents = self.contents(name)
            if name in known:
                if contents != known[name]:
                    raise Found(f"the backup {name} holds {contents}, and held {known[name]}")
                continue
            for domain in DOMAINS:
                daily = (earlier[domain],) if name.endswith("-daily") else ()
                if contents.get(domain) not in (before[domain], goal.get(domain), *daily):
                    raise Found(f"the backup {name} holds {contents}, made between {before} and {goal}")
        for kind in ("daily", "manual"):
            had, has = (sum(name.endswith(kind) for name in names) for names in (known, left))
            if has < min(had, KEPT):
                raise Found(f"of {sorted(known)} there are {sorted(left)} left")

    def contents(self, name: str) -> dict[str, int]:
        """What each domain is in a backup: the number of its change."""
        path = self.desktop.data / "backups" / f"{name}.db"
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as backup:
                check = backup.execute("PRAGMA integrity_check").fetchall()
                if check != [("ok",)]:
                    raise Found(f"the integrity check of the backup {name} says {check}")
                rows = backup.execute(
                    "SELECT name, archive FROM entries JOIN domains ON domains.id = domain"
                ).fetchall()
        except sqlite3.DatabaseError as error:
            raise Found(f"the backup {name} cannot be read: {error}") from None
        found: dict[str, list[int]] = {}
        for domain, archive in rows:
            # A string's archive holds its characters as they are.
            digits = archive[:archive.index(b" " + PADDING[:100].encode())]
            start = len(digits)
            while start and digits[start - 1:start].isdigit():
                start -= 1
            found.setdefault(domain, []).append(int(digits[start:]))
        return self.whole(found)

    def read(self) -> dict[str, int]:
        """What each domain is now: the number of its change."""
        generation = self.client.properties()["Generation"]
        if generation < self.highest:
            raise Found(f"the generation is {generation}, after {self.highest} was replied")
        self.highest = generation
        return self.whole({domain: [int(text.split()[0]) for text in texts.values()]
                           for domain, texts in self.texts().items()})

    def texts(self) -> dict[str, dict[str, str]]:
        return {domain: self.client.call("GetAllValues", "(s)", domain)[0] for domain in DOMAINS}

    def whole(self, found: dict[str, list[int]]) -> dict[str, int]:
        for domain, numbers in found.items():
            if len(numbers) != len(KEYS) or len(set(numbers)) != 1:
                raise Found(f"{domain} has {len(numbers)} keys, of the changes {set(numbers)}")
        return {domain: numbers[0] for domain, numbers in found.items()}


def damaged(intact: bytes, chance: random.Random) -> bytes:
    """The file with some bytes flipped, pages zeroed, or its end cut off."""
    spoiled = bytearray(intact)
    match chance.choice(("bytes", "bytes", "page", "cut", "value")):
        case "bytes":
            for _ in range(chance.choice((1, 3, 30))):
                spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
        case "page":
            page = chance.randrange(len(spoiled) // 4096) * 4096
            spoiled[page:page + 4096] = bytes(4096)
        case "cut":
            del spoiled[chance.randrange(len(spoiled)):]
        case "value":
            place = spoiled.find(PADDING.encode(), chance.randrange(len(spoiled) // 2))
            spoiled[place] = ord("y")
    return bytes(spoiled)
