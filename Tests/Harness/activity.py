"""How much processor time each running test uses."""

import os
import pathlib
import signal
from collections.abc import Callable

TICKS = os.sysconf("SC_CLK_TCK")
VARIABLE = b"DEFAULTSD_TEST="
"""The variable with the name of the test in the environment of its programs, see `RunningTest`."""


def thread_name(test: str) -> str:
    """The name of the thread that runs a test, as `StartsPrograms` makes it: half of FNV-1a."""
    number = 0xCBF29CE484222325
    for byte in test.encode():
        number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"test-{number & 0xFFFFFFFF:08x}"


def kill(process: int) -> str | None:
    """Kills a process, and returns the beginning of its command line; nothing if it has ended."""
    try:
        words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        os.kill(process, signal.SIGKILL)
    except OSError:
        return None
    return words.replace(b"\0", b" ").decode(errors="replace")[:200]


class Activity:
    """The processor time of tests and their programs.

    A test of the second tier has a thread and programs of its own. For one of the first tier, the time of the
    whole process counts.
    """

    def __init__(self, root: int, idle: float, little: float, clock: Callable[[], float]):
        """Watches the tests in a process and its descendants.

        A test is idle after `idle` seconds of the clock in which it has used no more than `little` seconds
        of processor time.
        """
        self._root, self._idle, self._little, self._clock = root, idle, little, clock
        self._now = 0.0
        """The time of the last look."""
        self._seen: dict[str, tuple[float, float, int]] = {}
        """For each running test, when it last had done something, how much it had used until then, and how many
        of its cases had been started."""
        self._programs: dict[str, list[int]] = {}
        self._threads: dict[str, float] = {}

    def look(self, running: dict[str, int]) -> None:
        """Looks what the running tests have used since the last look.

        `running` has how many cases of each have been started.
        """
        now = self._now = self._clock()
        processes = Processes()
        tree = processes.tree(self._root)
        self._programs = processes.by_test()
        self._threads = processes.threads(tree)
        all_time = sum(processes.time(process) for process in tree)
        self._seen = {test: seen for test, seen in self._seen.items() if test in running}
        for test, cases in running.items():
            programs = self._programs.get(test, [])
            thread = self._threads.get(thread_name(test), 0)
            used = thread + sum(map(processes.time, programs)) if self._has_own(test) else all_time
            since, before, earlier_cases = self._seen.get(test, (now, used, cases))
            # Less than before: a program of the test has ended.
            changed = used < before or used > before + self._little or cases != earlier_cases
            self._seen[test] = (now, used, cases) if changed else (since, before, earlier_cases)

    def idle(self) -> list[str]:
        """The tests that are idle.

        If the tests of the second tier are idle, those that wait for their turn are, too, and are not named.
        """
        idle = [test for test, (since, *_) in self._seen.items() if self._now > since + self._idle]
        return list(filter(self._has_own, idle)) or idle

    def _has_own(self, test: str) -> bool:
        """Whether a test has a thread or a program of its own."""
        return bool(self._programs.get(test)) or thread_name(test) in self._threads

    def end_programs(self, test: str) -> list[str]:
        """Kills the programs of a test, and returns their command lines."""
        self._seen.pop(test, None)
        return [line for process in self._programs.get(test, []) if (line := kill(process))]


class Processes:
    """What /proc says of all processes now."""

    def __init__(self):
        self._stats = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and (stat := self._stat(entry)):
                self._stats[int(entry.name)] = stat

    @staticmethod
    def _stat(entry: pathlib.Path) -> list[str] | None:
        try:
            # The name before may have anything in it.
            return (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None

    @staticmethod
    def _time_in(stat: list[str]) -> float:
        return sum(map(int, stat[11:13])) / TICKS

    def time(self, process: int) -> float:
        """The processor time of a process, in seconds, with that of its children that it has waited for."""
        stat = self._stats.get(process)
        return sum(map(int, stat[11:15])) / TICKS if stat else 0

    def tree(self, root: int) -> set[int]:
        """A process and its descendants."""
        children: dict[int, list[int]] = {}
        for process, stat in self._stats.items():
            children.setdefault(int(stat[1]), []).append(process)
        found, open_ = set(), [root]
        while open_:
            process = open_.pop()
            found.add(process)
            open_ += children.get(process, [])
        return found

    def by_test(self) -> dict[str, list[int]]:
        """The processes of each test, also those whose parent has ended."""
        found: dict[str, list[int]] = {}
        for process in self._stats:
            for variable in self._variables(process):
                if variable.startswith(VARIABLE):
                    found.setdefault(variable[len(VARIABLE):].decode(), []).append(process)
        return found

    def with_variable(self, name: str, value: str) -> list[int]:
        """The processes with this variable in their environment."""
        wanted = f"{name}={value}".encode()
        return [process for process in self._stats if wanted in self._variables(process)]

    @staticmethod
    def _variables(process: int) -> list[bytes]:
        try:
            return pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        except OSError:
            return []

    def threads(self, tree: set[int]) -> dict[str, float]:
        """The processor time of the threads that run tests, by their names."""
        found = {}
        for process in tree:
            for entry in self._threads_of(process):
                try:
                    name = (entry / "comm").read_text().rstrip("\n")
                except OSError:
                    continue
                if name.startswith("test-") and (stat := self._stat(entry)):
                    found[name] = found.get(name, 0) + self._time_in(stat)
        return found

    @staticmethod
    def _threads_of(process: int) -> list[pathlib.Path]:
        """The threads of a process; none if it has ended, which it may at any time."""
        try:
            return list(pathlib.Path(f"/proc/{process}/task").iterdir())
        except OSError:
            return []
