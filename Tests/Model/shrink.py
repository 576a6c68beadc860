"""Makes a failing sequence of steps as short and plain as it can be and still fail."""

import json
import time
from collections.abc import Callable, Iterator

from archives import Tree
from check import Step

Steps = list[Step]

PLAIN_NAMES = {"domain": ["a", "b", "c", "a@host"], "key": ["a", "b", "c", "d"]}


class Shrinker:
    """Tries sequences; each is replayed on a database and a daemon of its own."""

    def __init__(self, fails: Callable[[Steps], bool], seconds: float):
        self.fails = fails
        self.deadline = time.monotonic() + seconds
        self.tries = 0

    def shrunk(self, steps: Steps) -> Steps:
        """The shortest that is found in time."""
        while True:
            before = steps
            steps = self.without_chunks(steps)
            steps = self.with_plain_names(steps)
            steps = self.with_plain_steps(steps)
            if steps == before:
                return steps

    def holds(self, steps: Steps) -> bool:
        """Whether a sequence still fails; none does when time is up.

        A fault that needs calls in flight may not show each time.
        """
        attempts = 2 if any(step["do"] == "together" for step in steps) else 1
        for _ in range(attempts):
            if time.monotonic() > self.deadline:
                return False
            self.tries += 1
            if self.fails(steps):
                return True
        return False

    def without_chunks(self, steps: Steps) -> Steps:
        """Drops halves, quarters, and so on, at last each step."""
        size = max(1, len(steps) // 2)
        while True:
            start = 0
            while start < len(steps):
                fewer = steps[:start] + steps[start + size:]
                if fewer and self.holds(fewer):
                    steps = fewer
                else:
                    start += size
            if size == 1:
                return steps
            size //= 2

    def with_plain_names(self, steps: Steps) -> Steps:
        """Gives each domain and each key a short name, the same everywhere."""
        for kind, plain in PLAIN_NAMES.items():
            names = [name for name in dict.fromkeys(_names(steps, kind)) if name not in plain]
            for name in names:
                free = [short for short in plain if short not in _names(steps, kind)]
                renamed = _renamed(steps, name, free[0]) if free else steps
                if renamed != steps and self.holds(renamed):
                    steps = renamed
        return steps

    def with_plain_steps(self, steps: Steps) -> Steps:
        """Replaces each step by plainer ones while there are such that fail as well."""
        place = 0
        while place < len(steps):
            for plainer in _plainer_steps(steps[place]):
                candidate = steps[:place] + plainer + steps[place + 1:]
                if self.holds(candidate):
                    steps = candidate
                    break
            else:
                place += 1
        return steps


def _names(part: object, kind: str) -> list[str]:
    """Every domain, or every key, that occurs in a part of a sequence."""
    if isinstance(part, list):
        return [name for item in part for name in _names(item, kind)]
    if not isinstance(part, dict) or "do" not in part:
        return []
    if kind == "domain":
        found = [part["domain"]] if "domain" in part else []
        return found + part.get("domains", []) + _names(part.get("calls", []), kind)
    found = [part[name] for name in ("key", "new_key") if name in part]
    found += [key for name in ("set", "expected") for key, _ in part.get(name, []) if key]
    return found + part.get("remove", []) + _names(part.get("calls", []), kind)


def _renamed(part: object, name: str, new: str) -> object:
    """The same with a name replaced, wherever it occurs; values keep their texts."""
    if isinstance(part, list):
        return [_renamed(item, name, new) for item in part]
    if isinstance(part, dict):
        return {key: item if key in ("value", "tree", "method") else _renamed(item, name, new)
                for key, item in part.items()}
    return new if part == name else part


def _plainer_steps(step: Step) -> Iterator[Steps]:
    if step["do"] == "together":
        calls = step["calls"]
        yield calls
        if step["signal"]:
            yield [*calls, {"do": "signal", "signal": step["signal"]}]
            yield [step | {"signal": None}]
        for place in range(len(calls)):
            yield [step | {"calls": calls[:place] + calls[place + 1:]}]
            for plainer in _plainer_calls(calls[place]):
                yield [step | {"calls": calls[:place] + [plainer] + calls[place + 1:]}]
        for name in ("after", "wait"):
            if step[name]:
                yield [step | {name: 0}]
    elif step["do"] == "call":
        for call in _plainer_calls(step):
            yield [call]


def _plainer_calls(call: Step) -> Iterator[Step]:
    if call["by"] != 0:
        yield call | {"by": 0}
    for name in ("set", "remove", "expected", "domains"):
        items = call.get(name, [])
        if len(items) > 3:
            yield call | {name: items[:len(items) // 2]}
            yield call | {name: items[len(items) // 2:]}
        else:
            for place in range(len(items)):
                yield call | {name: items[:place] + items[place + 1:]}
    if isinstance(call.get("since"), list):
        # Fewer steps have other numbers; one that is named outright lets them go.
        for since in range(1, 5):
            yield call | {"since": since}
    if isinstance(call.get("options", {}).get("unchanged-since"), list):
        for since in range(1, 5):
            yield call | {"options": call["options"] | {"unchanged-since": since}}
    if "many" in call:
        name, count = call["many"]
        for fewer in (1, count // 2, count - count // 8, count - 1):
            if fewer < count:
                yield call | {"many": [name, fewer]}
        if name != "k":
            yield call | {"many": ["k", count]}
    for option in call.get("options", {}):
        yield call | {"options": {
            name: given for name, given in call["options"].items() if name != option}}
    if "value" in call:
        for plainer in _plainer_values(call["value"]):
            yield call | {"value": plainer}
    for place, (key, description) in enumerate(call.get("set", [])[:3]):
        for plainer in _plainer_values(description):
            yield call | {
                "set": call["set"][:place] + [[key, plainer]] + call["set"][place + 1:]}


def _plainer_values(description: dict[str, object]) -> Iterator[dict[str, object]]:
    if description.get("spelling"):
        yield description | {"spelling": 0}
    if "tree" not in description:
        return
    size = len(json.dumps(description["tree"]))
    for tree in _plainer_trees(description["tree"]):
        # Always shorter, so that this comes to an end.
        if len(json.dumps(tree)) < size:
            yield description | {"tree": tree}


def _plainer_trees(tree: Tree) -> Iterator[Tree]:
    yield from (1, "a", True, [])
    if isinstance(tree, list):
        yield from tree
        for place in range(len(tree)):
            yield tree[:place] + tree[place + 1:]
    elif isinstance(tree, dict):
        for key, inner in tree.items():
            if key.startswith("$") and isinstance(inner, str):
                continue
            yield inner
            for plainer in _plainer_trees(inner) if isinstance(inner, (list, dict)) else ():
                # The elements of a set stay a list, the fields of an object a dictionary.
                if key == "$twice" or isinstance(plainer, type(inner)):
                    yield tree | {key: plainer}
