"""Calls that take long: what others do meanwhile, of when the answers are, and a daemon that ends."""

import signal

from gi.repository import GLib

from clients import Client, Pending, Refused
from desktop import Desktop
from ground import Ground, Outcome
from privatebus import BUS, BUS_OBJECT

NAME = "longcalls"
FAULTS = "reads of a huge domain and large values, beside small calls, changes and ends of the daemon"
INJECTIONS = ("behind-the-long-call", "half-changes", "lost-answer")

HUGE, SMALL = "org.example.Huge", "org.example.Small"
KEYS = 20_000
ATTEMPTS = 20
"""Two threads work at the same time: a small call must come first once in this many attempts."""
ATTEMPTS_IN_VAIN = 4
"""The same where a break prevents it."""
FIRST, LAST = "key 000000", f"key {KEYS - 1:06}"
LARGE = {f"key {number:06} {'x' * 60}": GLib.Variant("i", number) for number in range(15_000)}

CALLS = {
    "GetAllValues": ("(s)", HUGE), "ListKeys": ("(s)", HUGE), "GetChanges": ("(st)", HUGE, 0),
    "Attach": ("(as)", [HUGE]), "GetValue": ("(ss)", HUGE, "large"),
    "SetValue": ("(ssv)", HUGE, "large", GLib.Variant("a{sv}", LARGE)),
}


def run(ground: Ground) -> list[Outcome]:
    trials = {"behind-the-long-call": [others], "half-changes": [one_generation],
              "lost-answer": [ends]}
    return [trial(ground) for trial in trials.get(ground.inject, [others, one_generation, ends])]


def filled(ground: Ground) -> Desktop:
    """A desktop whose daemon serves a huge domain."""
    desktop = Desktop(ground)
    desktop.start()
    client = desktop.connect()
    apply(client, {f"key {number:06}": 0 for number in range(KEYS)})
    client.call("SetValue", "(ssv)", HUGE, "large", CALLS["SetValue"][3])
    client.call("Synchronize")
    return desktop


def apply(client: Client, numbers: dict[str, int]) -> int:
    """Sets keys of the huge domain in one change: its generation."""
    values = {key: GLib.Variant("i", number) for key, number in numbers.items()}
    return client.call("ApplyValues", "(sa{sv}asa{st}a{sv})", HUGE, values, [], {}, {})[0]


def begin(client: Client, method: str, **options) -> Pending:
    """Sends a long call, which the bus has passed on when this returns."""
    pending = client.begin(method, *CALLS[method], **options)
    client.call("GetId", name=BUS, path=BUS_OBJECT, interface=BUS)
    return pending


# What others do

def others(ground: Ground) -> Outcome:
    """While each long call is carried out, another caller's small change is made and told."""
    outcome = Outcome("a small change beside each long call", 0)
    with filled(ground) as desktop:
        long, small = desktop.connect(), desktop.connect()
        order: list[str] = []
        long.listen("Changed", lambda domain, *_: order.append(domain))
        attempts = ATTEMPTS_IN_VAIN if ground.inject else ATTEMPTS
        for method in CALLS:
            tried = overtaken(desktop, long, small, method, order, attempts)
            outcome.trials += tried or attempts
            if not tried:
                outcome.findings.append(
                    f"{method}: expected a small change of another caller to come before its answer "
                    f"once in {attempts} attempts, and it never did")
                if ground.inject:
                    break
    return outcome


def overtaken(
    desktop: Desktop, long: Client, small: Client, method: str, order: list[str], attempts: int
) -> int | None:
    """After how many attempts a change came before the answer; None where it never did.

    One connection hears of both, in the order in which the daemon sends them.
    """
    changer = long if desktop.ground.inject == "behind-the-long-call" else small
    for number in range(1, attempts + 1):
        order.clear()
        begin(long, method, done=lambda pending: order.append(answered(pending)))
        changer.begin("SetValue", "(ssv)", SMALL, "key", GLib.Variant("s", f"{method} {number}"))
        desktop.wait_until(lambda: "answered" in order and SMALL in order)
        if order.index(SMALL) < order.index("answered"):
            return number
    return None


def answered(pending: Pending) -> str:
    if isinstance(pending.answer, Refused):
        raise pending.answer
    return "answered"


# Of when the answers are

def one_generation(ground: Ground) -> Outcome:
    """Two keys change together while everything is read: no answer has one without the other."""
    outcome = Outcome("answers while two keys change together", 0)
    with filled(ground) as desktop:
        reader, writer = desktop.connect(), desktop.connect()
        made, number = {}, 0
        is_half = ground.inject == "half-changes"
        for _ in range(ground.scale(4, 100)):
            if is_half:
                apply(writer, {FIRST: number + 1})
            pending = begin(reader, "GetAllValues")
            while pending.answer is None:
                number += 1
                change = {LAST: number} if is_half else {FIRST: number, LAST: number}
                made[apply(writer, change)] = number
                if number % 5 == 0:
                    writer.call("Synchronize")
                desktop.settle()
            values, _, generation = pending.answer
            outcome.trials += 1
            expected = made.get(generation, 0 if not outcome.trials > 1 else None)
            if values[FIRST] != values[LAST] or expected not in (None, values[FIRST]):
                outcome.findings.append(
                    f"at generation {generation}: expected {expected} under both keys, got "
                    f"{values[FIRST]} and {values[LAST]}")
                break
    return outcome


# Ends

def ends(ground: Ground) -> Outcome:
    """A daemon that is ended or replaced answers what it was sent; one that is killed loses nothing."""
    outcome = Outcome("SIGTERM, --replace and SIGKILL during long calls", 0)
    with filled(ground) as desktop:
        for number in range(ground.scale(2, 40)):
            for way in (terminated, replaced, killed):
                outcome.trials += 1
                outcome.findings += [f"{way.__name__}: {finding}" for finding in way(desktop, number)]
            if outcome.findings:
                break
    return outcome


def flood(desktop: Desktop, number: int) -> dict[str, Pending]:
    """Long calls of several callers, and behind one of them a change of the same caller."""
    calls, clients = {}, [desktop.connect() for _ in range(3)]
    for client, methods in zip(clients, (["GetAllValues"], ["GetValue", "ListKeys"], ["SetValue"])):
        for method in methods:
            calls[method] = begin(client, method)
    calls["behind"] = clients[0].begin(
        "SetValue", "(ssv)", HUGE, "behind", GLib.Variant("s", f"{number}"))
    # The bus has passed it on.
    clients[0].call("GetId", name=BUS, path=BUS_OBJECT, interface=BUS)
    return calls


def unanswered(desktop: Desktop, calls: dict[str, Pending]) -> list[str]:
    desktop.wait_until(lambda: all(pending.answer is not None for pending in calls.values()))
    if desktop.ground.inject == "lost-answer":
        calls["behind"].answer = Refused("NoReply", "The break has dropped it.")
    return [f"expected an answer of {name}, got {pending.answer}"
            for name, pending in calls.items() if isinstance(pending.answer, Refused)]


def terminated(desktop: Desktop, number: int) -> list[str]:
    calls = flood(desktop, number)
    desktop.daemon.kill(signal.SIGTERM)
    findings = unanswered(desktop, calls)
    if (status := desktop.daemon.wait()) != 0:
        findings.append(f"the daemon ended with {status}: {desktop.daemon.log()}")
    desktop.start()
    return findings + unkept(desktop, number)


def replaced(desktop: Desktop, number: int) -> list[str]:
    calls, earlier = flood(desktop, number), desktop.daemon
    desktop.start(options=["--replace"])
    findings = unanswered(desktop, calls)
    if (status := earlier.wait()) != 0:
        findings.append(f"the daemon before ended with {status}: {earlier.log()}")
    return findings + unkept(desktop, number)


def killed(desktop: Desktop, number: int) -> list[str]:
    desktop.connect().call("SetValue", "(ssv)", HUGE, "behind", GLib.Variant("s", f"{number}"))
    flood(desktop, number)
    desktop.restart(signal.SIGKILL)
    return unkept(desktop, number)


def unkept(desktop: Desktop, number: int) -> list[str]:
    """What the next daemon does not have."""
    client = desktop.connect()
    found, = client.call("GetValue", "(ss)", HUGE, "behind")[:1]
    keys, = client.call("ListKeys", "(s)", HUGE)
    findings = [] if found == f"{number}" else [f"expected {number} to be kept, got {found}"]
    if len(keys) != KEYS + 2:
        findings.append(f"expected {KEYS + 2} keys to be kept, got {len(keys)}")
    return findings
