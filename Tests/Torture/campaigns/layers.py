"""Files of administrators and vendors that change in every way while daemons read them, and die.

Rounds on one database change files in the three places, good ones and bad ones, while programs write
what is theirs; then the daemon goes on, ends, is killed, hands over, or loses its session. When the
files are quiet, everything that is asked must be what the model of layerfiles.py says.
"""

import json
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from clients import MAINTENANCE, Refused
from desktop import Daemon, Desktop, Ended
from gi.repository import GLib
from ground import Ground, Outcome
from layerfiles import DOMAINS, GLOBAL, KEYS, InForce, Layer, LayerFiles, State
from ledger import Found
from life import Fate, Life
from privatebus import BUS, BUS_OBJECT, ERROR

NAME = "layers"
FAULTS = "files of administrators change, good and bad, while the daemon reads them and is killed"
INJECTIONS = ("lost-layer-row",)

WAYS = {
    "running": "while the daemon runs",
    "ended": "over a clean end",
    "killed": "over SIGKILL, also during the start",
    "handed over": "over --replace",
    "session gone": "over the end of a session",
}
ROUNDS_OF_A_DESKTOP = 50


def run(ground: Ground) -> list[Outcome]:
    rounds = ground.scale(15, 600)
    outcomes = {way: Outcome(f"files change {WAYS[way]}", 0) for way in WAYS}
    done = 0
    while done < rounds and not any(outcome.findings for outcome in outcomes.values()):
        with Rounds(ground) as series:
            for _ in range(min(ROUNDS_OF_A_DESKTOP, rounds - done)):
                way = list(WAYS)[done % len(WAYS)]
                done += 1
                outcomes[way].trials += 1
                try:
                    series.take(way)
                except (Ended, Found, Refused, TimeoutError) as found:
                    outcomes[way].findings.append(
                        f"round {done}: {found}\n{series.told}\n{series.desktop.daemon.log()}")
                    break
            words = (f"{series.changes} changes of files, {series.life.acknowledged} of users "
                     "acknowledged")
        outcomes["running"].note = words
        ground.say(f"{done} rounds, {words}")
    return [outcome for outcome in outcomes.values() if outcome.trials]


class Rounds:
    """Rounds on one database."""

    def __init__(self, ground: Ground):
        self.ground, self.chance = ground, ground.random
        self.desktop = Desktop(ground, is_in_memory=True)
        self.files = LayerFiles(self.desktop.directory / "layers", self.chance)
        self.told = ""
        self.changes = 0
        self.signals: set[int] = set()
        self.may_repeat = False
        """Whether daemons were killed: the next one announces what it finds in the journal once more."""
        self.start()
        self.life = Life(ground, self.desktop)
        self.user, self.judge = self.desktop.connect(), self.desktop.connect()
        self.values: dict[str, dict[str, int]] = {
            f"{domain}{suffix}": {} for domain in DOMAINS for suffix in ("", "@host")}
        self.replicas: dict[str, tuple[int, dict[str, bytes]]] = {}
        self.floor = 0
        self.desktop.watcher.listen("Changed", self._note_signal)

    def __enter__(self) -> "Rounds":
        return self

    def __exit__(self, *_) -> None:
        self.desktop.close()
        self.desktop.forget()

    def start(self, *options: str, serves: bool = True) -> Daemon:
        return self.desktop.start(options=[*self.files.options, *options], serves=serves)

    def take(self, way: str) -> None:
        """Changes files, does to the daemon what is to be done, and judges; raises Found."""
        self.told, self.may_repeat = f"{way}:", way == "killed"
        if self.chance.random() < 0.3:
            self.life.attach()
        self.life.begin()
        changes = self._changes()
        old = self.desktop.daemon
        match way:
            case "running":
                self._change(changes, is_served=True)
            case "ended":
                self._change(changes, is_served=True, count=self.chance.randint(0, 3))
                if old.end(signal.SIGTERM) != 0:
                    raise Found(f"expected a clean end, got {old.wait()}: {old.log()}")
                self._spoil()
            case "killed":
                fate = Fate((self.life.within(0.3), old, signal.SIGKILL))
                self._change(changes, count=self.chance.randint(0, 8))
                fate.join()
                old.wait()
            case "handed over":
                self._hand_over(old, changes)
            case "session gone":
                self._change(changes, is_served=True, count=self.chance.randint(0, 3))
                self.life.settle()
                self.user.call("Synchronize")
                old.end()
                self.life.forget_session()
        if self.desktop.daemon.has_ended:
            self._change(changes, is_watched=False, count=self.chance.randint(0, 3))
            self.life.settle()
            if way == "killed":
                self._start_and_kill(changes)
            self.start()
            for layer in self.files.layers.values():
                layer.may_read(self.files.of(layer))
        self._change(changes, is_served=True)
        self.life.settle()
        self.expect_quiet()
        self.expect_all()

    # What happens

    def _changes(self) -> Iterator[Layer]:
        layers = self.files.begin()
        order = [layer for layer in layers for _ in range(self.chance.randint(1, 3))]
        self.chance.shuffle(order)
        yield from order

    def _change(self, changes: Iterator[Layer], count: int = 100, is_watched: bool = True,
                is_served: bool = False) -> None:
        """Makes that many of the changes that are left, users writing meanwhile.

        - Parameters:
          - is_watched: Whether a daemon may see each.
          - is_served: Whether it answers what it is asked.
        """
        for _, layer in zip(range(count), changes):
            self.changes += 1
            self.told += f"\n  {self.files.change(layer, is_watched)}"
            if is_served and self.chance.random() < 0.5:
                self._set()
            # It reads the files a moment after the first sign.
            self.desktop.pass_time(self.chance.choice((0, 0, 0.02, 0.1, self.life.within(0.2))))

    def _hand_over(self, old: Daemon, changes: Iterator[Layer]) -> None:
        self._change(changes, is_served=True, count=self.chance.randint(0, 3))
        new = self.start("--replace", serves=False)
        self._change(changes, count=self.chance.randint(0, 2))
        self.desktop.wait_until_serving(new)
        if old.wait() != 0:
            raise Found(f"expected a clean end after a hand-over, got {old.wait()}: {old.log()}")

    def _start_and_kill(self, changes: Iterator[Layer]) -> None:
        for _ in range(self.chance.randint(0, 2)):
            daemon = self.start(serves=False)
            fate = Fate((self.life.within(0.03), daemon, signal.SIGKILL))
            self._change(changes, count=1)
            fate.join()
            daemon.wait()

    def _set(self) -> None:
        """Has a user set a key, which is refused if it is locked, and only then."""
        spelling, key = self.chance.choice(list(self.values)), self.chance.choice(KEYS)
        domain = spelling.removesuffix("@host")
        may_be = {self.is_locked(key, states) for states in self.possible(domain)}
        floor, value = self.life.ledger.highest, next(self.files.numbers)
        try:
            generation, = self.user.call(
                "SetValue", "(ssv)", spelling, key, GLib.Variant("x", value))
        except Refused as refusal:
            if refusal.name != ERROR + "Locked" or True not in may_be:
                raise Found(f"{key} of {spelling} was set, and came back with {refusal}") from None
            return
        if False not in may_be:
            raise Found(f"{key} of {spelling} was set, and is locked")
        if generation <= floor:
            raise Found(f"{key} of {spelling} got generation {generation}, and {floor} had been "
                        "replied before")
        self.claim(generation, spelling)
        self.life.ledger.highest = max(self.life.ledger.highest, generation)
        self.values[spelling][key] = value

    def _spoil(self) -> None:
        """Takes a value of a layer away, in a run that is to show that this is found."""
        if self.ground.inject != "lost-layer-row":
            return
        with closing(sqlite3.connect(self.desktop.data / "defaults.db")) as database, database:
            database.executescript("""
                DELETE FROM entries WHERE id IN (
                    SELECT entries.id FROM entries JOIN domains ON domains.id = entries.domain
                    WHERE host LIKE '@%' AND key <> '' AND archive IS NOT NULL);
                UPDATE domains SET (key_count, key_bytes) = (
                    SELECT count(archive), coalesce(sum(length(CAST(key AS BLOB)))
                        FILTER (WHERE archive IS NOT NULL), 0)
                    FROM entries WHERE domain = domains.id)""")
        # Or the daemon would take them from there.
        shutil.rmtree(self.desktop.data / "backups", ignore_errors=True)

    # Generations

    def claim(self, generation: int, spelling: str) -> None:
        """Notes the generation of a change of a domain's layer, which is no other's."""
        what = f"a change of {spelling}"
        owner = self.life.ledger.owners.setdefault(generation, what)
        if owner != what:
            raise Found(f"generation {generation} was given to {owner} and to {what}")

    def _note_signal(self, domain: str, layer: str, changed: list[str], removed: list[str],
                     generation: int, origin: str) -> None:
        if layer not in ("managed", "system"):
            return
        self.claim(generation, f"{domain}@{layer}")
        if self.may_repeat and not origin:
            return self.signals.add(generation)
        if generation in self.signals or generation <= self.floor or origin:
            raise Found(f"Changed tells of {domain}@{layer}, {changed}, {removed}, by '{origin}' at "
                        f"{generation}, after {self.floor}")
        self.signals.add(generation)

    # What is expected

    def possible(self, domain: str) -> Iterator[tuple[State, ...]]:
        """The states in which the managed layers may be that have a say over a domain."""
        own = self.files.layers["managed", domain].states
        if domain == GLOBAL:
            return ((state,) for state in own)
        shared = self.files.layers["managed", GLOBAL].states
        return ((state, other) for state in own for other in shared)

    def is_locked(self, key: str, states: tuple[State, ...]) -> bool:
        return any(state.lock_of(key) is not None for state in states)

    def expect_quiet(self) -> None:
        """Waits until what is in force is one of what it may be."""
        for layer in self.files.layers.values():
            layer.has_read(self.files.of(layer))
        unlike = ""

        def is_quiet() -> bool:
            nonlocal unlike
            unlike = self._difference()
            return not unlike

        try:
            self.desktop.wait_until(is_quiet)
        except TimeoutError:
            raise Found(unlike) from None

    def _difference(self) -> str:
        """What of the layers is not as it may be; where all is, the states are known then."""
        rows, = self.judge.call("ListLayerFiles", interface=MAINTENANCE)
        told = {path: bool(problem) for _, _, path, problem in rows}
        present = {path: contents is None for layer in self.files.layers.values()
                   for path, contents in self.files.of(layer)}
        if told != present:
            return f"expected the files {present}, got {told}\n"
        found = {}
        for layer in self.files.layers.values():
            found[layer.spelling] = self._state(layer)
            expected = {state.in_force for state in layer.states}
            if found[layer.spelling] not in expected:
                return (f"{layer.spelling} has {found[layer.spelling]}, which is none of\n"
                        + "\n".join(f"  {each}" for each in expected) + "\n")
        for layer in self.files.layers.values():
            layer.has_in_force(found[layer.spelling])
        return ""

    def _state(self, layer: Layer) -> InForce:
        """The values in force in a layer, as far as they are reported."""
        values = {}
        for key, value in self._read(layer.spelling).items():
            rows, = self.judge.call("Explain", "(ss)", layer.domain, key)
            paths = [path for name, path, _, _ in rows if name == layer.name]
            values[key] = (json.dumps(value), paths[0] if paths else "")
        locks = self._locks(layer.domain) if layer.name == "managed" else []
        return frozenset(values.items()), tuple(locks[:len(locks) - len(values)])

    def _locks(self, domain: str) -> list[tuple[str, str]]:
        """What ListLocks tells, without what it tells of the global domain besides."""
        locks, = self.judge.call("ListLocks", "(s)", domain, interface=MAINTENANCE)
        if domain != GLOBAL:
            shared, = self.judge.call("ListLocks", "(s)", GLOBAL, interface=MAINTENANCE)
            locks = locks[:len(locks) - len(shared)]
        return locks

    def _read(self, spelling: str) -> dict[str, object]:
        return self.judge.call("GetAllValues", "(s)", spelling)[0]

    def expect_all(self) -> None:
        """Asks for everything; raises Found."""
        self.life.judge()
        for spelling, values in self.values.items():
            held = self._read(spelling)
            if held != values:
                raise Found(f"{spelling} was set to {values}, and holds {held}")
        for domain in DOMAINS:
            for key in KEYS:
                self._expect_key(domain, key)
        for spelling in [*self.values, *(layer.spelling for layer in self.files.layers.values())]:
            self._expect_replica(spelling)
        generation = self.judge.properties()["Generation"]
        # The signals up to here have come when this has been answered.
        self.desktop.watcher.call("Synchronize")
        self.desktop.settle()
        self.floor = generation

    def _expect_key(self, domain: str, key: str) -> None:
        """Compares the reported value of a key with the search list."""
        found, explained, is_locked = None, [], False
        for name, layer, of in search_list(domain):
            if layer in ("managed", "system"):
                state = self.files.layers[layer, of].state
                value, source = state.values.get(key, (None, ""))
                source = state.lock_of(key) or "" if layer == "managed" else source
            else:
                value = self.values[of + ("@host" if layer == "host" else "")].get(key)
                value, source = None if value is None else json.dumps(value), ""
            locks = layer == "managed" and source != ""
            is_locked = is_locked or locks
            if value is not None or locks:
                explained.append((name, source, locks, value is not None))
            if value is not None and found is None:
                found = value, name
        asked = self._looked_up(domain, key)
        rows, = self.judge.call("Explain", "(ss)", domain, key)
        told = [(name, source, locks, size > 0) for name, source, locks, size in rows]
        locked, = self.judge.call("IsLocked", "(ss)", domain, key)
        if (asked, told, locked) != (found, explained, is_locked):
            raise Found(f"{key} of {domain}: expected {found}, {explained}, {is_locked}, and got "
                        f"{asked}, {told}, {locked}")

    def _looked_up(self, domain: str, key: str) -> tuple[str, str] | None:
        try:
            value, name = self.judge.call("LookupValue", "(ss)", domain, key)
        except Refused as refusal:
            if refusal.name != ERROR + "NotFound":
                raise
            return None
        return json.dumps(value), name

    def _expect_replica(self, spelling: str) -> None:
        """Brings a copy up to date by GetChanges, and compares it with the whole."""
        since, copy = self.replicas.get(spelling, (0, {}))
        changed, large, removed, generation, complete = self.judge.call(
            "GetChanges", "(st)", spelling, since)
        copy = {key: archive for key, archive in copy.items() if key not in removed} \
            if complete else {}
        copy |= changed
        for key in large:
            copy[key] = self.judge.call("Get", "(ss)", spelling, key)[0]
        whole = self.judge.call("GetAll", "(s)", spelling)[0]
        if copy != whole:
            raise Found(f"a copy of {spelling} of {since} and its changes has {sorted(copy)}, the "
                        f"whole is {sorted(whole)}, different are "
                        f"{[key for key in copy if whole.get(key) != copy[key]]}")
        self.replicas[spelling] = generation, copy


def search_list(domain: str) -> list[tuple[str, str, str]]:
    """Where a key is looked for: what the place is called, the layer, and its domain."""
    layers = ("managed", "host", "domain", "system")
    if domain == GLOBAL:
        return [(layer, layer, domain) for layer in layers]
    return [
        ("managed", "managed", domain), ("global-managed", "managed", GLOBAL),
        ("host", "host", domain), ("domain", "domain", domain),
        ("global-host", "host", GLOBAL), ("global", "domain", GLOBAL),
        ("system", "system", domain), ("global-system", "system", GLOBAL)]
