"""One run of the tests: what it says, which tests run, and the end of those that do nothing any more."""

import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable

from activity import Activity

IDLE = 120
"""Seconds in which a test that works does something. How busy the machine is does not matter: what counts is
processor time."""

LITTLE = 1.0
"""Seconds of processor time that count as nothing: a daemon that waits uses less."""

LOOK = 5
"""Seconds between two looks at the processes."""

PROGRESS = 30
"""Seconds between two lines about the progress."""

TEST = r"[✔✘◇➜━] Test (?!case |run )(?P<name>.+?)"
SKIPPED = re.compile(TEST + r" skipped(?:: \"(?P<reason>.*)\")?$")
SUITE_SKIPPED = re.compile(r"➜ Suite (?P<name>.+?) skipped(?:: \"(?P<reason>.*)\")?$")
SAID = re.compile(r"^skipped: (?P<reason>.*)$")
"""A test that finds out while it runs says why there was nothing to test."""
VERDICT = re.compile(r"[✔✘━] Test run with ")
LINES_OF_ISSUE = 30


class TestRun:
    """A run of the tests.

    `passed` and `failed` are numbers of tests. `skipped` has pairs of a reason and a name, which is empty
    if only a part of a test was skipped.
    """

    def __init__(self, command: list[str], directory: pathlib.Path, environment: dict[str, str], log,
                 idle: float = IDLE, look: float = LOOK, clock: Callable[[], float] = time.monotonic):
        self.command, self.directory, self.environment = command, directory, environment
        self.log = log
        self._idle, self._look, self._clock = idle, look, clock
        self.status = 0
        # By the events: what tests and their programs print can break a line of the output apart.
        self.passed = self.failed = 0
        self.issues: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.left: list[str] = []
        self.verdict = ""
        self._open_lines = 0

    def run(self) -> None:
        """Runs the tests to their end."""
        with tempfile.TemporaryDirectory() as folder:
            events = pathlib.Path(folder, "events")
            events.touch()
            process = subprocess.Popen(
                [*self.command, "--event-stream-output-path", events, "--event-stream-version", "0"],
                cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0)
            cases = Cases(events)
            try:
                if not self._follow(process, cases):
                    os.killpg(process.pid, signal.SIGKILL)
                self.status = process.wait()
                cases.running()
                self.passed, self.failed = cases.passed, cases.failed
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if self.issues and not self.status:
            self.status = 1

    def _follow(self, process: subprocess.Popen, cases: "Cases") -> bool:
        """Reads what the tests say until they end; returns false if they have to be ended."""
        activity, rest = Activity(process.pid, self._idle, LITTLE, self._clock), b""
        told = looked = time.monotonic()
        while True:
            if select.select([process.stdout], [], [], self._look)[0]:
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    return True
                self.log.write(data)
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._read(line.decode(errors="replace"))
            if time.monotonic() > looked + self._look:
                looked = time.monotonic()
                activity.look(cases.running())
                if not self._end_idle(activity, cases):
                    return False
            if time.monotonic() > told + PROGRESS:
                told = time.monotonic()
                print(f"{cases.passed} tests passed, {cases.failed} failed, {len(self.skipped)} skipped",
                      flush=True)

    def _end_idle(self, activity: Activity, cases: "Cases") -> bool:
        """Ends the programs of tests that do nothing any more.

        Returns false if that does not help: such a test ends the run.
        """
        for test in activity.idle():
            names = ", ".join(cases.names(test))
            if programs := activity.end_programs(test):
                self.issues.append(f"{names} did nothing for {self._idle} s. Its programs were ended:")
                self.issues += [f"    {program}" for program in programs]
            else:
                self.issues.append(
                    f"{names} did nothing for {self._idle} s, and no program of it runs. The run was ended.")
                return False
        return True

    def _read(self, line: str) -> None:
        if skipped := SKIPPED.match(line) or SUITE_SKIPPED.match(line):
            self.skipped.append((skipped["reason"] or "no reason is given", skipped["name"]))
        elif said := SAID.match(line):
            self.skipped.append((said["reason"], ""))
        elif VERDICT.match(line):
            self.verdict = line
        self._read_issue(line)

    def _read_issue(self, line: str) -> None:
        """Keeps the first lines of what a test expected and what came."""
        if " recorded an issue" in line or "Fatal error" in line or ": error: " in line:
            self._open_lines = LINES_OF_ISSUE
        elif line.startswith(("✔", "◇", "✘", "➜")):
            self._open_lines = 0
        if self._open_lines:
            self.issues.append(line[:400])
            self._open_lines -= 1


class Cases:
    """The test cases that run, by the events of Swift Testing.

    A case has events if its test has arguments. A test without arguments that has started may still wait for
    its turn; `Activity` knows it by its thread when it runs.
    """

    def __init__(self, events: pathlib.Path):
        self._events = events.open("rb")
        self._rest = b""
        self._running: dict[str, list[str]] = {}
        self._started: dict[str, int] = {}
        self._functions: set[str] = set()
        self._without_arguments: set[str] = set()
        self.passed = self.failed = 0

    def running(self) -> dict[str, int]:
        """The tests of which a case runs, by their identifiers, and how many cases of each have been started."""
        *lines, self._rest = (self._rest + self._events.read()).split(b"\n")
        for line in lines:
            self._read(json.loads(line))
        return {test: self._started[test] for test in self._running}

    def _read(self, line: dict) -> None:
        event, kind = line["payload"], line["payload"].get("kind")
        if line["kind"] == "test" and kind == "function":
            self._functions.add(event["id"])
            if not event["isParameterized"]:
                self._without_arguments.add(event["id"])
        test, name = event.get("testID", ""), event.get("_testCase", {}).get("displayName", "")
        is_case = test in self._without_arguments
        if kind == "testCaseStarted" or is_case and kind == "testStarted":
            self._running.setdefault(test, []).append(name)
            self._started[test] = self._started.get(test, 0) + 1
        elif (kind == "testCaseEnded" or is_case and kind == "testEnded") and name in self._running.get(test, []):
            self._running[test].remove(name)
            if not self._running[test]:
                del self._running[test]
        if kind == "testEnded" and test in self._functions:
            has_failed = any(message["symbol"] == "fail" for message in event["messages"])
            self.failed += has_failed
            self.passed += not has_failed

    def names(self, test: str) -> list[str]:
        """The names of the running cases of a test."""
        return [f"{test} ({case})" if case else test for case in self._running.get(test, [])]
