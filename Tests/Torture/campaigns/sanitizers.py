"""The unit tests and the daemon as a compiler makes them that watches memory and threads."""

import os
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

from ground import Ground, Outcome

NAME = "sanitizers"
FAULTS = "AddressSanitizer and ThreadSanitizer over the unit tests, the load and the model"

HERE = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = HERE.parents[1]

SUITES = [
    "SQLiteTests", "PropertyListTests", "XMLPropertyListTests", "DefaultsModelTests",
    "DefaultsStorageTests", "DBusTests", "DefaultsProtocolTests", "KeyedArchiveTests",
    "DefaultsFoundationTests",
]
"""The end-to-end tests run the shipped programs, which are not what is made here."""

TOO_DEEP = "RefusalTests/depth"
"""Measures what a stack of 256 KiB holds, which a sanitizer makes several times as much."""

HOUR = 3600
MODEL_SECONDS = 120


@dataclass(frozen=True)
class Sanitizer:
    """What is watched: the compiler's name for it, and the environment of its programs."""

    name: str
    variable: str
    options: str

    def environment(self, ground: Ground, log: pathlib.Path) -> dict[str, str]:
        suppressions = ground.directory / f"{self.name}.txt"
        suppressions.write_text(SUPPRESSIONS.get(self.name, ""))
        options = f"{self.options}:log_path={log}"
        if self.name in SUPPRESSIONS:
            options += f":suppressions={suppressions}"
        # A report is written to a file that the daemon may not make.
        return os.environ | {self.variable: options, "DEFAULTSD_UNCONFINED": "1"}


SANITIZERS = [
    # Swift keeps the address of an object's weak references shifted, so that all they lead to counts
    # as leaked when a program ends with them. What leaks in earnest makes the soak grow.
    Sanitizer("address", "ASAN_OPTIONS", "detect_leaks=0"),
    Sanitizer("thread", "TSAN_OPTIONS", "halt_on_error=0"),
]

SUPPRESSIONS = {
    # A Mutex that is contended is handed over by the kernel (FUTEX_UNLOCK_PI) in a library that is
    # not instrumented: the sanitizer takes what it guards for unguarded. All that is in an Inbox of
    # the loop is touched under its Mutex only, which the compiler sees to.
    "thread": "race:4DBus9EventLoopC*5InboxAE\n",
}


def run(ground: Ground) -> list[Outcome]:
    if not ground.thorough:
        return [Outcome("sanitizers", 0, skipped="they are built and run for an hour, with "
                        "--thorough only")]
    return [outcome for sanitizer in SANITIZERS for outcome in Build(ground, sanitizer).outcomes()]


class Build:
    """The package, built for one sanitizer in a folder of its own."""

    def __init__(self, ground: Ground, sanitizer: Sanitizer):
        self.ground = ground
        self.sanitizer = sanitizer
        self.scratch = PACKAGE / ".build" / sanitizer.name
        self.logs = ground.directory / f"reports-{sanitizer.name}"
        self.logs.mkdir()

    def outcomes(self) -> list[Outcome]:
        built = self._swift("build", "--build-tests")
        if built.returncode:
            return [self._outcome("the build", [built.stdout[-4000:]])]
        programs = self.scratch / "debug"
        torture = [sys.executable, "-B", HERE / "torture", "--programs", programs]
        model = [PACKAGE / "Tests/Model/model-test", "--programs", programs]
        return [
            *[self._suite(suite) for suite in SUITES],
            self._program("the load", [*torture, "load"]),
            self._program("the abuse", [*torture, "abuse"], is_measured=False),
            self._program("the model test", [*model, "--seconds", str(MODEL_SECONDS)]),
        ]

    def _suite(self, suite: str) -> Outcome:
        log = self.logs / suite
        ran = self._swift(
            "test", "--skip-build", "--no-parallel", "--filter", rf"^{suite}\.", "--skip", TOO_DEEP,
            environment=self.sanitizer.environment(self.ground, log))
        findings = self._reports(log)
        # Of the two runs, of XCTest and of Swift Testing, the first one has no tests.
        passed = re.search(r"Test run with (\d+) tests? .*passed", ran.stdout)
        if not passed or ran.returncode:
            failures = re.findall(r"^✘.*", ran.stdout, re.MULTILINE)
            findings.append("\n".join(failures[:20]) or ran.stdout[-4000:])
        return self._outcome(suite, findings, int(passed[1]) if passed else 0)

    def _program(self, what: str, command: list, is_measured: bool = True) -> Outcome:
        """Runs what drives the daemon; its own verdict counts where it does not measure sizes."""
        log = self.logs / what.replace(" ", "-")
        ran = self._ran(command, self.sanitizer.environment(self.ground, log))
        findings = self._reports(log)
        if ran.returncode and is_measured:
            findings.append(ran.stdout[-4000:])
        return self._outcome(what, findings)

    def _reports(self, log: pathlib.Path) -> list[str]:
        return [file.read_text(errors="replace")[:4000]
                for file in sorted(log.parent.glob(f"{log.name}.*"))]

    def _outcome(self, what: str, findings: list[str], trials: int = 1) -> Outcome:
        title = f"{self.sanitizer.name}: {what}"
        self.ground.say(f"{title}: {'found' if findings else 'nothing found'}")
        return Outcome(title, trials, findings)

    def _swift(self, verb: str, *arguments: str, environment=None) -> subprocess.CompletedProcess:
        return self._ran(
            ["swift", verb, "--traits", "Programs", *arguments, "--sanitize", self.sanitizer.name, "--scratch-path",
             self.scratch], environment)

    @staticmethod
    def _ran(command: list, environment: dict[str, str] | None) -> subprocess.CompletedProcess:
        try:
            return subprocess.run(
                command, cwd=PACKAGE, env=environment, stdin=subprocess.DEVNULL, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", timeout=HOUR)
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode(errors="replace")
            return subprocess.CompletedProcess(command, 1, f"{said}\nnot over after {HOUR} s")
