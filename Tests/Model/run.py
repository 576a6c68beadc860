"""Runs sequences of steps, each on a database of its own, and reports a failure."""

import json
import pathlib
import time
from collections.abc import Callable

from check import Checker, Failure, Step
from model import Model
from privatebus import PATIENCE
from script import script
from service import Service
from shrink import Shrinker
from steps import CALLERS, sequence

LENGTH = 300
"""Steps of one sequence."""

TRIES = 5
"""How often a sequence is run in which calls in flight meet a signal: what comes of that is not
the same each time."""

SHRINKING = 1200
"""Seconds after which a failure is printed as short as it is by then."""

SHORT_PATIENCE = 30
"""Seconds that an answer may take while a failure is shrunk that has none."""

PROGRESS = 10
"""Seconds between two lines of progress."""


class Run:
    """A run with this daemon, model and service.

    An interrupt sets `is_interrupted`, which ends it with the step it is at. As an exception it
    would get lost: GLib's finalizers are Python too, and swallow them.
    """

    def __init__(
        self, programs: pathlib.Path, model: Callable[[], Model], service: type[Service]
    ):
        self.programs = programs
        self.model = model
        self.service = service
        self.patience = PATIENCE
        self.is_interrupted = False
        self.sequences = 0
        self.steps = 0
        self.taken = 0
        """Steps of the last sequence."""

    def sequence(self, steps: list[Step]) -> Failure | None:
        """Takes steps on a new database; the first difference, if there is one."""
        service = self.service(self.programs, CALLERS, self.patience)
        checker = Checker(service, self.model())
        failure, has_ended = None, False
        try:
            for self.taken, step in enumerate(steps, 1):
                if self.is_interrupted:
                    break
                checker.take(step)
                self.steps += 1
        except Failure as found:
            failure = found
        finally:
            has_ended = service.close(is_patient=failure is None)
        self.sequences += 1
        if failure is None and not has_ended:
            failure = Failure(
                "end of the daemon after that of the bus", "an end", "none", checker.events)
        return failure

    def repeated(self, steps: list[Step]) -> Failure | None:
        """The same, repeatedly if chance is part of it."""
        is_chancy = any(step["do"] == "together" for step in steps)
        for _ in range(TRIES if is_chancy else 1):
            failure = self.sequence(steps)
            if failure is not None:
                return failure
        return None

    def search(self, seed: int, seconds: float, tell: Callable[[str], None]) -> str | None:
        """Runs one sequence after the other, with seeds that count up, for this many seconds.

        Returns the report of a failure.
        """
        began = told = time.monotonic()
        service = self.service(self.programs, 0, PATIENCE)
        try:
            methods = service.methods()
        finally:
            service.close(is_patient=False)
        while (now := time.monotonic()) < began + seconds and not self.is_interrupted:
            if now > told + PROGRESS:
                tell(f"{now - began:.0f} s: {self.summary()}, seed {seed}")
                told = now
            steps = sequence(seed, methods, LENGTH)
            failure = self.sequence(steps)
            if failure is not None:
                return self.report(f"seed {seed}", steps, failure)
            seed += 1
        return None

    def report(self, name: str, steps: list[Step], failure: Failure) -> str:
        """Shrinks a failing sequence, and prints it as a program and as steps to be replayed."""
        self.patience = SHORT_PATIENCE
        shrinker = Shrinker(lambda steps: self.repeated(steps) is not None, SHRINKING)
        # What came after the failure has no part in it.
        fewer = shrinker.shrunk(steps[:self.taken])
        shown = self.repeated(fewer) or failure
        return (
            f"{name}: the {failure.what} was not what the model says.\n"
            f"{len(steps)} steps were shrunk to {len(fewer)} in {shrinker.tries} runs. "
            f"As a program:\n\n{script(shown)}\n"
            f"As steps, for model-test --replay:\n\n{json.dumps(fewer)}\n")

    def summary(self) -> str:
        return f"{self.sequences} sequences, {self.steps} steps"
