"""Programs that write all the time, whatever happens to the session around them."""

import threading
import time
from collections.abc import Callable

from changes import Change
from clients import Pending, Refused
from desktop import Daemon, Desktop, Ended
from ground import Ground, Outcome
from ledger import Found, Ledger
from privatebus import NO_ANSWER
from writers import Counter, Writer

FSYNC = "fsync,fdatasync"


class Life:
    """Writers on connections of their own to one database, and the judge of what it has."""

    def __init__(self, ground: Ground, desktop: Desktop, writers: int = 3, counters: int = 1):
        self.ground, self.chance, self.desktop = ground, ground.random, desktop
        self.ledger = Ledger(self.chance)
        self.counts = (writers, counters)
        self.writers: list[Writer | Counter] = []
        self.earlier = 0
        self.connect()

    def connect(self) -> None:
        """Connects to the bus that there is now."""
        self.clients = self.desktop.connect_mixed(sum(self.counts))
        self.judge_client = self.desktop.connect()

    @property
    def acknowledged(self) -> int:
        """How many changes were, so far."""
        return self.earlier + sum(writer.acknowledged for writer in self.writers)

    def begin(self) -> None:
        """Has everybody write until `settle`."""
        self.earlier = self.acknowledged
        places = range(self.counts[0])
        self.writers = [
            BereftWriter(self.ledger, self.clients[place], f"org.example.Torture.Writer{place}",
                         depth=self.chance.choice((1, 2, 4)), largest=2000) for place in places]
        self.writers += [
            BereftCounter(self.ledger, client) for client in self.clients[self.counts[0]:]]
        for writer in self.writers:
            writer.go_on()

    def reach(self, count: int) -> None:
        """Waits until this many more changes are acknowledged."""
        aim = self.acknowledged + count
        self.desktop.wait_until(lambda: self.acknowledged >= aim)

    @property
    def has_noticed(self) -> bool:
        """Whether a writer, which was not told to, has stopped: a call of it failed."""
        return any(writer.is_stopped for writer in self.writers)

    def settle(self) -> None:
        """Waits until every call is answered, and no more are sent."""
        for writer in self.writers:
            writer.is_stopped = True
        self.desktop.wait_until(lambda: not any(writer.in_flight for writer in self.writers))

    def judge(self, in_order: bool = True) -> None:
        """Reads everything back; raises Found."""
        self.ledger.judge(self.judge_client, in_order=in_order)

    def attach(self) -> None:
        self.ledger.attach(self.judge_client)

    def forget_session(self) -> None:
        """Takes away all that is in memory; clients know that their pages have ended with it."""
        if self.desktop.runtime.is_dir():
            self.desktop.forget_session()
        self.ledger.page = None
        self.ledger.words = {}

    def within(self, longest: float) -> float:
        return self.chance.uniform(0, longest)

    def undergo(self, outcome: Outcome, trials: int, trial: Callable[[], None]) -> None:
        """Repeats a trial until it finds something, and notes the outcome."""
        for outcome.trials in range(1, trials + 1):
            try:
                self.attach()
                trial()
            except (Ended, Found, TimeoutError) as found:
                outcome.findings.append(f"trial {outcome.trials}: {found}")
                break
        outcome.note = f"{self.acknowledged} changes acknowledged"


class BereftWriter(Writer):
    """A writer whose bus may end."""

    def _finish(self, change: Change, call: Pending) -> None:
        if is_bereft(call):
            self.in_flight -= 1
            self.is_stopped = True
        else:
            super()._finish(change, call)


class BereftCounter(Counter):
    """A counter whose bus may end."""

    def _raise(self, call: Pending) -> None:
        if is_bereft(call):
            self.in_flight = 0
            self.is_stopped = True
        else:
            super()._raise(call)

    def _finish(self, value: int, floor: int, call: Pending) -> None:
        if is_bereft(call):
            self.in_flight = 0
            self.is_stopped = True
        else:
            super()._finish(value, floor, call)


def is_bereft(call: Pending) -> bool:
    """Whether a call ended with the caller's own connection."""
    return isinstance(call.answer, Refused) and call.answer.name == NO_ANSWER


class Fate(threading.Thread):
    """Sends signals to daemons, each after a time of its own, whatever happens meanwhile."""

    def __init__(self, *strokes: tuple[float, Daemon, int]):
        super().__init__()
        self.strokes = sorted(strokes, key=lambda stroke: stroke[0])
        self.start()

    def run(self) -> None:
        began = time.monotonic()
        for delay, daemon, number in self.strokes:
            time.sleep(max(0, began + delay - time.monotonic()))
            daemon.kill(number)


def traced(*injection: str) -> tuple[str, ...]:
    """What to put before a program to have faults injected by strace."""
    options = [part for each in injection for part in ("-e", each)]
    return ("strace", "-D", "-f", "-qq", "-o", "/dev/null", *options)


def slow_disk(seconds: float) -> tuple[str, ...]:
    """What to put before a program to have each fsync take its time."""
    return traced(f"trace={FSYNC}", f"inject={FSYNC}:delay_enter={int(seconds * 1e6)}")
