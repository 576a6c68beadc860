"""The daemon killed at one of its steps, which `c/stepper.c` counts."""

import pathlib
import subprocess
from collections.abc import Sequence

HERE = pathlib.Path(__file__).resolve().parent


class Stepper:
    """Made for one scratch directory, into which it is compiled."""

    def __init__(self, directory: pathlib.Path):
        self.program = directory / "stepper"
        self.log = directory / "steps"
        subprocess.run(
            ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", HERE / "c/stepper.c", "-o",
             self.program], check=True)

    def reason_to_skip(self) -> str | None:
        """Why nothing can be traced here; nil where it can."""
        tried = subprocess.run(self.wrapper(0) + ["true"], capture_output=True, text=True)
        return tried.stderr.strip() or None if tried.returncode else None

    def wrapper(self, step: int) -> list[str]:
        """What to put before a program to have it killed at a step; at none if that is 0."""
        return [str(self.program), str(self.log), str(step)]

    def steps(self) -> list[str]:
        """The steps that the last program took: side, call and file."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line.partition(" ")[2] for line in lines]


def choice(steps: Sequence[str], first: int, ends: int = 4) -> list[int]:
    """The steps to kill at, from the one with number `first` on.

    Of a long row of the same calls with the same file, as the writing of a large text is, those at
    both ends are enough, and one in its middle.
    """
    chosen: list[int] = []
    start = first
    for number in range(first, len(steps) + 1):
        if number == len(steps) or _call(steps[number]) != _call(steps[start - 1]):
            row = list(range(start, number + 1))
            middle = len(row) // 2
            chosen += row if len(row) <= 4 * ends else (
                row[:ends] + row[middle:middle + 1] + row[-ends:])
            start = number + 1
    return chosen


def _call(step: str) -> str:
    """A step without the side, so that before and after are one row."""
    return step.partition(" ")[2]
