"""What the service promises, said as simply as it can be.

A database is domains, a domain is keys, a key has a value and the generation of its last change.
Every change takes the next number. The contract lets numbers jump; the service jumps only after a
power cut or with a restored backup, and neither happens here, so the model knows each number
before the reply comes, and also that what is no change takes none.

Neither a restart nor a kill changes anything here: that is the promise.
"""

import copy
import re
from dataclasses import dataclass, field, replace

from refusals import (
    Call, Refused, check_domain, check_expected_keys, check_key, check_layer, check_names,
    check_options, check_twice)
from values import Value, value

MIB = 1 << 20
LARGEST_VALUE, LARGEST_REPLY = 16 * MIB, 32 * MIB
LARGE_ENTRY, BULK = 64 << 10, 4 * MIB
LARGEST_SIGNAL = 64 << 10
REMOVALS_KEPT, REMOVALS_AT_MOST, TOKENS_KEPT = 1024, 2048, 1024

@dataclass(frozen=True)
class Between:
    """Any number of a range; without an upper bound if that is None."""

    low: int
    high: int | None = None


@dataclass(frozen=True)
class OneOf:
    """Any of these answers: the contract leaves room."""

    answers: tuple


@dataclass(frozen=True)
class Among:
    """A list of these in their order, of which those of `maybe` may be missing."""

    keys: tuple[str, ...]
    maybe: frozenset[str]


@dataclass(frozen=True)
class Signal:
    """One Changed signal; `by` is the caller's number."""

    domain: str
    layer: str
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    generation: int
    by: int


@dataclass(frozen=True)
class Entry:
    value: Value
    generation: int


@dataclass
class Domain:
    """One layer of a domain, as its suffix names it."""

    entries: dict[str, Entry] = field(default_factory=dict)
    removals: dict[str, int] = field(default_factory=dict)
    """Keys that are gone, oldest first, with the generation of their removal."""
    forgotten: int = 0
    """No removal up to this generation is remembered for certain…"""
    remembered: int = 0
    """… and every one after this."""
    tokens: dict[str, int] = field(default_factory=dict)
    """What an Apply with that token replied, oldest first."""
    last: int = 0
    """The last change; 0 where there was none."""

    def sorted_entries(self, since: int = 0) -> list[tuple[str, Entry]]:
        """Those that were changed after a generation, by the bytes of their keys."""
        return sorted(
            ((key, entry) for key, entry in self.entries.items() if entry.generation > since),
            key=lambda pair: pair[0].encode())

    def may_forget(self) -> None:
        """Of the removals the newest 1024 are kept at least."""
        generations = list(self.removals.values())
        if len(generations) > REMOVALS_KEPT:
            self.remembered = max(self.remembered, generations[-REMOVALS_KEPT - 1])

    def must_forget(self) -> None:
        """On disk, 2048 are kept at most."""
        generations = list(self.removals.values())
        if len(generations) > REMOVALS_AT_MOST:
            self.forgotten = max(self.forgotten, generations[-REMOVALS_AT_MOST - 1])


@dataclass
class Model:
    """The database, and the signals that its changes have sent."""

    generation: int = 1
    durable: int = 1
    """What is on disk at least."""
    record_start: int = 1
    """From where the record is whole, but for removals that a domain has forgotten."""
    domains: dict[str, Domain] = field(default_factory=dict)
    signals: list[Signal] = field(default_factory=list, compare=False)

    def answer(self, call: Call) -> object:
        """Takes a call: the values of its reply, or Refused as what it is refused with."""
        try:
            if "raw" in call:
                raise Refused("InvalidArgs")
            return getattr(self, _python_name(call["method"]))(call)
        except Refused as refusal:
            return refusal

    def copied(self) -> "Model":
        """Another world, which goes its own way from here."""
        other = copy.copy(self)
        other.signals = []
        other.domains = {
            name: replace(domain, entries=dict(domain.entries), removals=dict(domain.removals),
                          tokens=dict(domain.tokens))
            for name, domain in self.domains.items()}
        return other

    def branches(self, call: Call) -> list["Model"]:
        """The worlds that a call may find: two where a removal may be forgotten that decides."""
        since = call.get("options", {}).get("unchanged-since")
        if "raw" in call or not isinstance(since, int):
            return [self]
        domain = self.in_domain(call["domain"])
        if not domain.forgotten <= since < domain.remembered:
            return [self]
        forgetful = self.copied()
        forgetful.signals = list(self.signals)
        forgetful.domains[call["domain"]].forgotten = since + 1
        is_same = self.copied().answer(call) == forgetful.copied().answer(call)
        return [self] if is_same else [self, forgetful]

    def in_domain(self, name: str) -> Domain:
        return self.domains.get(name, Domain())

    # Reading

    def get(self, call: Call):
        entry = self.entry(call)
        return entry.value, entry.generation

    def get_value(self, call: Call):
        entry = self.entry(call)
        if entry.value.form is None:
            raise Refused("NotRepresentable")
        return entry.value.form, entry.generation

    def list_domains(self, _: Call):
        present = [name for name, domain in self.domains.items() if domain.entries]
        return (sorted(present, key=lambda name: name.partition("@")),)

    def list_keys(self, call: Call):
        check_domain(call["domain"])
        return ([key for key, _ in self.in_domain(call["domain"]).sorted_entries()],)

    def get_all(self, call: Call):
        check_domain(call["domain"])
        entries = self.in_domain(call["domain"]).sorted_entries()
        whole = [(key, entry.value) for key, entry in entries], self.generation
        size = sum(entry.value.size for _, entry in entries)
        return bounded(whole, size, slack=MIB)

    def get_all_values(self, call: Call):
        check_domain(call["domain"])
        entries = self.in_domain(call["domain"]).sorted_entries()
        shown = [(key, entry.value.form) for key, entry in entries if entry.value.form is not None]
        hidden = [key for key, entry in entries if entry.value.form is None]
        # The size of a value form is not that of its archive, but for large texts it is nearly.
        size = sum(entry.value.size for _, entry in entries)
        return bounded((shown, hidden, self.generation), size, slack=8 * MIB)

    def get_changes(self, call: Call):
        check_domain(call["domain"])
        domain, since = self.in_domain(call["domain"]), call["since"]
        removed = sorted((key for key, at in domain.removals.items() if at > since), key=str.encode)
        complete = *Bulk()(domain.sorted_entries(since)), removed, self.generation, True
        known = Among(
            tuple(key for key in removed if domain.removals[key] > domain.forgotten),
            frozenset(key for key in removed if domain.removals[key] <= domain.remembered))
        incomplete = *Bulk()(domain.sorted_entries()), known, self.generation, False
        if not 1 <= since <= self.generation or since < domain.forgotten:
            return incomplete
        return complete if since >= domain.remembered else OneOf((complete, incomplete))

    def attach(self, call: Call):
        for name in call["domains"]:
            check_domain(name)
        bulk = Bulk()
        return ([(name, *bulk(self.in_domain(name).sorted_entries()), [])
                 for name in call["domains"]], self.generation)

    # Changing

    def set(self, call: Call):
        check_names(call)
        check_layer(call["domain"], [call["key"]])
        return (self.change(call, [(call["key"], self.value(call["value"], call))], []),)

    def set_value(self, call: Call):
        return self.set(call)

    def remove(self, call: Call):
        check_names(call)
        check_layer(call["domain"], [call["key"]])
        return (self.change(call, [], [call["key"]]),)

    def rename(self, call: Call):
        check_names(call)
        check_key(call["new_key"])
        check_layer(call["domain"], [call["key"], call["new_key"]])
        entry = self.entry(call)
        if call["new_key"] in self.in_domain(call["domain"]).entries:
            raise Refused("Conflict")
        return (self.change(call, [(call["new_key"], entry.value)], [call["key"]]),)

    def remove_domain(self, call: Call):
        check_domain(call["domain"])
        check_layer(call["domain"], [])
        keys = list(self.in_domain(call["domain"]).entries)
        generation = self.change(call, [], keys)
        if len(keys) > REMOVALS_KEPT:
            domain = self.domains[call["domain"]]
            domain.forgotten = domain.remembered = generation
        return (generation,)

    def apply(self, call: Call):
        check_options(call["options"])
        keys = [key for key, _ in call["set"]] + call["remove"]
        check_twice(keys)
        check_twice([key for key, _ in call["expected"]])
        check_domain(call["domain"])
        for key in keys:
            check_key(key)
        check_expected_keys(call["expected"])
        check_layer(call["domain"], keys)
        values = [(key, self.value(description, call)) for key, description in call["set"]]
        token = call["options"].get("token")
        generation = self.in_domain(call["domain"]).tokens.get(token)
        if generation is None:
            self.check_expected(call)
            self.check_unchanged(call, keys)
            generation = self.change(call, values, call["remove"])
            if token is not None:
                self.remember(call["domain"], token, generation)
        if call["options"].get("durable"):
            self.is_written()
        return (generation,)

    def apply_values(self, call: Call):
        return self.apply(call)

    def synchronize(self, _: Call):
        self.is_written()
        return (Between(self.generation),)

    # The rules

    def entry(self, call: Call) -> Entry:
        check_names(call)
        entry = self.in_domain(call["domain"]).entries.get(call["key"])
        if entry is None:
            raise Refused("NotFound")
        return entry

    def value(self, description: dict, call: Call) -> Value:
        if "refused" in description:
            raise Refused(description["refused"])
        return value(description, as_archive=not call["method"].endswith(("Value", "Values")))

    def differs(self, old: Entry | None, new: Value) -> bool:
        """Setting the value that a key has is no change, whatever the bytes."""
        return old is None or old.value.graph != new.graph

    def change(self, call: Call, values: list[tuple[str, Value]], removed: list[str]) -> int:
        """One change of one domain: what differs takes the next number, and one signal tells it."""
        name = call["domain"]
        entries = self.in_domain(name).entries
        values = [(key, value) for key, value in values if self.differs(entries.get(key), value)]
        removed = [key for key in removed if key in entries]
        if not values and not removed:
            return self.generation
        self.generation += 1
        domain = self.domains.setdefault(name, Domain())
        domain.last = self.generation
        for key, value in values:
            domain.entries[key] = Entry(value, self.generation)
            domain.removals.pop(key, None)
        for key in removed:
            del domain.entries[key]
            domain.removals[key] = self.generation
        domain.may_forget()
        self.tell(call, [key for key, _ in values], removed)
        return self.generation

    def tell(self, call: Call, changed: list[str], removed: list[str]) -> None:
        is_cleared = call["method"] == "RemoveDomain" and len(removed) > REMOVALS_KEPT
        if is_cleared or sum(len(key.encode()) for key in changed + removed) > LARGEST_SIGNAL:
            changed, removed = [], []
        name, _, suffix = call["domain"].partition("@")
        self.signals.append(Signal(
            name, "host" if suffix else "domain", tuple(sorted(changed)), tuple(sorted(removed)),
            self.generation, call["by"]))

    def check_expected(self, call: Call) -> None:
        domain = self.in_domain(call["domain"])
        for key, generation in call["expected"]:
            if not (self.domain_holds(domain, generation) if key == ""
                    else self.key_holds(domain.entries.get(key), generation)):
                raise Refused("Conflict")

    def key_holds(self, entry: Entry | None, generation: int) -> bool:
        return generation == (entry.generation if entry else 0)

    def domain_holds(self, domain: Domain, generation: int) -> bool:
        if generation == 0:
            return not domain.entries
        return domain.last <= generation <= self.generation

    def check_unchanged(self, call: Call, keys: list[str]) -> None:
        """With `unchanged-since`, none of the keys was set or removed after that generation.

        A key that is missing may have been removed before the record begins.
        """
        since = call["options"].get("unchanged-since")
        if since is None:
            return
        domain = self.in_domain(call["domain"])
        for key in keys:
            entry = domain.entries.get(key)
            if not self.is_unchanged(domain, entry, domain.removals.get(key, 0), since):
                raise Refused("Conflict")

    def is_unchanged(self, domain: Domain, entry: Entry | None, removal: int, since: int) -> bool:
        """Whether a key is as it was at a generation, by its value or its removal."""
        if not self.record_start <= since <= self.generation:
            return False
        if entry:
            return entry.generation <= since
        return removal <= since and since >= domain.forgotten

    def remember(self, name: str, token: str, generation: int) -> None:
        tokens = self.domains.setdefault(name, Domain()).tokens
        tokens[token] = generation
        if len(tokens) > TOKENS_KEPT:
            del tokens[next(iter(tokens))]

    def end(self, by: str) -> None:
        """The daemon ends by SIGKILL or SIGTERM; after the latter everything is on disk."""
        if by == "TERM":
            self.is_written()

    def is_written(self) -> None:
        """Everything is on disk."""
        self.durable = self.generation
        for domain in self.domains.values():
            domain.must_forget()


class Bulk:
    """What is sent of many entries, and what is only named: above 64 KiB, or after 4 MiB."""

    def __init__(self):
        self.room = BULK

    def __call__(self, entries: list[tuple[str, Entry]]) -> tuple[list, list[str]]:
        sent, large = [], []
        for key, entry in entries:
            if entry.value.size > LARGE_ENTRY:
                large.append(key)
            elif entry.value.size > self.room:
                self.room = 0
                large.append(key)
            else:
                self.room -= entry.value.size
                sent.append((key, entry.value))
        return sent, large


def bounded(whole: tuple, size: int, slack: int) -> object:
    """A reply that is refused above 32 MiB, known only nearly as it is."""
    if size + slack <= LARGEST_REPLY:
        return whole
    refusal = Refused("TooLarge")
    return refusal if size > LARGEST_REPLY else OneOf((whole, refusal))


def _python_name(method: str) -> str:
    """`GetAll` as `get_all`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower()
