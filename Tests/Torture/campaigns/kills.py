"""SIGKILL at random moments, with writers on several connections.

A trial lets them write, kills the daemon at a moment drawn by chance, starts the next one, and
reads everything back. All trials of one desktop share a database, so that what is lost late, or a
number given again later, is found as well.
"""

import shutil
import signal
import sqlite3
import threading
import time
from contextlib import closing

from clients import Refused
from desktop import Daemon, Desktop
from ground import Ground, Outcome
from ledger import Found, Ledger
from writers import Counter, Writer, expect_death

NAME = "kills"
FAULTS = "SIGKILL at random moments: of writing, flushing, starting, ending, handing over"
INJECTIONS = ("lost-journal", "lost-row")

KINDS = {
    "writing": "while changes are made",
    "flushing": "while they are written to disk",
    "starting": "during the start after a kill",
    "ending": "during the clean end",
    "handing over": "during --replace: the old one, the new one or both",
}
TRIALS_OF_A_DESKTOP = 100
"""After this many a new database begins."""

WRITERS = 3


def run(ground: Ground) -> list[Outcome]:
    trials = ground.scale(20, 1000)
    outcomes = {kind: Outcome(f"SIGKILL {KINDS[kind]}", 0) for kind in KINDS}
    done = acknowledged = 0
    while done < trials:
        with Trials(ground) as series:
            for _ in range(min(TRIALS_OF_A_DESKTOP, trials - done)):
                done += 1
                kind = list(KINDS)[done % len(KINDS)]
                outcomes[kind].trials += 1
                try:
                    series.take(kind)
                except Found as found:
                    outcomes[kind].findings.append(f"trial {done}: {found}")
                    break
            acknowledged += series.acknowledged
        ground.say(f"{done} kills, {acknowledged} changes acknowledged")
        if sum(len(outcome.findings) for outcome in outcomes.values()) >= 5:
            break
    outcomes["writing"].note = f"{acknowledged} changes acknowledged in all"
    return [outcome for outcome in outcomes.values() if outcome.trials]


class Fate:
    """Kills daemons when a time is over, counted in microseconds, whatever happens meanwhile."""

    def __init__(self, delay: float, *daemons: Daemon):
        self.thread = threading.Thread(target=self._strike, args=(delay, daemons))
        self.thread.start()

    def _strike(self, delay: float, daemons: tuple[Daemon, ...]) -> None:
        time.sleep(delay)
        for daemon in daemons:
            daemon.kill()

    def wait(self) -> None:
        self.thread.join()


class Trials:
    """Trials on one database."""

    def __init__(self, ground: Ground):
        self.ground, self.chance = ground, ground.random
        self.desktop = Desktop(ground, is_in_memory=True)
        self.ledger = Ledger(self.chance)
        self.desktop.start()
        self.clients = [*self.desktop.connect_mixed(WRITERS + 2), self.desktop.connect()]
        self.ledger.attach(self.clients[-1])
        self.acknowledged = 0
        self.turn = 0

    def __enter__(self) -> "Trials":
        return self

    def __exit__(self, *_) -> None:
        self.desktop.close()
        self.desktop.forget()

    def take(self, kind: str) -> None:
        """Writes, kills, starts, judges; raises Found."""
        self.turn += 1
        depth = self.chance.choice((1, 1, 2, 4))
        writers = [
            Writer(self.ledger, self.clients[place], f"org.example.Torture.Writer{place}", depth,
                   largest=self.chance.choice((100, 2000, 20_000)))
            for place in range(WRITERS)]
        writers += [Counter(self.ledger, self.clients[WRITERS + place]) for place in range(2)]
        for writer in writers:
            writer.go_on()
        daemons = [self.desktop.daemon]
        match kind:
            case "writing" | "starting":
                self.reach(writers, self.chance.randint(0, 80))
                Fate(self.within(0.01), *daemons).wait()
            case "flushing":
                self.flush(writers)
            case "ending":
                self.reach(writers, self.chance.randint(1, 30))
                daemons[0].kill(signal.SIGTERM)
                Fate(self.within(0.012), *daemons).wait()
            case "handing over":
                daemons.append(self.hand_over(writers))
        self.settle(writers, daemons)
        if kind == "starting":
            for _ in range(self.chance.randint(1, 3)):
                daemon = self.desktop.start(serves=False)
                Fate(self.within(0.015), daemon).wait()
                daemon.wait()
        self.spoil()
        self.desktop.start()
        if self.chance.random() < 0.2:
            self.ledger.attach(self.clients[-1])
        self.ledger.judge(self.clients[-1], in_order=kind != "handing over")
        self.acknowledged += sum(writer.acknowledged for writer in writers)

    def within(self, longest: float) -> float:
        return self.chance.uniform(0, longest)

    def reach(self, writers: list, count: int) -> None:
        """Waits until this many changes are acknowledged."""
        self.desktop.wait_until(lambda: sum(writer.acknowledged for writer in writers) >= count)

    def flush(self, writers: list) -> None:
        """Has what is pending written, and kills meanwhile."""
        self.reach(writers, self.chance.randint(1, 60))
        floor = self.ledger.highest
        if self.chance.random() < 0.3:
            self.desktop.daemon.kill(signal.SIGHUP)
        call = self.clients[-1].begin("Synchronize")
        self.clients[-1].flush()
        Fate(self.within(0.008), self.desktop.daemon).wait()
        self.desktop.wait_until(lambda: call.answer is not None)
        if isinstance(call.answer, Refused):
            expect_death("Synchronize", call.answer)
        else:
            self.ledger.synchronized(call.answer[0], floor)

    def hand_over(self, writers: list) -> Daemon:
        """Has another daemon take over, and kills one of them or both meanwhile."""
        self.reach(writers, self.chance.randint(1, 20))
        old = self.desktop.daemon
        new = self.desktop.start(options=["--replace"], serves=False)
        victims = self.chance.choice(((old,), (new,), (old, new)))
        Fate(self.within(0.03), *victims).wait()
        if old in victims and new not in victims:
            # It serves what came after that, and what came meanwhile.
            self.desktop.wait_until_serving(new)
        return new

    def settle(self, writers: list, daemons: list[Daemon]) -> None:
        """Waits until every call is answered, and no daemon is left."""
        for writer in writers:
            writer.is_stopped = True
        # After a hand-over one of them may serve, and has to answer.
        self.desktop.wait_until(lambda: not any(writer.in_flight for writer in writers))
        for daemon in daemons:
            daemon.end()

    def spoil(self) -> None:
        """Breaks what must then be found, in a run that is to show that it is."""
        match self.ground.inject:
            case "lost-journal":
                for journal in self.desktop.runtime.glob("defaultsd/*/*.journal"):
                    journal.unlink()
            case "lost-row" if self.turn % 3 == 0:
                self.lose_row()

    def lose_row(self) -> None:
        """Takes one entry of a change of several keys out of the database."""
        self.desktop.start()
        self.desktop.daemon.end(signal.SIGTERM)
        with closing(sqlite3.connect(self.desktop.data / "defaults.db")) as database, database:
            database.executescript(
                "DELETE FROM entries WHERE rowid = (SELECT min(rowid) FROM entries "
                "    WHERE archive IS NOT NULL AND key LIKE 'key%');"
                "UPDATE domains SET key_count = (SELECT count(archive) FROM entries "
                "    WHERE domain = domains.id)")
        # Or the daemon would find out, and take the row from there.
        shutil.rmtree(self.desktop.data / "backups", ignore_errors=True)
