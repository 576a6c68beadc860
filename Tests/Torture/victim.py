"""A daemon that suffers a fault, and a ledger of what it has acknowledged meanwhile."""

import re
import signal
from collections.abc import Callable

from gi.repository import GLib

from clients import Refused
from desktop import Daemon
from faults import Faults, UnprivilegedDesktop
from ground import Ground, remove_tree
from privatebus import ERROR, NAME

DOMAIN = "org.example.Victim"
STORAGE_FAILED = ERROR + "StorageFailed"
NOT_DURABLE = ERROR + "NotDurable"
LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"


class Failed(Exception):
    """Something that was expected did not come."""


class Victim:
    """One daemon under one fault."""

    def __init__(self, ground: Ground, faults: Faults,
                 prepare: Callable[["Victim"], None] = lambda victim: None):
        """Starts it, and has it write some values to disk."""
        self.desktop = UnprivilegedDesktop(ground, faults)
        self.faults = faults
        self.random = ground.random
        self.ledger: dict[str, str] = {}
        """What was acknowledged: every key with its value."""
        self.attempted = ""
        """The value of the last change that was asked for."""
        self.told: list[str] = []
        """What the property StorageError was changed to, in order."""
        self.signalled: list[int] = []
        """The generations of the Changed signals."""
        prepare(self)
        self.start()
        for number in range(20):
            self.set(f"before {number}", size=20_000 if number % 5 == 0 else 20)
        self.synchronize()

    def __enter__(self) -> "Victim":
        return self

    def __exit__(self, *_) -> None:
        self.faults.disarm()
        self.desktop.close()
        self.desktop.forget()

    # The daemon

    @property
    def daemon(self) -> Daemon:
        return self.desktop.daemon

    def start(self) -> None:
        self.desktop.start()
        self.client = self.desktop.connect()
        self.client.listen(
            "PropertiesChanged", self._note_property, interface="org.freedesktop.DBus.Properties")
        self.client.listen("Changed", lambda *change: self.signalled.append(change[4]))
        self.told.clear()
        self.signalled.clear()

    def restart(self, number: int = signal.SIGKILL) -> None:
        """Ends the daemon and starts the next."""
        self.daemon.end(number)
        self.start()

    def restart_elsewhere(self) -> None:
        """Kills the daemon, takes the session's memory away, and starts the next: only the disk
        is left."""
        self.daemon.end()
        self.desktop.forget_session()
        self.start()

    # Calls

    def set(self, key: str, size: int = 20) -> None:
        """Makes a change; raises Refused."""
        value = self.attempted = f"{self.random.getrandbits(64):x}".ljust(size, ".")
        self.client.call("SetValue", "(ssv)", DOMAIN, key, GLib.Variant("s", value))
        self.ledger[key] = value

    def expect_taken(self, key: str, size: int = 20) -> None:
        """A change is taken and seen."""
        try:
            self.set(key, size)
        except Refused as refused:
            raise Failed(f"expected the change of '{key}' to be taken, but: {refused}") from None
        value = self.client.call("GetValue", "(ss)", DOMAIN, key)[0]
        check(value == self.ledger[key], f"'{key}' to read as it was set", value)

    def expect_refused(self, key: str, size: int = 20) -> None:
        """A change is refused by StorageFailed, and then neither seen nor signalled nor counted."""
        generation = self.properties()["Generation"]
        before = self.ledger.get(key)
        try:
            self.set(key, size)
        except Refused as refused:
            check(refused.name == STORAGE_FAILED, "StorageFailed", refused)
        else:
            raise Failed(f"expected the change of '{key}' to be refused, and it was taken")
        self.hear()
        properties = self.properties()
        check(properties["Generation"] == generation, f"generation {generation} to stay",
              properties["Generation"])
        check(not any(signal > generation for signal in self.signalled),
              "no signal of a refused change", self.signalled)
        check(self.value(key) == before, f"'{key}' as it was before the refusal", "another value")

    def value(self, key: str) -> str | None:
        try:
            return self.client.call("GetValue", "(ss)", DOMAIN, key)[0]
        except Refused as refused:
            check(refused.name == ERROR + "NotFound", "a value or NotFound", refused)
            return None

    def values(self) -> dict[str, str | None]:
        """Every key with its value."""
        try:
            values, _, _ = self.client.call("GetAllValues", "(s)", DOMAIN)
            return values
        except Refused as refused:
            check(refused.name == ERROR + "TooLarge", "all values or TooLarge", refused)
            keys, = self.client.call("ListKeys", "(s)", DOMAIN)
            return {key: self.value(key) for key in keys}

    def synchronize(self) -> None:
        """All is on disk; raises Failed."""
        try:
            self.client.call("Synchronize")
        except Refused as refused:
            raise Failed(f"expected Synchronize to succeed, but: {refused}") from None

    def expect_disk_refusal(self) -> None:
        """Synchronize reports the disk's refusal, while the disk refuses."""
        try:
            generation, = self.client.call("Synchronize")
        except Refused as refused:
            check(refused.name == NOT_DURABLE, "NotDurable of Synchronize", refused)
        else:
            raise Failed(f"expected Synchronize to fail, and it replied {generation}")

    def properties(self) -> dict[str, object]:
        return self.client.properties()

    def hear(self) -> None:
        """Has every signal that was sent so far handed out."""
        self.client.call("Ping", interface="org.freedesktop.DBus.Peer")
        self.desktop.settle()

    def _note_property(self, interface: str, changed: dict, _: list) -> None:
        if interface == NAME and "StorageError" in changed:
            self.told.append(changed["StorageError"])

    # Judgements

    def expect_all(self) -> None:
        """Every acknowledged value is there, and nothing else."""
        values = self.values()
        lost = [key for key in self.ledger if values.get(key) != self.ledger[key]]
        check(not lost, "every acknowledged value", f"others for {lost[:5]} ({len(lost)} in all)")
        extra = [key for key in values if key not in self.ledger]
        check(not extra, "no value that was not acknowledged", extra[:5])

    def expect_either(self, key: str, values: tuple[str | None, ...]) -> None:
        """One of these holds, of a change that was neither acknowledged nor refused; from now on
        it alone does."""
        value = self.value(key)
        check(value in values, f"'{key}' as it was or as it was to be", "another value")
        self.ledger.pop(key, None)
        if value is not None:
            self.ledger[key] = value

    def expect_trouble(self, pending: int) -> None:
        """The properties report the disk's refusal, and each change waits."""
        properties = self.properties()
        check(properties["StorageError"] != "", "StorageError to be set", "an empty one")
        check(properties["PendingChanges"] == pending, f"{pending} changes pending",
              properties["PendingChanges"])
        check(properties["DurableGeneration"] < properties["Generation"],
              "a durable generation below the last", properties["DurableGeneration"])

    def expect_recovery(self) -> None:
        """Nothing waits for the disk any more, and the properties say so."""
        properties = self.properties()
        check(properties["StorageError"] == "", "StorageError to be empty",
              properties["StorageError"])
        check(properties["PendingChanges"] == 0, "nothing pending", properties["PendingChanges"])
        check(properties["DurableGeneration"] == properties["Generation"],
              f"generation {properties['Generation']} to be durable",
              properties["DurableGeneration"])

    def expect_told(self, troubles: int, recoveries: int) -> None:
        """So often, and not oftener, the bus and the log were told of trouble and of its end."""
        self.hear()
        expected = ["trouble", "recovery"] * troubles
        told = ["trouble" if sentence else "recovery" for sentence in self.told]
        check(told == expected[:troubles + recoveries],
              f"{troubles} times trouble and {recoveries} times its end on the bus", self.told)
        errors = self.lines(3)
        check(len(errors) == troubles, f"{troubles} errors in the log", errors)
        ends = [line for line in self.lines(5) if "accepts changes again" in line]
        check(len(ends) == recoveries, f"{recoveries} notices of the end in the log", ends)

    def lines(self, priority: int) -> list[str]:
        """What the log has of a priority."""
        return re.findall(rf"^<{priority}>.*$", self.daemon.log(), re.MULTILINE)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        self.desktop.wait_until(holds)


def check(holds: bool, expected: str, came: object) -> None:
    if not holds:
        raise Failed(f"expected {expected}; came: {came}")


def remove(path) -> None:
    remove_tree(path) if path.is_dir() else path.unlink()
