"""Strangers at the service: other users, sandboxes, programs that want its name or cut its files."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

from gi.repository import GLib

from activation import UserManager, runs
from clients import MAINTENANCE, Client, Refused
from desktop import Desktop
from ground import Ground, Outcome
from ledger import Found, Ledger
from life import Life
from privatebus import BUS, BUS_OBJECT, NAME as SERVICE

NAME = "walls"
FAULTS = "other users, sandboxes with the host's root, programs that want the name or cut the page"
INJECTIONS = ("name-for-taking", "same-user", "page-as-file")

DENIED = "org.freedesktop.DBus.Error.AccessDenied"
CONFLICT = "org.defaultsd.Defaults1.Error.Conflict"
ALLOW_REPLACEMENT, REPLACE_EXISTING, DO_NOT_QUEUE = 1, 2, 4
NOBODY = 65534
PAGE_SIZE = 32768
CALLS = (
    (SERVICE, "Get", "org.example.Torture", "key"), (SERVICE, "ListDomains"),
    (SERVICE, "SetValue"), (SERVICE, "Apply"), (SERVICE, "Attach"), (SERVICE, "Synchronize"),
    (SERVICE, "RemoveDomain", "org.example.Torture"), (SERVICE, "NoSuchMethod"),
    (MAINTENANCE, "GetStatistics"), (MAINTENANCE, "BackUp"), (MAINTENANCE, "HandOver"),
    ("org.freedesktop.DBus.Properties", "GetAll", SERVICE),
    ("org.freedesktop.DBus.Introspectable", "Introspect"), ("org.freedesktop.DBus.Peer", "Ping"),
)


def run(ground: Ground) -> list[Outcome]:
    return [
        thieves(ground, "programs that want the name, amid hand-overs", 4, 100),
        other_users(ground, "another user's program", 10, 300),
        sandboxes(ground, "a sandbox with the host's root", 3, 40),
        cutters(ground, "files of the runtime directory cut, and the daemon killed", 4, 60),
    ]


# The name


def thieves(ground: Ground, fault: str, short: int, long: int) -> Outcome:
    """While daemons hand over to one another, others try to get the name in every way."""
    outcome = Outcome(fault, 0)
    with Desktop(ground, is_in_memory=True) as desktop:
        thief = desktop.connect()
        if ground.inject == "name-for-taking":
            # As a daemon of an earlier version would have it.
            request(desktop.watcher, ALLOW_REPLACEMENT | DO_NOT_QUEUE)
            outcome.findings += stolen(desktop, thief)
            return outcome
        desktop.start()
        life = Life(ground, desktop)

        def trial() -> None:
            life.begin()
            life.reach(ground.random.randint(1, 30))
            hand_over(life, thief)
            life.settle()
            life.judge()

        life.undergo(outcome, ground.scale(short, long), trial)
    return outcome


def hand_over(life: Life, thief: Client) -> None:
    """One daemon takes over from another, which never gives the name to anybody else."""
    desktop, chance = life.desktop, life.chance
    old = desktop.daemon
    # Somebody else waits for the name first, and the one that asks would not get it.
    rival = desktop.connect()
    request(thief, 0)
    request(rival, 0)
    check_refused(rival)
    for client in (thief, rival):
        client.call("ReleaseName", "(s)", SERVICE, name=BUS, path=BUS_OBJECT, interface=BUS)
    rival.close()
    new = desktop.start(options=["--replace"], serves=False)
    tries = chance.randint(1, 200)
    while tries or not old.has_ended:
        tries = max(0, tries - 1)
        if findings := stolen(desktop, thief):
            raise Found(findings[0])
        desktop.settle()
        if new.has_ended:
            raise Found(f"the new daemon ended with {new.wait()}: {new.log()}")
    desktop.wait_until_serving(new)
    if old.wait() != 0:
        raise Found(f"expected a clean end after a hand-over, got {old.wait()}: {old.log()}")
    if life.has_noticed:
        raise Found("a call failed though one daemon handed over to another")


def stolen(desktop: Desktop, thief: Client) -> list[str]:
    """Tries to take the name by force, and says if that worked."""
    flags = REPLACE_EXISTING | DO_NOT_QUEUE
    return ["a stranger has the name"] if request(thief, flags) != 3 else []


def request(client: Client, flags: int) -> int:
    return client.call("RequestName", "(su)", SERVICE, flags, name=BUS, path=BUS_OBJECT,
                       interface=BUS)[0]


def check_refused(client: Client) -> None:
    try:
        client.call("HandOver", interface=MAINTENANCE)
    except Refused as error:
        if error.name == CONFLICT:
            return
        raise Found(f"expected {CONFLICT}, got {error}") from None
    raise Found("the name was handed over though the caller is not next in its queue")


# Users


def other_users(ground: Ground, fault: str, short: int, long: int) -> Outcome:
    """Every call of another user's program is refused, on a bus that lets everybody in."""
    if os.geteuid() != 0:
        return Outcome(fault, 0, skipped="only root can run a program as another user")
    outcome = Outcome(fault, 0)
    user = 0 if ground.inject == "same-user" else NOBODY
    with Desktop(ground, is_in_memory=True) as desktop:
        desktop.start()
        for outcome.trials in range(1, ground.scale(short, long) + 1):
            chosen = [ground.random.choice(CALLS) for _ in range(ground.random.randint(1, 20))]
            answers = ask(desktop, ["setpriv", f"--reuid={user}", "--clear-groups"], chosen)
            for call, answer in zip(chosen, answers, strict=True):
                if answer != DENIED:
                    outcome.findings.append(f"expected {call[1]} to be denied, got {answer}")
                    return outcome
    return outcome


PROGRAM = """
import json, os, sys
from gi.repository import Gio, GLib
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
for interface, member, *arguments in json.loads(sys.argv[1]):
    body = GLib.Variant("(" + "s" * len(arguments) + ")", arguments) if arguments else None
    try:
        bus.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", interface, member, body,
                      None, 0, -1, None)
        print("answered")
    except GLib.Error as error:
        print(Gio.dbus_error_get_remote_error(error))
"""


def ask(desktop: Desktop, wrapper: list[str], calls) -> list[str]:
    """What some calls of a program are answered with: an error's name, or `answered`."""
    return subprocess.run(
        [*wrapper, sys.executable, "-c", PROGRAM, json.dumps(calls)], env=desktop.environment,
        stdout=subprocess.PIPE, text=True, check=True).stdout.split()


# Sandboxes


def sandboxes(ground: Ground, fault: str, short: int, long: int) -> Outcome:
    """A program with the host's root and other mounts has no domain of its own, and gets no more."""
    refusals = []
    ways = list(available_ways(refusals))
    if not ways:
        return Outcome(fault, 0, skipped=f"no sandbox can be made here: {'; '.join(refusals)}")
    outcome = Outcome(fault, 0)
    closed = [
        (SERVICE, "Remove", "org.example.Torture", "key"), (MAINTENANCE, "GetStatistics"),
        (MAINTENANCE, "HandOver"), (MAINTENANCE, "ListBackups")]
    open_to_all = [(SERVICE, "ListDomains"), (SERVICE, "Synchronize")]
    with Desktop(ground, is_in_memory=True) as desktop:
        desktop.start()
        for outcome.trials in range(1, ground.scale(short, long) + 1):
            for way in ways:
                answers = ask(desktop, way, closed + open_to_all)
                expected = [DENIED] * len(closed) + ["answered"] * len(open_to_all)
                if answers != expected:
                    outcome.findings.append(f"{' '.join(way)}: expected {expected}, got {answers}")
                    return outcome
    return outcome


# The page


def cutters(ground: Ground, fault: str, short: int, long: int) -> Outcome:
    """Whatever is cut, a page that was mapped under a service manager is whole, and serves on."""
    outcome = Outcome(fault, 0, skipped=UserManager.reason_to_skip())
    if outcome.skipped:
        return outcome
    manager = UserManager(ground)
    if ground.inject == "page-as-file":
        settings = manager.desktop.config / "systemd/user/defaultsd.service.d/page.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text("[Service]\nFileDescriptorStoreMax=0\nEnvironment=FDSTORE=0\n")
    manager.start()
    try:
        ledger, process, domain = Ledger(ground.random), manager.activate(), "org.example.Torture"
        client = manager.connect()
        client.call("Attach", "(as)", [])
        page = client.descriptors[0]
        for outcome.trials in range(1, ground.scale(short, long) + 1):
            ledger.attach(client)
            generation, = client.call(
                "SetValue", "(ssv)", domain, "key", GLib.Variant("i", outcome.trials))
            cut_all(manager.runtime, page)
            if os.fstat(page).st_size != PAGE_SIZE:
                raise Found("the page was cut, and ends each client at its next read")
            ledger.look_at_page(domain, generation)
            os.kill(process, signal.SIGKILL)
            manager.wait_until(lambda: not runs(process))
            process = manager.activate()
            ledger.look_at_page(domain, generation)
    except (Found, TimeoutError) as found:
        outcome.findings.append(f"trial {outcome.trials}: {found}")
    finally:
        manager.close()
    return outcome


def cut_all(runtime: pathlib.Path, page: int) -> None:
    """Cuts every page that there is a way to."""
    for file in [*runtime.rglob("counters"), pathlib.Path(f"/proc/self/fd/{page}")]:
        with contextlib.suppress(OSError):
            os.truncate(file, 0)


def available_ways(refusals):
    """What runs a program in a sandbox that looks like the host at first sight; why others do not is added."""
    for way in (["bwrap", "--bind", "/", "/"], ["bwrap", "--bind", "/", "/", "--tmpfs", "/home"],
                ["unshare", "--mount"], ["unshare", "--user", "--map-current-user"]):
        try:
            done = subprocess.run([*way, "true"], stderr=subprocess.PIPE, text=True)
        except OSError as error:
            refusals.append(str(error))
            continue
        if done.returncode == 0:
            yield way
        else:
            refusals.append(done.stderr.strip() or f"{way[0]} ended with {done.returncode}")
