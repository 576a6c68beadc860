"""Files of administrators and vendors as they are on disk, and what a daemon makes of them.

The model of a layer follows the words of the manual: of each key the last file that has it, and all
locks; of a bad file what it said before. That depends on which versions of a file were read, so that a
layer has several possible states while files change; when they are quiet and it was looked at, all
have the same in force.
"""

import functools
import itertools
import json
import os
import pathlib
import plistlib
import random
import shutil
from dataclasses import dataclass, field

GLOBAL = "NSGlobalDomain"
DOMAINS = ("org.example.Layers.A", "org.example.Layers.B", GLOBAL)
KEYS = ("Theme", "Theme.Dark", "Proxy.Host", "Proxy.Port", "Größe", "x*", "xy", "Last")
PATTERNS = ("Theme", "Theme*", "Proxy.*", "Gr*", "Größe*", "x", "L*", "Absent*")
"""None of them covers what other programs of a campaign write."""

PLACES = {"managed": "managed", "recommended": "system", "vendor": "system"}
"""The layer of each place; of one layer the stronger place first."""


@dataclass(frozen=True)
class Contents:
    """What a good file says: values as JSON, and locks."""

    values: tuple[tuple[str, str], ...]
    locks: tuple[str, ...] = ()

    def encoded(self, form: str) -> bytes:
        whole = {key: json.loads(value) for key, value in self.values}
        if self.locks:
            whole["$locked"] = list(self.locks)
        if form == "json":
            return json.dumps(whole, ensure_ascii=False, indent=1).encode()
        return plistlib.dumps(
            whole, fmt=plistlib.FMT_XML if form == "xml" else plistlib.FMT_BINARY)


Files = tuple[tuple[str, Contents | None], ...]
"""The files of a layer by their paths, the weakest first; None for one that is bad."""


InForce = tuple[frozenset[tuple[str, tuple[str, str]]], tuple[tuple[str, str], ...]]
"""Values and locks, each with the file that it is from."""


@dataclass(frozen=True)
class State:
    """What a layer is made of: what its files last said, the weakest first."""

    said: tuple[tuple[str, Contents], ...] = ()

    def after(self, files: Files) -> "State":
        """What it is made of when these were read."""
        known = dict(self.said)
        return State(tuple(
            (path, known[path] if contents is None else contents)
            for path, contents in files if contents is not None or path in known))

    @functools.cached_property
    def values(self) -> dict[str, tuple[str, str]]:
        """What is in force: of each key the last that has it, and the file."""
        return {key: (value, path) for path, contents in self.said
                for key, value in contents.values}

    @functools.cached_property
    def locks(self) -> list[tuple[str, str]]:
        return [(pattern, path) for path, contents in self.said for pattern in contents.locks]

    @property
    def in_force(self) -> InForce:
        return frozenset(self.values.items()), tuple(self.locks)

    def lock_of(self, key: str) -> str | None:
        """The file that locks a key."""
        if key in self.values:
            return self.values[key][1]
        return next((path for pattern, path in self.locks if covers(pattern, key)), None)


def covers(pattern: str, key: str) -> bool:
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


@dataclass
class Layer:
    """A layer of a domain: its files, and in which states it may be."""

    name: str
    domain: str
    states: set[State] = field(default_factory=lambda: {State()})
    target: "Target | None" = None
    """What changes in this round: one file, so that no reading sees a mixture of versions."""

    @property
    def spelling(self) -> str:
        return f"{self.domain}@{self.name}"

    @property
    def state(self) -> State:
        """One with the same values in force as all others, if that is known."""
        return next(iter(self.states))

    def has_in_force(self, found: InForce) -> None:
        """Notes what was found."""
        self.states = {state for state in self.states if state.in_force == found}

    def may_read(self, *views: Files) -> None:
        """Notes what may have been seen, each of it any number of times in any order."""
        new = self.states
        while new:
            new = {state.after(view) for state in new for view in views} - self.states
            self.states = self.states | new

    def has_read(self, files: Files) -> None:
        """Notes that these were seen last."""
        self.states = {state.after(files) for state in self.states}


@dataclass
class Target:
    """The name of a file in a place."""

    place: str
    name: str

    @property
    def path(self) -> tuple[str, str]:
        return self.place, self.name


class LayerFiles:
    """The three places with their files, and random changes."""

    def __init__(self, directory: pathlib.Path, chance: random.Random):
        self.directory, self.chance = directory, chance
        self.layers = {(name, domain): Layer(name, domain)
                       for name in ("managed", "system") for domain in DOMAINS}
        self.files: dict[tuple[str, str], Contents | None] = {}
        self.numbers = itertools.count(1)
        self.generations = itertools.count(1)
        directory.mkdir()
        for place in PLACES:
            # One is there from the beginning, through a link; the others come with their first file.
            if chance.random() < 0.4:
                (directory / f"{place}-0").mkdir()
                self._path(place).symlink_to(f"{place}-0")

    @property
    def options(self) -> list[str]:
        """What tells a daemon of the places."""
        return [word for place in PLACES for word in (f"--{place}", str(self._path(place)))]

    @property
    def bad(self) -> set[str]:
        """The paths of the files that are bad."""
        return {str(self._path(*where)) for where, contents in self.files.items()
                if contents is None}

    def of(self, layer: Layer, without: tuple = (), among: dict | None = None) -> Files:
        """The files of a layer as they are, or among others."""
        files = self.files if among is None else among
        mine = []
        for place in [place for place in reversed(PLACES) if PLACES[place] == layer.name]:
            names = [name for where, name in files if where == place
                     and (place, name) not in without and domain_of(name) == layer.domain]
            names.sort(key=lambda name: ("/" in name, name.encode()))
            mine += [(str(self._path(place, name)), files[place, name]) for name in names]
        return tuple(mine)

    def _path(self, place: str, name: str = "") -> pathlib.Path:
        return self.directory / place / name if name else self.directory / place

    # Changes

    def begin(self) -> list[Layer]:
        """Draws which layers change in a round, by one file each."""
        changing = self.chance.sample(list(self.layers.values()), self.chance.randint(1, 4))
        for layer in changing:
            places = [place for place in PLACES if PLACES[place] == layer.name]
            present = [Target(*where) for where in self.files
                       if where[0] in places and domain_of(where[1]) == layer.domain]
            fresh = Target(self.chance.choice(places), self._name(layer.domain))
            layer.target = self.chance.choice(present) if present and self.chance.random() < 0.7 \
                else fresh
        return changing

    def _name(self, domain: str) -> str:
        ending = self.chance.choice(("json", "plist"))
        if self.chance.random() < 0.4:
            return f"{domain}.{ending}"
        return f"{domain}.d/{self.chance.choice(('10-a', '20-ä', '30', 'x.y'))}.{ending}"

    def change(self, layer: Layer, is_watched: bool) -> str:
        """Changes the target of a layer, seen by a daemon or not; in words what was done."""
        target, before = layer.target, dict(self.files)
        is_there = target.path in self.files
        kinds = ["good"] * 4 + ["bad"] * 2 + (["remove", "rename", "rename"] if is_there else [])
        kind = self.chance.choice(kinds)
        views = []
        match kind:
            case "good":
                self.files[target.path] = self._contents(layer)
                form = self.chance.choice(("json", "xml", "binary"))
                views = self._put(layer, self.files[target.path].encoded(form))
            case "bad":
                self.files[target.path] = None
                views = self._put(layer, self._nonsense(layer))
            case "remove":
                del self.files[target.path]
                discard(self._path(*target.path))
            case "rename":
                new = Target(target.place, self._name(layer.domain))
                if new.path == target.path or new.path in self.files:
                    return "nothing"
                self.files[new.path] = self.files.pop(target.path)
                self._path(*new.path).parent.mkdir(exist_ok=True)
                os.rename(self._path(*target.path), self._path(*new.path))
                views = [self.of(layer, among=before | self.files)]
                layer.target = new
        if is_watched:
            layer.may_read(
                self.of(layer, among=before), self.of(layer), *views,
                self.of(layer, without=(target.path,), among=before))
        return f"{kind} {target.place}/{target.name}"

    def _put(self, layer: Layer, data: bytes | None) -> list[Files]:
        """Puts bytes, or something that is no file, in place; what may be seen meanwhile."""
        target = layer.target
        path = self._path(*target.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            discard(path)
            path.mkdir() if self.chance.random() < 0.5 else os.mkfifo(path)
            return []
        manner = self.chance.choice(("beside", "beside", "in place", "swap"))
        if manner == "swap" and self._path(target.place).is_symlink():
            self._swap(target, data)
        elif manner == "in place" and path.is_file() and not path.is_symlink():
            with path.open("wb", buffering=0) as file:
                for start in range(0, len(data), 16):
                    file.write(data[start:start + 16])
            # Who looks before the end finds a part of it.
            return [self.of(layer, among=self.files | {target.path: None})]
        else:
            install(path, data)
        return []

    def _swap(self, target: Target, data: bytes) -> None:
        """Has a link lead to another directory, in which one file is another one."""
        place = self._path(target.place)
        old = place.resolve()
        new = self.directory / f"{target.place}-{next(self.generations)}"
        new.mkdir()
        for entry in [*old.rglob("*")]:
            copy = new / entry.relative_to(old)
            if entry.is_fifo():
                os.mkfifo(copy)
            elif entry.is_dir():
                copy.mkdir()
            else:
                shutil.copyfile(entry, copy)
        path = new / target.name
        path.parent.mkdir(exist_ok=True)
        install(path, data)
        link = self.directory / "link"
        link.symlink_to(new.name)
        os.rename(link, place)

    def _contents(self, layer: Layer) -> Contents:
        keys = self.chance.sample(KEYS, self.chance.randint(0, 4))
        locks = []
        if layer.name == "managed":
            some = PATTERNS if layer.domain == GLOBAL else (*PATTERNS, "*")
            locks = self.chance.sample(some, self.chance.choice((0, 0, 1, 2)))
        return Contents(tuple((key, self._value()) for key in keys), tuple(locks))

    def _value(self) -> str:
        number = next(self.numbers)
        return json.dumps(self.chance.choice((number, f"text {number}", [number, True, "ä"])))

    def _nonsense(self, layer: Layer) -> bytes | None:
        """What no good file has; None for what is no file."""
        good = self._contents(layer).encoded("json")
        choices = [
            None, b"", b"[1]", b"\xff\xfe", good[:-1], good + b"x", b'{"$unknown": 1}',
            b'{"a": 1, "a": 2}', b'{"": 1}', b"<plist><dict><key>a</key></dict></plist>",
            b"bplist00" + bytes(40), b'{"$locked": ["a*b"]}', b'{"$locked": "a"}',
        ]
        if layer.name != "managed":
            choices.append(b'{"$locked": ["Theme"]}')
        return self.chance.choice(choices)


def domain_of(name: str) -> str:
    """The domain that a file is for: `DOMAIN.json`, or in `DOMAIN.d`."""
    return name.split("/")[0].rsplit(".", 1)[0]


def install(path: pathlib.Path, data: bytes) -> None:
    """Writes a file as package managers do: beside its place, under a name that is ignored."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    if path.is_dir():
        path.rmdir()
    os.rename(beside, path)


def discard(path: pathlib.Path) -> None:
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
