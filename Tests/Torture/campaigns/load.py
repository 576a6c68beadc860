"""Very many clients that change the same keys at once."""

import pathlib
import plistlib
import signal
from dataclasses import dataclass

import native
from desktop import Desktop
from ground import Ground, Outcome

NAME = "load"
FAULTS = "64 clients at once, against one key and many; then SIGKILL"
INJECTIONS = ("nothing-expected", "lost-journal")

CLIENTS = 64


@dataclass(frozen=True)
class Crowd:
    """What the clients do, and to how many keys."""

    title: str
    kind: str
    domains: int
    keys: int


CROWDS = [
    Crowd("counters of 64 clients on one key", "counters", 1, 1),
    Crowd("counters of 64 clients on many keys of one domain", "counters", 1, 1024),
    Crowd("counters of 64 clients in many domains", "counters", 64, 16),
    Crowd("64 clients that set keys of one domain, 32 calls at a time", "values", 1, 1024),
    Crowd("64 clients that set keys of their own domains, 32 calls at a time", "values", 64, 16),
]


@dataclass(frozen=True)
class Entry:
    """What is stored under a key, and when it was changed last."""

    number: int
    generation: int


def run(ground: Ground) -> list[Outcome]:
    program = native.compiled(ground, "swarm")
    crowds = CROWDS[:1] if ground.inject else CROWDS
    return [trial(ground, program, crowd) for crowd in crowds]


def trial(ground: Ground, program: pathlib.Path, crowd: Crowd) -> Outcome:
    changes = ground.scale(20, 10_000)
    outcome = Outcome(crowd.title, CLIENTS * changes)
    kind = "careless" if ground.inject == "nothing-expected" else crowd.kind
    with Desktop(ground) as desktop:
        desktop.start()
        generation = desktop.connect().properties()["Generation"]
        swarm = native.started(
            program, kind, CLIENTS, changes, crowd.domains, crowd.keys,
            ground.random.randrange(1 << 32), generation, environment=desktop.environment)
        told, complaint = swarm.communicate()
        if swarm.returncode:
            outcome.findings.append(f"{complaint}The daemon said: {desktop.daemon.log()}")
            return outcome
        *lines, outcome.note = told.splitlines()
        expected = {
            (domain, key): Entry(int(number), int(generation))
            for domain, key, number, generation in map(str.split, lines)}
        compare(desktop, expected, "as acknowledged", outcome)
        desktop.daemon.end()
        if ground.inject == "lost-journal":
            desktop.forget_session()
        desktop.start()
        compare(desktop, expected, "after SIGKILL", outcome)
        desktop.connect().call("Synchronize")
        desktop.daemon.end()
        desktop.forget_session()
        desktop.start()
        compare(desktop, expected, "after Synchronize, SIGKILL, and the journal lost", outcome)
        if (status := desktop.daemon.end(signal.SIGTERM)) != 0:
            outcome.findings.append(f"the daemon ended with {status}: {desktop.daemon.log()}")
    ground.say(f"{crowd.title}: {outcome.note}")
    return outcome


def compare(
    desktop: Desktop, expected: dict[tuple[str, str], Entry], when: str, outcome: Outcome
) -> None:
    """Notes the first difference between what is there and what was acknowledged."""
    client = desktop.connect()
    found = {}
    for domain in client.call("ListDomains")[0]:
        for key in client.call("ListKeys", "(s)", domain)[0]:
            archive, generation = client.call("Get", "(ss)", domain, key)
            found[domain, key] = Entry(number_in(archive), generation)
    client.close()
    for name in sorted(expected.keys() | found.keys()):
        if found.get(name) != expected.get(name):
            outcome.findings.append(
                f"{when}: expected {expected.get(name)} under {name}, got {found.get(name)}")
            break


def number_in(archive: bytes) -> int:
    """The number that the program in C has stored."""
    return int(plistlib.loads(archive)["$objects"][1][:16], 16)
