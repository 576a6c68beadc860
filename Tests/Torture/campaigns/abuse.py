"""Clients that do what nobody should, and one that only wants to be served."""

import pathlib
import re
import resource
import signal
from dataclasses import dataclass

from gi.repository import GLib

import native
from desktop import Desktop
from ground import Ground, Outcome
from privatebus import ERROR

NAME = "abuse"
FAULTS = "clients that read nothing, send 128 MiB, open 1 000 connections, make 100 000 domains..."
INJECTIONS = ("killed-under-abuse",)

TRANSPORTS = ("bus", "socket")

LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"
INVALID_ARGUMENTS = "org.freedesktop.DBus.Error.InvalidArgs"

DESCRIPTORS = 8192
"""That a bus needs for 1 000 connections."""

RATIO = 5
"""How much longer 99 of 100 calls of the one who is served may take while another offends.

Where calls to the bus itself take half as much longer, it is the bus that is busy, or the machine: a
call to the service passes the bus twice.
"""

ATTEMPTS = 3
"""Others use this machine too: what they slow down is no finding unless it is so each time."""

GIVEN_BACK = 16 << 10
"""KiB that the daemon may have of its own when all is over."""

THREADS = 2 * 3
"""Descriptors of the two threads for long calls, which are kept once they have been started."""

BUS_MEMORY = 640 << 10
"""KiB that the bus may need for what is not read; see UnreadTotal."""


@dataclass(frozen=True)
class Offence:
    """What an offender does over the bus or the daemon's socket, and what comes of it.

    `refusal` is the error that it must get, others are findings. `peak` is how many MiB the daemon may
    grow to meanwhile, and `least` how many messages are sent at least in the long run. The short run
    has only those that are `brief`. Who `is_cut_off` may lose connections to the daemon.
    """

    kind: str
    title: str
    refusal: str | None = None
    peak: int = 64
    least: int = 0
    brief: bool = False
    transports: tuple[str, ...] = TRANSPORTS
    is_cut_off: bool = False


OFFENCES = [
    # What waits is bounded by 64 MiB, what is not read by 32 MiB.
    Offence("unread-replies", "a client that reads no replies", LIMITS_EXCEEDED, 128,
            brief=True),
    Offence("unread-descriptors", "a client that reads no replies with descriptors",
            LIMITS_EXCEEDED, brief=True),
    Offence("unread-signals", "32 clients that read no signals of a busy one", brief=True),
    # libdbus has a message twice, as it is read and as it is kept.
    Offence("64-MiB", "values of 64 MiB", ERROR + "TooLarge", 192),
    Offence("128-MiB", "messages of 128 MiB", INVALID_ARGUMENTS, 320, brief=True),
    # On the bus, what is not read or not finished is in the memory of the bus.
    Offence("unread-by-many", "300 connections that read no replies of 1 MiB", peak=320,
            transports=("socket",), is_cut_off=True),
    # What is not finished is bounded by 144 MiB; a buffer that grows is there twice for a moment.
    Offence("held-halves", "20 halves of messages of 64 MiB that are never finished", peak=256,
            transports=("socket",), is_cut_off=True),
    Offence("follow-many", "250 connections that follow 16 384 domains each", LIMITS_EXCEEDED, 96,
            transports=("socket",)),
    Offence("half-messages", "halves of messages of 64 MiB"),
    Offence("connections", "a client on 1 000 connections", brief=True),
    Offence("one-call-each", "connections that end after one call, which asks for a reply"),
    Offence("domains", "100 000 domains, made and listed", least=101_000, brief=True),
    Offence("nested", "variants in variants"),
    Offence("synchronize", "a storm of Synchronize"),
    Offence("expectations", "Apply with 100 000 expectations", peak=96, brief=True),
    Offence("attach", "a storm of Attach"),
    Offence("attach-many", "Attach of 16 384 domains"),
    Offence("bulk", "GetAll of 2 MiB, 32 at a time", peak=96),
]


def run(ground: Ground) -> list[Outcome]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < DESCRIPTORS:
        reason = f"a process may open {most} files here, and the bus needs {DESCRIPTORS}"
        return [Outcome("abuse", 0, skipped=reason)]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, most))
    try:
        programs = {name: native.compiled(ground, name) for name in ("quiet", "offender")}
        offences = [each for each in OFFENCES if ground.thorough or each.brief]
        if ground.inject:
            offences = offences[:1]
        return [Trial(ground, programs, offence, transport).outcome
                for offence in offences for transport in offence.transports]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@dataclass(frozen=True)
class Times:
    """Of one kind of call: how many there were, and the microseconds that they took."""

    count: int
    half: int
    most: int
    slowest: int


class Trial:
    """One offence, on a desktop of its own."""

    def __init__(self, ground: Ground, programs: dict[str, pathlib.Path], offence: Offence,
                 transport: str):
        self.ground = ground
        self.programs = programs
        self.offence = offence
        self.transport = transport
        self.seconds = 10 if ground.thorough else 0.3
        self.title = f"{offence.title}, on the {transport}"
        self.outcome = Outcome(self.title, 1)
        for attempt in range(ATTEMPTS if ground.thorough else 1):
            self.outcome.trials = attempt + 1
            with Desktop(ground) as desktop:
                self.desktop = desktop
                is_slow = self._attempt()
            if self.outcome.findings or not is_slow:
                break
        else:
            if ground.thorough:
                self.outcome.findings.append(
                    f"in {ATTEMPTS} attempts of {ATTEMPTS} 99 of 100 calls took more than {RATIO} "
                    f"times as long as without it; in the last {self.outcome.note}")
        ground.say(f"{self.title}: {self.outcome.note}")

    def _attempt(self) -> bool:
        """Whether the one who is served was slowed down too much."""
        daemon = self.desktop.start()
        self._fill()
        before = self._serve()
        descriptors = self._descriptors() + THREADS
        offender = native.started(
            self.programs["offender"], self.transport, self.offence.kind,
            # One message is sent however busy the machine is.
            max(1, self.offence.least if self.ground.thorough else 0),
            environment=self.desktop.environment)
        offender.stdout.readline()
        if self.ground.inject == "killed-under-abuse":
            daemon.kill()
        during = self._serve()
        bus_memory = self._kibibytes(self.desktop.bus.process.pid, "status", "VmHWM")
        offender.send_signal(signal.SIGTERM)
        told, complaint = offender.communicate()
        if not (before and during):
            return False
        if offender.returncode:
            self._find(f"the offender ended with {complaint}")
        results = {name: int(count) for name, count in map(str.split, told.splitlines())}
        self._judge_results(results)
        self._judge_memory(bus_memory)
        self._judge_end(descriptors)
        return self._compare(before, during)

    def _fill(self) -> None:
        """Stores what offenders ask for."""
        client = self.desktop.connect()
        large = GLib.Variant("s", "x" * (1 << 20))
        client.call("SetValue", "(ssv)", "org.example.Offence", "Large", large)
        values = {f"Key{number}": GLib.Variant("s", "x" * 20_000) for number in range(100)}
        client.call("ApplyValues", "(sa{sv}asa{st}a{sv})", "org.example.Bulk", values, [], {}, {})
        client.close()

    def _serve(self) -> dict[str, Times] | None:
        """Has the one who is to be served make its calls; nil where it was not."""
        quiet = native.started(
            self.programs["quiet"], self.seconds, environment=self.desktop.environment)
        told, complaint = quiet.communicate()
        if quiet.returncode:
            self._find(f"one who should be served was not: {complaint}")
            return None
        return {name: Times(*map(int, figures))
                for name, *figures in map(str.split, told.splitlines())}

    # Verdicts

    @property
    def _refusal(self) -> str | None:
        """The error that the offender must get.

        Over the socket, calls of one who reads no replies wait in the socket, and are refused nothing.
        """
        is_unread = self.offence.kind.startswith("unread")
        is_kept_waiting = self.transport == "socket" and is_unread
        return None if is_kept_waiting else self.offence.refusal

    def _find(self, finding: str) -> None:
        self.outcome.findings.append(
            f"{finding.strip()}\nThe daemon said: {self.desktop.daemon.log()[-2000:]}")

    def _judge_results(self, results: dict[str, int]) -> None:
        shown = ", ".join(f"{count} {name}" for name, count in results.items())
        self.ground.say(f"{self.title}: {shown}")
        refusal = self._refusal
        errors = results.keys() - {"sent", "replies"}
        if self.offence.is_cut_off:
            errors -= {"disconnected"}
        if strange := errors - {refusal}:
            self._find(f"expected nothing but replies and {refusal}, got {strange}")
        # In a short run one who reads nothing may read it all before the daemon has lost patience.
        may_be_served = not self.ground.thorough and refusal == LIMITS_EXCEEDED
        if refusal and refusal not in errors and not may_be_served:
            self._find(f"expected that the offender gets {refusal}, got {shown}")
        is_cut_off = self.offence.is_cut_off and results.get("disconnected")
        if not results.get("sent") and not is_cut_off:
            self._find("the offender sent nothing")

    def _judge_memory(self, bus_memory: int) -> None:
        peak = self._kibibytes(self.desktop.daemon.pid, "status", "VmHWM") >> 10
        self.memory = f"peak {peak} MiB"
        if peak > self.offence.peak:
            self._find(f"expected the daemon to grow to {self.offence.peak} MiB, not {peak}")
        if bus_memory > BUS_MEMORY:
            self._find(f"expected {BUS_MEMORY} KiB at most in the bus, got {bus_memory}")

    def _judge_end(self, descriptors: int) -> None:
        """What is left of it, which may take a moment to go."""
        try:
            self.desktop.wait_until(
                lambda: self._anonymous() <= GIVEN_BACK and self._descriptors() <= descriptors)
        except TimeoutError:
            self._find(
                f"expected {GIVEN_BACK} KiB and {descriptors} descriptors at most when it was over, "
                f"got {self._anonymous()} and {self._descriptors()}")
        domains, = self.desktop.connect().call("ListDomains")
        if self.ground.thorough and self.offence.kind == "domains":
            made = sum(name.startswith("org.example.Domain") for name in domains)
            if made < 100_000:
                self._find(f"expected 100 000 domains, got {made}")
        if (status := self.desktop.daemon.end(signal.SIGTERM)) != 0:
            self._find(f"the daemon ended with {status}")

    def _compare(self, before: dict[str, Times], during: dict[str, Times]) -> bool:
        ratios = {name: during[name].most / before[name].most for name in before}
        figures = "; ".join(
            f"{name} {before[name].most} then {during[name].most} us ({ratios[name]:.1f}), "
            f"slowest {during[name].slowest}" for name in ("Set", "Get"))
        self.outcome.note = (
            f"{figures}; the bus alone {ratios['Ping']:.1f}; {during['Get'].count} rounds; "
            f"{self.memory}")
        return max(ratios["Set"], ratios["Get"]) > max(RATIO, 2 * ratios["Ping"])

    # Figures

    def _anonymous(self) -> int:
        return self._kibibytes(self.desktop.daemon.pid, "smaps_rollup", "Anonymous")

    def _descriptors(self) -> int:
        return len(list(pathlib.Path(f"/proc/{self.desktop.daemon.pid}/fd").iterdir()))

    @staticmethod
    def _kibibytes(process: int, file: str, name: str) -> int:
        text = pathlib.Path(f"/proc/{process}/{file}").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", text)[1])
