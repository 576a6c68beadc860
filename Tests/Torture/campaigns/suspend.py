"""The machine is suspended: nothing that was acknowledged before is left to a battery."""

import os
import pathlib
import signal
import socket
import time

from gi.repository import GLib

from activation import UserManager
from clients import Client, Refused
from desktop import Daemon, Desktop
from ground import Ground, Outcome
from life import FSYNC, slow_disk, traced
from logind import Logind, SystemBus
from privatebus import ERROR

NAME = "suspend"
FAULTS = "sleeps with changes pending, slow and failing disks, logind and the system bus gone"
INJECTIONS = ("sleep-at-once",)

DOMAIN = "org.example.App"


def run(ground: Ground) -> list[Outcome]:
    return [fault(ground) for fault in (
        sleeps, storm, disk_is_slow, disk_hangs, disk_is_full, logind_restarts, logind_denies,
        bus_ends, bus_stopped, bus_full, confined, idle)]


class Machine:
    """A desktop on a machine that can sleep, with a daemon."""

    def __init__(self, ground: Ground, wrapper: tuple[str, ...] = (), grants: bool = True):
        self.ground = ground
        self.desktop = Desktop(ground, is_in_memory=True)
        self.bus = SystemBus(self.desktop)
        self.logind = Logind(self.bus, grants)
        self.desktop.start(wrapper=wrapper)
        self.client = self.desktop.connect()
        self.number = 0
        self.wait(lambda: self.logind.asked)

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_) -> None:
        self.logind.close()
        self.desktop.close()
        self.bus.stop()

    def wait(self, holds) -> None:
        self.desktop.wait_until(lambda: bool(holds()))

    def change(self) -> int:
        """Makes a change; its value."""
        self.number += 1
        set_number(self.client, self.number)
        return self.number

    def fall_asleep(self) -> None:
        """Waits as logind does: until nobody holds a lock."""
        self.logind.prepare(True)
        if self.ground.inject != "sleep-at-once":
            self.wait(lambda: not self.logind.held)

    def wake_up(self) -> None:
        granted = len(self.logind.locks)
        self.logind.prepare(False)
        self.wait(lambda: len(self.logind.locks) > granted and self.logind.held)

    def restart_with_wal(self, *injection: str) -> None:
        """Starts again with a fault in the calls on the write-ahead log."""
        wal = self.desktop.data / "defaults.db-wal"
        asked = self.logind.asked
        self.desktop.restart(wrapper=(*traced(*injection), "-P", str(wal)))
        self.wait(lambda: self.logind.asked > asked)

    def lose_power(self) -> None:
        """Ends everything in memory, and starts again."""
        self.desktop.daemon.end(signal.SIGKILL)
        self.desktop.forget_session()
        asked = self.logind.asked
        self.desktop.start()
        self.wait(lambda: self.logind.asked > asked)


def set_number(client: Client, number: int) -> None:
    client.call("SetValue", "(ssv)", DOMAIN, "number", GLib.Variant("x", number))


def number_of(client: Client) -> int:
    try:
        return client.call("GetValue", "(ss)", DOMAIN, "number")[0]
    except Refused as refusal:
        if refusal.name != ERROR + "NotFound":
            raise
        return 0


def sleeps(ground: Ground) -> Outcome:
    findings, trials = [], ground.scale(6, 100)
    with Machine(ground) as machine:
        for trial in range(trials):
            expected = machine.change()
            machine.fall_asleep()
            if trial % 2:
                machine.wake_up()
                continue
            machine.lose_power()
            if (found := number_of(machine.client)) != expected:
                findings.append(f"expected {expected} after a sleep without power, got {found}")
        arguments = machine.logind.locks[0].arguments
        if (arguments[0], arguments[1], arguments[3]) != ("sleep", "defaultsd", "delay"):
            findings.append(f"expected a delay lock on sleep, was asked for {arguments}")
    return Outcome("a sleep with pending changes, half of which never end", trials, findings)


def storm(ground: Ground) -> Outcome:
    findings, trials, length = [], ground.scale(5, 100), 40
    with Machine(ground) as machine:
        expected = machine.logind.asked
        for _ in range(trials):
            for is_sleep in ground.random.choices((True, False), k=length):
                if ground.random.random() < 0.2:
                    machine.change()
                machine.logind.prepare(is_sleep)
                expected += not is_sleep
            machine.logind.prepare(True)
            # It asks for a lock at each awakening.
            machine.wait(lambda: machine.logind.asked == expected and not machine.logind.held)
            findings += pending(machine, expected=False)
            machine.wake_up()
            expected += 1
            if len(machine.logind.held) != 1:
                findings.append(f"expected one lock, {len(machine.logind.held)} are held")
        if number_of(machine.client) != machine.number:
            findings.append("the last change is not there")
    return Outcome("sleeps announced faster than the disk writes", trials * length, findings)


def disk_is_slow(ground: Ground) -> Outcome:
    findings, trials = [], ground.scale(1, 10)
    with Machine(ground, slow_disk(0.7)) as machine:
        for _ in range(trials):
            machine.change()
            machine.fall_asleep()
            findings += pending(machine, expected=False)
            machine.wake_up()
    return Outcome("a sleep while fsync takes a second", trials, findings)


def disk_hangs(ground: Ground) -> Outcome:
    with Machine(ground) as machine:
        machine.restart_with_wal(f"trace={FSYNC}", f"inject={FSYNC}:delay_enter=8000000")
        machine.change()
        machine.fall_asleep()
        findings = pending(machine, expected=True)
        if "before the disk has taken all" not in machine.desktop.daemon.log():
            findings.append("the log does not tell of the changes that are not on disk")
    return Outcome("a sleep while fsync hangs", 1, findings)


def disk_is_full(ground: Ground) -> Outcome:
    trials = ground.scale(1, 10)
    with Machine(ground) as machine:
        machine.restart_with_wal("trace=pwrite64", "inject=pwrite64:error=ENOSPC")
        findings = []
        for _ in range(trials):
            machine.change()
            machine.fall_asleep()
            findings += pending(machine, expected=True)
            machine.wake_up()
        machine.desktop.restart(signal.SIGKILL)
        if number_of(machine.client) != machine.number:
            findings.append("the last change is not there after the disk had room again")
    return Outcome("a sleep while the disk is full", trials, findings)


def pending(machine: Machine, expected: bool) -> list[str]:
    """A finding if changes are pending and should not be, or the reverse."""
    count = machine.client.properties()["PendingChanges"]
    if bool(count) == expected:
        return []
    return [f"the machine slept with {count} changes pending, expected {'some' if expected else 'none'}"]


def logind_restarts(ground: Ground) -> Outcome:
    findings, trials = [], ground.scale(2, 20)
    with Machine(ground) as machine:
        for _ in range(trials):
            before, machine.logind = machine.logind, Logind(machine.bus)
            machine.wait(lambda: machine.logind.held)
            machine.wait(lambda: not before.held)
            before.close()
            machine.change()
            machine.fall_asleep()
            findings += pending(machine, expected=False)
            machine.wake_up()
    return Outcome("logind restarts, and then a sleep", trials, findings)


def logind_denies(ground: Ground) -> Outcome:
    with Machine(ground, grants=False) as machine:
        machine.change()
        machine.logind.prepare(True)
        machine.wait(lambda: not pending(machine, expected=False))
        findings = []
        if "Not you." not in machine.desktop.daemon.log():
            findings.append("the log does not tell that the lock was denied")
    return Outcome("a sleep although logind grants no lock", 1, findings)


def bus_ends(ground: Ground) -> Outcome:
    findings = []
    with Machine(ground) as machine:
        machine.bus.stop()
        machine.wait(lambda: not machine.logind.held)
        expected = machine.change()
        findings += is_idle(machine.desktop.daemon)
        machine.desktop.restart()
        if number_of(machine.client) != expected:
            findings.append("the last change is not there after a restart without a system bus")
    return Outcome("the system bus ends", 1, findings)


def bus_stopped(ground: Ground) -> Outcome:
    with Desktop(ground, is_in_memory=True) as desktop, SystemBus(desktop) as bus:
        logind = Logind(bus)
        bus.signal(signal.SIGSTOP)
        desktop.start()
        client = desktop.connect()
        set_number(client, 1)
        client.call("Synchronize")
        bus.signal(signal.SIGCONT)
        desktop.wait_until(lambda: bool(logind.held))
        # And one that ends while it waits for the answer.
        bus.signal(signal.SIGSTOP)
        status = desktop.restart().end(signal.SIGTERM)
        logind.close()
        findings = [] if status == 0 else [f"expected a clean end, got {status}"]
    return Outcome("a system bus that does not answer", 2, findings)


def bus_full(ground: Ground) -> Outcome:
    with Desktop(ground, is_in_memory=True) as desktop, socket.socket(socket.AF_UNIX) as server:
        path = str(desktop.directory / "system-bus")
        server.bind(path)
        server.listen(0)
        waiting = []
        try:
            while True:
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].setblocking(False)
                waiting[-1].connect(path)
        except BlockingIOError:
            pass
        desktop.start()
        client = desktop.connect()
        set_number(client, 1)
        status = desktop.daemon.end(signal.SIGTERM)
        for each in waiting:
            each.close()
        findings = [] if status == 0 else [f"expected a clean end, got {status}"]
    return Outcome("a system bus that takes no connections", 1, findings)


def confined(ground: Ground) -> Outcome:
    """The unit, as it is installed, lets the service do all of this."""
    fault = "a sleep under the confinement of the unit"
    if reason := UserManager.reason_to_skip():
        return Outcome(fault, 0, skipped=reason)
    manager = UserManager(ground)
    with SystemBus(manager.desktop) as bus:
        logind = Logind(bus)
        manager.start()
        try:
            manager.activate()
            manager.wait_until(lambda: bool(logind.held))
            client = manager.connect()
            set_number(client, 1)
            logind.prepare(True)
            manager.wait_until(lambda: not logind.held)
            count = client.properties()["PendingChanges"]
        finally:
            manager.close()
            logind.close()
    findings = [f"the machine slept with {count} changes pending"] if count else []
    return Outcome(fault, 1, findings)


def idle(ground: Ground) -> Outcome:
    with Machine(ground) as machine:
        machine.change()
        machine.client.call("Synchronize")
        findings = is_idle(machine.desktop.daemon)
    return Outcome("nothing happens, and nothing is done", 1, findings)


def is_idle(daemon: Daemon) -> list[str]:
    """A finding where the daemon wakes up though there is nothing to do."""
    # What it was asked for last may still be under way, and memory is given back a moment later.
    for _ in range(5):
        before = switches(daemon)
        time.sleep(0.5)
        if switches(daemon) == before:
            return []
    return ["expected a daemon that sleeps, it woke up in each of five half seconds"]


def switches(daemon: Daemon) -> list[str]:
    """How often each thread has gone to sleep."""
    return [line for task in sorted(os.listdir(f"/proc/{daemon.pid}/task"))
            for line in pathlib.Path(f"/proc/{daemon.pid}/task/{task}/status").read_text().splitlines()
            if "ctxt_switches" in line]
