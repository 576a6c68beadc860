"""Reads by the page of counters beside very many writes, over killed daemons: see Tests/PageReader."""

import re

import native
from activation import ActivatingDesktop
from ground import Ground, Outcome

NAME = "counters"
FAULTS = "SIGKILL beside reads by the page of counters and as many writes: none is stale"

KILLS = 20
ENOUGH = 10
"""At least one of this many reads must need no call. With fewer, the page was hardly tested."""


def run(ground: Ground) -> list[Outcome]:
    count = ground.scale(100_000, 1_000_000)
    outcome = Outcome("a writer, and a reader by the page", count)
    program = native.page_reader(ground)
    with ActivatingDesktop(ground) as desktop:
        reader = native.started(
            program, "--writes", count, "--reads", count, "--kill-every", count // KILLS,
            "--seed", ground.random.randrange(1 << 32), environment=desktop.environment)
        told, complaint = reader.communicate()
        outcome.note = told.strip()
        if finding := found(told, count):
            outcome.findings.append(f"{finding}\n{complaint}The daemon said: {desktop.log}")
    return [outcome]


def found(told: str, count: int) -> str | None:
    """What is wrong in the line that the program ends with."""
    match = re.fullmatch(
        r"reads (\d+) copies (\d+) writes (\d+) kills (\d+) attachments 1 seed \d+\n", told)
    if not match:
        return f"expected a line of what was read, got '{told}'"
    reads, copies, writes, kills = map(int, match.groups())
    if (reads, writes) != (count, count):
        return f"expected {count} reads and writes, got {told}"
    if copies < count // ENOUGH or kills < KILLS // 4:
        return f"expected more reads without a call, and more kills: {told}"
    return None
