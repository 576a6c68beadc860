"""SIGKILL between every two system calls, over short histories that are always the same.

A history runs once to count the steps of the daemon that it watches: where a system call with an
effect begins, and where it ends. Then it runs again for each step, at which the daemon is killed;
the next daemon starts on what is left, and all is read back.
"""

import random
import signal
from collections.abc import Callable
from contextlib import contextmanager

from changes import Change
from clients import Client, Pending, Refused
from desktop import Daemon, Desktop, Ended
from ground import Ground, Outcome
from ledger import Found, Ledger
from stepper import Stepper, choice
from writers import expect_death

NAME = "syscalls"
FAULTS = "SIGKILL before and after every system call with an effect"
INJECTIONS = ("lost-journal",)

FIRST, SECOND = "org.example.Torture.First", "org.example.Torture.Second"
LARGE = 3_000_000
"""Bytes of a text of which some make the journal be rewritten and the log be folded back."""


def run(ground: Ground) -> list[Outcome]:
    stepper = Stepper(ground.directory)
    reason = stepper.reason_to_skip()
    if reason:
        return [Outcome(FAULTS, 0, skipped=reason)]
    with Desktop(ground, is_in_memory=True) as desktop:
        histories = HISTORIES if ground.thorough else SHORT_HISTORIES
        return [Trial(ground, desktop, stepper, history).outcome() for history in histories]


class Died(Exception):
    """The daemon that was asked is dead."""


class Trial:
    """One history, run again and again on new databases."""

    def __init__(
        self, ground: Ground, desktop: Desktop, stepper: Stepper,
        history: Callable[["Trial"], None]
    ):
        self.ground, self.desktop, self.stepper = ground, desktop, stepper
        self.history = history
        self.step = 0
        self.first = 1
        self.client: Client
        self.ledger: Ledger
        self.in_order = True

    def outcome(self) -> Outcome:
        outcome = Outcome(f"SIGKILL at each step of {self.history.__doc__}", 0)
        try:
            self.take(0)
            steps = self.stepper.steps()
            chosen = self.chosen(steps)
            reached = 0
            for number in chosen:
                outcome.trials += 1
                reached += self.take(number)
        except Found as found:
            last = self.stepper.steps()[-1:]
            outcome.findings.append(
                f"killed at step {self.step} of {self.history.__name__} "
                f"({last[0] if last else 'none'}): {found}")
            for daemon in self.desktop.daemons:
                daemon.end()
            return outcome
        outcome.note = f"{len(steps)} steps, {reached} kills"
        self.ground.say(f"{self.history.__name__}: {outcome.note}")
        return outcome

    def chosen(self, steps: list[str]) -> list[int]:
        # A large text is written by rows of calls that are all alike.
        chosen = choice(steps, self.first, ends=2 if self.history is large else 100)
        if self.ground.thorough:
            return chosen
        stride = max(1, len(chosen) // 8)
        return chosen[self.ground.random.randrange(stride)::stride]

    def take(self, step: int) -> bool:
        """Runs the history, kills at a step, and judges; whether the daemon came to that step."""
        self.step = step
        self.desktop.forget_all()
        # The same changes each time.
        self.ledger = Ledger(random.Random(1))
        self.client = self.desktop.connect()
        self.watched: Daemon | None = None
        try:
            self.history(self)
        except (Died, Ended):
            pass
        for daemon in self.desktop.daemons:
            self.end(daemon)
        was_killed = self.watched.wait() == -signal.SIGKILL
        if self.ground.inject == "lost-journal":
            for journal in self.desktop.runtime.glob("defaultsd/*/*.journal"):
                journal.unlink()
        self.desktop.start()
        self.ledger.judge(self.client, self.in_order)
        self.desktop.daemon.end()
        self.client.close()
        return was_killed

    def end(self, daemon: Daemon) -> None:
        """Ends a daemon that was not killed, as it should end: where it serves, or is about to."""
        self.desktop.wait_until(
            lambda: daemon.has_ended or self.desktop.owner_process() == daemon.pid)
        status = daemon.end(signal.SIGTERM)
        if status not in (0, -signal.SIGKILL):
            raise Found(f"a daemon ended with {status}: {daemon.log()}")

    # What histories are made of

    def start(self, is_watched: bool = True, **how) -> Daemon:
        """Starts a daemon, the one that is to be killed at a step or another."""
        wrapper = self.stepper.wrapper(self.step) if is_watched else ()
        try:
            return self.desktop.start(wrapper=wrapper, **how)
        finally:
            if is_watched:
                self.watched = self.desktop.daemon

    def begin_here(self) -> None:
        """Says that steps before this one are those of another history."""
        if self.step == 0:
            self.first = len(self.stepper.steps()) + 1

    def attach(self) -> None:
        with dying():
            self.ledger.attach(self.client)

    def begin(self, domain: str, *keys: str, **how) -> tuple[Change, Pending]:
        """Sends a change that sets these keys."""
        change = self.ledger.note(domain, keys, **how)
        return change, change.send(self.client)

    def finish(self, *calls: tuple[Change, Pending]) -> None:
        """Waits for the answers, and takes those that come."""
        self.desktop.wait_until(lambda: all(call.answer is not None for _, call in calls))
        is_dead = False
        for change, call in calls:
            if isinstance(call.answer, Refused):
                expect_death(str(change), call.answer)
                is_dead = True
            else:
                self.ledger.acknowledge(change, call.answer[0])
        if is_dead:
            raise Died

    def change(self, domain: str, *keys: str, **how) -> None:
        """Makes a change that sets these keys."""
        self.finish(self.begin(domain, *keys, **how))

    def synchronize(self) -> None:
        floor = self.ledger.highest
        with dying():
            self.ledger.synchronized(self.client.call("Synchronize")[0], floor)


@contextmanager
def dying():
    """Takes a refusal for the daemon's death, or for something found."""
    try:
        yield
    except Refused as refusal:
        expect_death("a call", refusal)
        raise Died from None


def life(trial: Trial) -> None:
    """a first start, changes, flushes and a clean end"""
    daemon = trial.start()
    trial.attach()
    trial.change(FIRST, "key0")
    trial.change(SECOND, "key0", "key1", "key2")
    trial.change(FIRST, "key1", length=5000)
    trial.synchronize()
    trial.change(FIRST, "key0", "key3", removes=["key1"], has_token=True)
    trial.change(SECOND, removes=["key1"])
    daemon.kill(signal.SIGHUP)
    trial.change(SECOND, "key3")
    trial.synchronize()
    trial.change(SECOND, "key0", "key3", length=20_000)
    trial.change(FIRST, "key2")
    daemon.end(signal.SIGTERM)


def recovery(trial: Trial) -> None:
    """a start after a kill, changes, and a clean end"""
    daemon = trial.start(is_watched=False)
    trial.attach()
    trial.change(FIRST, "key0", "key1")
    trial.synchronize()
    trial.change(FIRST, "key0", "key2", removes=["key1"], has_token=True)
    trial.change(SECOND, "key0")
    daemon.end(signal.SIGKILL)
    daemon = trial.start()
    trial.change(SECOND, "key1", "key2")
    trial.synchronize()
    trial.change(FIRST, "key1", "key2")
    daemon.end(signal.SIGTERM)


def large(trial: Trial) -> None:
    """large changes: the journal is rewritten, the log folded back and begun anew"""
    daemon = trial.start(is_watched=False)
    trial.attach()
    trial.change(FIRST, "key0", "key1")
    trial.synchronize()
    daemon.end(signal.SIGTERM)
    daemon = trial.start()
    trial.begin_here()
    for _ in range(6):
        trial.change(FIRST, "key1", length=LARGE)
    trial.change(SECOND, "key0", "key1")
    trial.synchronize()
    trial.change(FIRST, "key2", length=LARGE)
    trial.change(SECOND, "key0", "key1")
    trial.synchronize()
    trial.change(SECOND, "key0", "key1")
    trial.synchronize()
    daemon.end(signal.SIGTERM)


def giving_up(trial: Trial) -> None:
    """a hand-over, of the one that gives up its place"""
    trial.start()
    hand_over(trial, lambda: trial.start(
        is_watched=False, options=["--replace"], serves=False))


def taking_over(trial: Trial) -> None:
    """a hand-over, of the one that takes the place"""
    trial.start(is_watched=False)
    hand_over(trial, lambda: trial.start(options=["--replace"], serves=False))


def hand_over(trial: Trial, start: Callable[[], Daemon]) -> None:
    """Makes changes before, while and after another daemon takes over."""
    # Those that a dying one has not answered may be lost, and later ones not.
    trial.in_order = False
    trial.attach()
    trial.change(FIRST, "key0", "key1")
    if trial.watched is trial.desktop.daemon:
        trial.begin_here()
    calls = [trial.begin(FIRST, "key0", "key2"), trial.begin(SECOND, "key0")]
    daemon = start()
    calls += [trial.begin(FIRST, "key1", "key3", has_token=True), trial.begin(SECOND, "key1")]
    trial.finish(*calls)
    trial.desktop.wait_until(
        lambda: trial.desktop.owner_process() == daemon.pid or daemon.has_ended)
    trial.change(SECOND, "key0", "key2")
    trial.synchronize()
    trial.change(FIRST, "key0", "key2")
    daemon.end(signal.SIGTERM)


SHORT_HISTORIES = life, recovery, giving_up, taking_over
HISTORIES = *SHORT_HISTORIES, large
