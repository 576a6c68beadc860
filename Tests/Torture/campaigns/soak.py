"""Very many calls, after which the daemon is as large as it was."""

import pathlib
import re
import time
from dataclasses import dataclass

import native
from clients import Client
from desktop import Daemon, Desktop
from ground import Ground, Outcome

NAME = "soak"
FAULTS = "millions of calls of every kind, with memory measured all the way"
INJECTIONS = ("growing",)

CLIENTS, WINDOW = 4, 32
WARM_UP = 0.1
"""The part of the samples that is left out: what is allocated once is there after it."""
PERIOD = 0.25
"""The parts at the beginning and at the end whose maxima are compared."""


@dataclass(frozen=True)
class Measure:
    """A figure that must not grow: at the end it may be larger by a factor, and by an amount."""

    name: str
    unit: str
    factor: float
    more: int


MEASURES = [
    # Up to 8 MiB of changes wait for the disk, more or fewer of them when a sample is taken.
    Measure("anonymous", "KiB", 1.25, 2048),
    Measure("descriptors", "", 1, 2),
    Measure("threads", "", 1, 0),
    # Changes of 8 MiB begin a flush, and as many may come before it has ended.
    Measure("journal", "bytes", 1, 16 << 20),
    # A short run may begin before anything has been written to disk.
    Measure("database", "bytes", 1.25, 4 << 20),
]


def run(ground: Ground) -> list[Outcome]:
    # A break needs no more than a sample for each step.
    calls = 10_000 if ground.inject else ground.scale(50_000, 10_000_000)
    step = calls // 20 if not ground.thorough else 100_000
    program = native.compiled(ground, "soak")
    outcome = Outcome(f"{CLIENTS} clients, {WINDOW} calls at a time each", calls)
    with Desktop(ground) as desktop:
        daemon = desktop.start()
        client = desktop.connect()
        began = time.monotonic()
        soak = native.started(
            program, CLIENTS, WINDOW, calls, step, ground.random.randrange(1 << 32),
            environment=desktop.environment)
        samples, kinds = [], ""
        for line in soak.stdout:
            if not line.strip().isdecimal():
                kinds = line.strip()
                continue
            samples.append(sample(client, daemon))
            if ground.thorough and len(samples) % 10 == 0:
                ground.say(f"{line.strip()} calls: {words(samples[-1])}")
        if soak.wait():
            outcome.findings.append(f"{soak.stderr.read()}The daemon said: {daemon.log()}")
            return [outcome]
        took = time.monotonic() - began
        if ground.inject == "growing":
            samples = [{name: value + value * place for name, value in each.items()}
                       for place, each in enumerate(samples)]
        judge(samples, outcome)
        ground.say(f"{kinds}; {calls / took:.0f} calls a second")
    return [outcome]


def judge(samples: list[dict[str, int]], outcome: Outcome) -> None:
    """Compares the last quarter of the samples with the first one after the warm-up."""
    warm = samples[int(len(samples) * WARM_UP):]
    length = max(1, int(len(samples) * PERIOD))
    notes = []
    for measure in MEASURES:
        first = max(each[measure.name] for each in warm[:length])
        last = max(each[measure.name] for each in warm[-length:])
        shown = f"{measure.name} {first} then {last} {measure.unit}".strip()
        notes.append(shown)
        if last > first * measure.factor + measure.more:
            outcome.findings.append(
                f"{shown}: expected {first * measure.factor + measure.more:.0f} at most")
    outcome.note = "; ".join(notes)


def sample(client: Client, daemon: Daemon) -> dict[str, int]:
    process = pathlib.Path(f"/proc/{daemon.pid}")
    anonymous = re.search(r"Anonymous:\s+(\d+)", (process / "smaps_rollup").read_text())
    statistics = client.statistics()
    return {
        "anonymous": int(anonymous[1]),
        "descriptors": len(list((process / "fd").iterdir())),
        "threads": len(list((process / "task").iterdir())),
        "journal": statistics["JournalBytes"],
        "database": statistics["DatabaseBytes"],
    }


def words(sample: dict[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sample.items())
