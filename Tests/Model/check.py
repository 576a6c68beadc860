"""Takes steps with the service and with the model, and tells the first difference.

What the model cannot know, as the order of calls in flight, and whether a call was taken whose
caller lost the reply to a kill, makes several worlds: models that differ in just that. An answer
ends those that it contradicts. When none is left, the service has done what no world allows.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gi.repository import GLib

from archives import graph
from model import Among, Between, Model, OneOf, Signal
from page import Page
from refusals import Call, Refused
from privatebus import ERROR, NO_REPLY
from service import NOT_TAKEN, Refusal, Reply, Service
from values import Value
from wire import arguments, plain

Step = dict[str, object]

MOST_WORLDS = 24
COPIES_KEPT = 8


@dataclass
class Event:
    """What was done with the service, and what came of it."""

    step: Step
    calls: list[Call] = field(default_factory=list)
    """The calls that were sent, with numbers for generations."""
    answers: list[Reply | Refusal] = field(default_factory=list)
    properties: dict[str, object] = field(default_factory=dict)
    heard: list[GLib.Variant] = field(default_factory=list)
    """The arguments of the Changed signals that followed."""


@dataclass
class Failure(Exception):
    """The service has done what the model does not allow; `events` led there."""

    what: str
    expected: object
    came: object
    events: list[Event]


class Checker:
    """One run of the service beside its model."""

    def __init__(self, service: Service, model: Model):
        self.service = service
        self.worlds = [model]
        self.events: list[Event] = []
        self.page: Page | None = None
        self.announced = 0
        self.copies: dict[str, list[tuple[dict[str, bytes], int]]] = {}

    def take(self, step: Step) -> None:
        """Takes one step.

        Raises Failure where the service differs from every world.
        """
        try:
            STEPS[step["do"]](self, step)
        except TimeoutError:
            self.events.append(Event(step))
            self.fail("end of the daemon", "an end", "none")
        if len(self.worlds) > MOST_WORLDS:
            self.decide()
        self.check_page()

    # The steps

    def call(self, step: Step) -> Reply | Refusal:
        call = resolved(step, self.worlds[0])
        answer = self.service.call(call["by"], call["method"], arguments(call))
        self.events.append(Event(step, [call], [answer]))
        came = self.shown(answer)
        expected = []
        self.worlds = [branch for world in self.worlds for branch in world.branches(call)]
        for world in self.worlds:
            world.signals.clear()
            expected.append(world.answer(call))
        self.keep(
            f"answer to {call['method']}", expected, came,
            [agrees(each, came) for each in expected])
        self.check_signals()
        return answer

    def together(self, step: Step) -> None:
        """Calls in flight at the same time, and perhaps a signal that meets them there."""
        calls = [resolved(call, self.worlds[0]) for call in step["calls"]]
        process = self.service.process() if step["signal"] else 0
        pending = [
            self.service.begin(call["by"], call["method"], arguments(call)) for call in calls]
        if step["signal"]:
            self.service.wait_for(pending, min(step["after"], len(calls)))
            _spin(step["wait"])
            self.service.signal(process, step["signal"])
        self.service.wait_for(pending, len(calls))
        if step["signal"] in ("KILL", "TERM"):
            self.service.wait_until_gone(process)
        answers = [each.answer for each in pending]
        self.events.append(Event(step, calls, answers))
        heard = self.heard()
        came = [self.shown(answer) for answer in answers]
        is_killed = step["signal"] == "KILL"
        worlds: list[Model] = []
        for world in self.worlds:
            for after in outcomes(world, calls, came, is_killed):
                if is_killed:
                    after.end("KILL")
                if are_told(after.signals, heard, is_killed) and after not in worlds:
                    worlds.append(after)
        if not worlds:
            self.fail("answers to calls in flight together, and the signals", "any order of them",
                      (came, heard))
        self.worlds = worlds

    def signal(self, step: Step) -> None:
        """SIGKILL, SIGTERM or SIGHUP while no call is in flight."""
        process = self.service.process()
        self.service.signal(process, step["signal"])
        if step["signal"] != "HUP":
            self.service.wait_until_gone(process)
            for world in self.worlds:
                world.end(step["signal"])
        self.events.append(Event(step))
        for world in self.worlds:
            world.signals.clear()
        self.check_signals()

    def look(self, step: Step) -> None:
        """The properties, read at once."""
        properties = self.service.properties()
        self.events.append(Event(step, properties=properties))
        durable, pending = properties["DurableGeneration"], properties["PendingChanges"]
        self.keep(
            "property Generation", [world.generation for world in self.worlds],
            properties["Generation"],
            [world.generation == properties["Generation"] for world in self.worlds])
        self.keep(
            "property DurableGeneration",
            [Between(world.durable, world.generation) for world in self.worlds], durable,
            [world.durable <= durable <= world.generation for world in self.worlds])
        for world in self.worlds:
            world.durable = durable
        self.keep(
            "property RecordStart", [world.record_start for world in self.worlds],
            properties["RecordStart"],
            [world.record_start == properties["RecordStart"] for world in self.worlds])
        if durable < properties["Generation"] and pending == 0:
            self.fail("property PendingChanges", Between(1), pending)
        if properties["StorageError"]:
            self.fail("property StorageError", "", properties["StorageError"])

    def follow(self, step: Step) -> None:
        """An old copy of a domain, with what GetChanges tells since then, is the domain."""
        copies = self.copies.setdefault(step["domain"], [])
        if copies:
            entries, generation = copies[step["copy"] % len(copies)]
            self.catch_up(step, dict(entries), generation)
        answer = self.ask(step, "GetAll")
        if isinstance(answer, Reply):
            entries, generation = plain(answer.body)
            copies.append((dict(entries), generation))
            del copies[:-COPIES_KEPT]

    def catch_up(self, step: Step, entries: dict[str, bytes], since: int) -> None:
        changed, large, removed, _, complete = plain(
            self.ask(step, "GetChanges", since=since).body)
        if not complete:
            entries.clear()
        entries.update(changed)
        for key in removed:
            entries.pop(key, None)
        for key in large:
            entries[key], _ = plain(self.ask(step, "Get", key=key).body)
        answer = self.ask(step, "GetAll")
        if isinstance(answer, Reply) and dict(plain(answer.body)[0]) != entries:
            self.fail(f"copy of generation {since} and its changes", "the domain", sorted(entries))

    def ask(self, step: Step, method: str, **more) -> Reply | Refusal:
        """Another call by the caller of a step, of the same domain."""
        return self.call(
            {"do": "call", "by": step["by"], "method": method, "domain": step["domain"]} | more)

    def decide(self) -> None:
        """Reads what the worlds differ in, until few are left."""
        self.look({"do": "look"})
        for name in sorted({name for world in self.worlds for name in world.domains}):
            keys = {key for world in self.worlds for key in world.in_domain(name).entries}
            for key in sorted(keys):
                self.call({"do": "call", "by": 0, "method": "Get", "domain": name, "key": key})

    # The comparison

    def keep(self, what: str, expected: list, came: object, holds: list[bool]) -> None:
        """Ends the worlds that what came contradicts."""
        if not any(holds):
            self.fail(what, expected[0] if len(expected) == 1 else expected, came)
        self.worlds = [world for world, kept in zip(self.worlds, holds) if kept]

    def heard(self) -> list[Signal]:
        """The signals that have come since the last event.

        Those without an origin are left out: a daemon that starts after a kill announces once more what
        it found in the journal, and how much that is depends on the disk.
        """
        told = self.events[-1].heard = self.service.settle()
        signals = []
        for *names, generation, origin in map(GLib.Variant.unpack, told):
            domain, layer, changed, removed = names
            if origin:
                signals.append(Signal(
                    domain, layer, tuple(sorted(changed)), tuple(sorted(removed)), generation,
                    self.service.names.get(origin, -1)))
            else:
                self.announced = max(self.announced, generation)
        return signals

    def check_signals(self) -> None:
        heard = self.heard()
        if all(self.announced > world.generation for world in self.worlds):
            self.fail("signal of a daemon that starts", "a change that was made", self.announced)
        self.keep("Changed signals", [world.signals for world in self.worlds], heard,
                  [world.signals == heard for world in self.worlds])

    def shown(self, answer: Reply | Refusal) -> object:
        """An answer to be compared; a page that comes with it is mapped and not compared."""
        if isinstance(answer, Refusal):
            return answer
        if answer.descriptors:
            return self.attached(answer)
        return plain(answer.body)

    def attached(self, answer: Reply) -> object:
        (descriptor,) = answer.descriptors
        if self.page is None or not self.page.is_file(descriptor):
            self.page = Page(descriptor)
        os.close(descriptor)
        _, domains, generation = plain(answer.body)
        for name, slot, *_ in domains:
            if slot != self.page.slot(name):
                self.fail(f"slot of {name}", self.page.slot(name), slot)
        return [(name, *rest) for name, _, *rest in domains], generation

    def check_page(self) -> None:
        """A slot is never below the last change of a domain on it."""
        if self.page is None or len(self.worlds) > 1:
            return
        for name, domain in self.worlds[0].domains.items():
            counter = self.page.counter(name)
            if counter < domain.last:
                self.fail(f"slot of {name} on the page", Between(domain.last), counter)

    def fail(self, what: str, expected: object, came: object):
        raise Failure(what, expected, came, self.events)


STEPS: dict[str, Callable[[Checker, Step], object]] = {
    "call": Checker.call, "together": Checker.together, "signal": Checker.signal,
    "look": Checker.look, "follow": Checker.follow,
}


def resolved(step: Step, model: Model) -> Call:
    """A call as it is sent.

    A step names generations as `["key", 0]` for the key's own, `["domain", 0]` and
    `["database", -2]` for that of the last change, and so many more or less; and many keys of one
    value, or many that are removed, as `["key", 100]`, which are key0 to key99.
    """
    call = dict(step)
    if "many" in call:
        name, count = call.pop("many")
        keys = [f"{name}{number}" for number in range(count)]
        value = call.pop("value", None)
        call |= {"set": [[key, value] for key in keys]} if value else {"remove": keys}
    if "since" in call:
        call["since"] = _number(call["since"], call, None, model)
    if isinstance(call.get("options", {}).get("unchanged-since"), list):
        call["options"] = call["options"] | {
            "unchanged-since": _number(call["options"]["unchanged-since"], call, None, model)}
    if "expected" in call:
        call["expected"] = [
            [key, _number(number, call, key, model)] for key, number in call["expected"]]
    return call


def _number(number: object, call: Call, key: str | None, model: Model) -> int:
    if isinstance(number, int):
        return number
    what, more = number
    domain = model.in_domain(call["domain"])
    base = model.generation
    if what == "key":
        base = domain.entries[key].generation if key in domain.entries else 0
    elif what == "domain":
        base = domain.last
    return max(0, base + more)


def outcomes(
    world: Model, calls: list[Call], came: list[object], is_killed: bool
) -> Iterator[Model]:
    """The worlds in which the calls were taken in some order and answered as they were.

    Calls of one caller keep their order. One whose reply was lost to a kill may have been taken,
    and then before the kill, or not. One that a daemon has left to the next was not.
    """
    ends = [answer.name if isinstance(answer, Refusal) else "" for answer in came]
    lost = [place for place, end in enumerate(ends) if is_killed and end == NO_REPLY]
    answered = [
        place for place, end in enumerate(ends) if place not in lost and end != NOT_TAKEN]
    for count in range(len(lost) + 1):
        for taken in itertools.combinations(lost, count):
            for order in itertools.permutations([*answered, *taken]):
                yield from _after(world, calls, came, order, lost)


def _after(
    world: Model, calls: list[Call], came: list[object], order: tuple[int, ...], lost: list[int]
) -> list[Model]:
    for earlier, later in itertools.combinations(order, 2):
        if earlier > later and calls[earlier]["by"] == calls[later]["by"]:
            return []
    worlds = [world.copied()]
    for place in order:
        worlds = [
            branch for after in worlds for branch in after.branches(calls[place])
            if _takes(branch, calls[place], came[place], place in lost)]
    return worlds


def _takes(world: Model, call: Call, came: object, is_lost: bool) -> bool:
    """Takes a call; whether it can have been answered so."""
    told, durable = len(world.signals), world.durable
    expected = world.answer(call)
    if not is_lost:
        return agrees(expected, came)
    # A signal comes after its reply, and nobody was promised the disk.
    del world.signals[told:]
    world.durable = durable
    return True


def are_told(signals: list[Signal], heard: list[Signal], is_killed: bool) -> bool:
    """Whether each change was told once, those of a domain in order; a kill may come between reply and
    signal."""
    domains = {signal.domain for signal in signals + heard}
    return all(
        is_told([signal for signal in signals if signal.domain == domain],
                [signal for signal in heard if signal.domain == domain], is_killed)
        for domain in domains)


def is_told(signals: list[Signal], heard: list[Signal], is_killed: bool) -> bool:
    """The same of one domain."""
    if not is_killed:
        return signals == heard
    rest = iter(signals)
    return all(signal in rest for signal in heard)


def agrees(expected: object, came: object) -> bool:
    """Whether what came is what the model says."""
    match expected:
        case Refused():
            name = str(expected)
            prefix = "org.freedesktop.DBus.Error." if name in STANDARD_ERRORS else ERROR
            return (isinstance(came, Refusal) and came.name == prefix + name
                    and came.details == expected.details)
        case OneOf():
            return any(agrees(answer, came) for answer in expected.answers)
        case Among():
            rest = iter(expected.keys)
            return (isinstance(came, list) and all(key in rest for key in came)
                    and set(expected.keys) - set(came) <= expected.maybe)
        case Between():
            return (isinstance(came, int) and expected.low <= came
                    and (expected.high is None or came <= expected.high))
        case Value():
            return isinstance(came, bytes) and (
                came == expected.archive
                or not expected.is_exact and graph(came) == expected.graph)
        case tuple() | list():
            return (isinstance(came, (tuple, list)) and len(came) == len(expected)
                    and all(map(agrees, expected, came)))
    return type(came) is type(expected) and came == expected


STANDARD_ERRORS = ("InvalidArgs", "UnknownMethod")


def _spin(microseconds: int) -> None:
    """Lets so much time pass, far less than a sleep takes."""
    end = time.monotonic() + microseconds / 1_000_000
    while time.monotonic() < end:
        pass
