"""Makes a sequence of steps of a seed: plain values that JSON can write, the same each time."""

import random

from archives import APART, PLAIN, TURNED, Tree, archive
from check import Step
from model import LARGE_ENTRY, LARGEST_VALUE
from refusals import Call

CALLERS = 3

DOMAINS = ["org.example.App", "org.example.App@host", "NSGlobalDomain", "org.example.Game",
           "org.example.Game@host:elsewhere", "a", "0.-_.Z", "org.example." + "long" * 60 + "est"]
KEYS = ["a", "b", "User", "Ärger", "two words", "$class", "k" * 1024, "\U0001F511", "@host", "ä"]
CLASSES = ["Account", "Book", "NSNull"]
TEXTS = ["", "ada", "Ärger", "\U0001F511", "$class", "a\nb"]
NUMBERS = [0, 1, -1, 42, 255, 256, 2**31, 2**63 - 1, -2**63, 2**63, 2**64 - 1]
# Without 0.0: plistlib writes it and -0.0 as the same object.
REALS = [-0.0, 1.0, 1.5, -1e300, 5e-324, float("inf"), float("nan")]
TOKENS = ["one", "two", "three", "Ä" * 127]

BAD_DOMAINS = ["", ".", "a..b", ".a", "a.", "a b", "Ärger", "x" * 256, "a@", "a@nowhere",
               "a@host:", "@host", "a@host:b@host", "a@host:" + "x" * 65, "a/b"]
LOCKED_DOMAINS = ["org.example.App@managed", "org.example.App@system"]
BAD_KEYS = ["", "k" * 1025, "ä" * 513]
BAD_VALUES = ["<{'$class': <1>}>", "<{'$ref': <1>}>", "<{1: 2}>", "<{'$unknown': <1>}>"]
BAD_OPTIONS = [{"durable": "yes"}, {"token": True}, {"token": ""}, {"token": "x" * 256},
               {"colour": True}, {"unchanged-since": True}, {"unchanged-since": "1"},
               {"list-locked": 1}]

WEIGHTS = {
    "Get": 6, "GetValue": 6, "Set": 12, "SetValue": 12, "Remove": 8, "Rename": 6,
    "ListDomains": 2, "ListKeys": 3, "GetAll": 4, "GetAllValues": 4, "RemoveDomain": 2,
    "GetChanges": 10, "Apply": 16, "ApplyValues": 8, "Synchronize": 1, "Attach": 2,
    "GetTimes": 4,
}


def sequence(seed: int, methods: set[str], length: int) -> list[Step]:
    """A sequence of steps that call these methods."""
    return _Generator(seed, methods).sequence(length)


class _Generator:
    """Draws steps. Each sequence has a mood: how many domains and keys, how rough it goes."""

    def __init__(self, seed: int, methods: set[str]):
        self.random = random.Random(seed)
        self.weights = {
            method: weight * self.random.choice([0, 1, 1, 1, 3])
            for method, weight in WEIGHTS.items() if method in methods}
        self.weights["Set"] = max(self.weights["Set"], 1)
        self.domains = self.random.sample(DOMAINS, self.random.choice([1, 2, 4, len(DOMAINS)]))
        self.keys = self.random.sample(KEYS, self.random.choice([1, 3, 6, len(KEYS)]))
        self.is_bulky = self.chance(0.1) and "Apply" in methods
        self.kinds = {
            self.one_call: 100, self.together: self.random.choice([0, 5, 20]),
            self.signal: self.random.choice([0, 2, 5]), self.look: 3,
            self.bad_call: self.random.choice([0, 5, 10]),
        }
        if {"GetAll", "GetChanges"} <= methods:
            self.kinds[self.follow] = 5
        if self.is_bulky:
            self.kinds[self.bulk] = 3

    def sequence(self, length: int) -> list[Step]:
        steps: list[Step] = []
        while len(steps) < length:
            steps += self.drawn(self.kinds)()
        return steps

    def drawn(self, weights: dict):
        """One of these, as often as its weight says."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # Kinds of steps

    def one_call(self) -> list[Step]:
        return [self.call_of(self.drawn(self.weights))]

    def together(self) -> list[Step]:
        signal = self.random.choice([None, None, "KILL", "KILL", "TERM", "HUP"])
        return [{"do": "together",
                 "calls": [self.call_of(self.drawn(self.weights))
                           for _ in range(self.random.choice([2, 2, 3]))],
                 "signal": signal, "after": self.random.choice([0, 0, 1, 2]),
                 "wait": self.random.choice([0, 50, 100, 200, 400, 1000])}]

    def signal(self) -> list[Step]:
        return [{"do": "signal", "signal": self.random.choice(["KILL", "KILL", "TERM", "HUP"])}]

    def look(self) -> list[Step]:
        return [{"do": "look"}]

    def follow(self) -> list[Step]:
        return [{"do": "follow", "by": self.caller(), "domain": self.random.choice(self.domains),
                 "copy": self.random.randrange(8)}]

    def bulk(self) -> list[Step]:
        """More keys, longer names or larger values than go into one signal or one bulk answer."""
        domain, by = self.random.choice(self.domains), self.caller()
        count, name, tree = self.random.choice([
            (700, "key", 1), (1100, "key", 1), (1100, "k" * 80, 1),
            (75, "key", {"$fit": LARGE_ENTRY - 2}), (3, "key", {"$fit": LARGEST_VALUE * 3 // 4})])
        apply = {"do": "call", "by": by, "method": "Apply", "domain": domain, "set": [],
                 "remove": [], "expected": [], "options": {"durable": count < 100}}
        fills = [apply | {"many": [name, count], "value": {"tree": tree}}]
        if count < 10:
            fills = [apply | {"set": [[f"{name}{number}", {"tree": tree}]]}
                     for number in range(count)]
        empty = {"do": "call", "by": by, "method": "RemoveDomain", "domain": domain}
        if self.chance(0.5) or "RemoveDomain" not in self.weights:
            empty = apply | {"many": [name, count]}
        seen = [self.call_of(method) | {"domain": domain}
                for method in ("GetAll", "GetAllValues", "GetChanges") if method in self.weights]
        return fills + seen + [empty] + seen[-1:]

    # Calls

    def caller(self) -> int:
        return self.random.randrange(CALLERS)

    def call_of(self, method: str) -> Call:
        """A call with arguments that are good, though what they name may not be there."""
        call = {"do": "call", "by": self.caller(), "method": method}
        domain = {"domain": self.random.choice(self.domains)}
        key = {"key": self.random.choice(self.keys)}
        match method:
            case "ListDomains" | "Synchronize":
                return call
            case "ListKeys" | "GetAll" | "GetAllValues" | "RemoveDomain":
                return call | domain
            case "GetChanges":
                return call | domain | {"since": self.since()}
            case "Attach":
                return call | {"domains": self.some(self.domains)}
            case "GetTimes":
                return call | domain | {"keys": self.some(self.keys)}
            case "Rename":
                return call | domain | key | {"new_key": self.random.choice(self.keys)}
            case "Set" | "SetValue":
                return call | domain | key | {"value": self.value(method)}
            case "Apply" | "ApplyValues":
                return call | domain | self.application(method)
        return call | domain | key

    def application(self, method: str) -> dict[str, object]:
        """The arguments of an Apply."""
        keys = self.some(self.keys)
        split = self.random.randint(0, len(keys))
        expected = []
        if self.chance(0.4):
            expected = [[key, self.expectation(key)] for key in self.some(["", *self.keys])[:2]]
        options = {}
        if self.chance(0.3):
            options["token"] = self.random.choice(TOKENS)
        if self.chance(0.1):
            options["durable"] = self.chance(0.8)
        if self.chance(0.2):
            options["list-locked"] = self.chance(0.8)
        if self.chance(0.25):
            options["unchanged-since"] = self.since()
        return {"set": [[key, self.value(method)] for key in keys[:split]], "remove": keys[split:],
                "expected": expected, "options": options}

    def expectation(self, key: str) -> object:
        if key == "":
            return self.random.choice(
                [0, ["domain", 0], ["database", 0], ["domain", -1], ["database", 1]])
        return self.random.choice([0, ["key", 0], ["key", 0], ["key", 0], ["key", 1]])

    def since(self) -> object:
        return self.random.choice(
            [0, 1, ["domain", 0], ["domain", -1], ["database", 0], ["database", 1], 2**64 - 1]
            + [["database", -self.random.randrange(60)]] * 7)

    def some(self, of: list[str]) -> list[str]:
        return self.random.sample(of, self.random.randint(0, min(4, len(of))))

    # Values

    def value(self, method: str) -> dict[str, object]:
        tree = self.tree(3)
        if method in ("SetValue", "ApplyValues"):
            return {"tree": tree}
        if self.chance(0.03):
            tree = {"$fit": LARGE_ENTRY + self.random.choice([0, 1])}
        elif self.chance(0.03):
            tree = [tree, "no\0carrier"]
        return {"tree": tree, "spelling": self.random.choice([PLAIN, PLAIN, TURNED, APART])}

    def tree(self, depth: int) -> Tree:
        """A value; those of few shapes are drawn often, so that keys get the value they have."""
        if self.chance(0.6):
            return self.random.choice([True, False, 1, 2, "ada", 1.0, {"user": "ada", "n": 1}])
        scalars = [lambda: self.random.choice(TEXTS), lambda: self.random.choice(NUMBERS),
                   lambda: self.random.choice(REALS), lambda: None,
                   lambda: {"$data": self.random.randbytes(self.random.randrange(4)).hex()},
                   lambda: {"$date": self.random.choice([-1.0, 725760000.0])},
                   lambda: {"$repeat": ["x", self.random.choice([20, 300, 70_000])]}]
        if depth == 0:
            return self.random.choice(scalars)()
        inner = [lambda: self.trees(depth), lambda: {"$set": self.trees(depth)},
                 lambda: {"$twice": self.tree(depth - 1)},
                 lambda: dict(zip(self.some(["x", "y", "Ä", ""]), self.trees(depth))),
                 lambda: {"$object": self.random.choice(CLASSES),
                          "fields": dict(zip(["name", "size", "on"], self.trees(depth)))}]
        return self.random.choice(scalars + inner)()

    def trees(self, depth: int) -> list[Tree]:
        return [self.tree(depth - 1) for _ in range(self.random.randrange(4))]

    # Bad input

    def bad_call(self) -> list[Step]:
        """A call with one fault, which the model names."""
        call = self.call_of(self.drawn(self.weights))
        faults = [{"raw": "('too', 'many', 'words', 1)"}]
        if "domain" in call:
            faults.append({"domain": self.random.choice(BAD_DOMAINS)})
        if "key" in call:
            faults.append({"key": self.random.choice(BAD_KEYS)})
        if call["method"] in ("Set", "SetValue", "Remove", "Rename", "RemoveDomain"):
            faults.append({"domain": self.random.choice(LOCKED_DOMAINS)})
        if call.get("keys"):
            faults.append({"keys": [*call["keys"], self.random.choice(BAD_KEYS)]})
        if "value" in call:
            faults.append({"value": self.bad_value(call["method"])})
        if "set" in call:
            faults += self.bad_applications(call)
        return [call | self.random.choice(faults)]

    def bad_value(self, method: str) -> dict[str, object]:
        if method in ("SetValue", "ApplyValues"):
            return {"refused": "InvalidArgs", "text": self.random.choice(BAD_VALUES)}
        if self.chance(0.1):
            return {"refused": "TooLarge", "tree": {"$fit": LARGEST_VALUE + 1}}
        good = archive(1)
        return {"refused": "InvalidArchive", "bytes": self.random.choice(
            [b"", b"garbage", good[:-1], good[1:], good.replace(b"$top", b"$pot")]).hex()}

    def bad_applications(self, call: Call) -> list[dict[str, object]]:
        key, value = self.random.choice(self.keys), self.value(call["method"])
        return [
            {"set": [[key, value], [key, value]], "remove": []},
            {"set": [], "remove": [key, key]},
            {"set": [[key, value]], "remove": [key]},
            {"expected": [[key, 0], [key, 0]]},
            {"expected": [[self.random.choice(BAD_KEYS[1:]), 0]]},
            {"options": self.random.choice(BAD_OPTIONS)},
            {"set": [[self.random.choice(BAD_KEYS), value]], "remove": []},
            {"remove": [self.random.choice(BAD_KEYS)]},
            {"set": [[key, self.bad_value(call["method"])]], "remove": [], "expected": []},
            {"domain": self.random.choice(LOCKED_DOMAINS)},
            {"domain": self.random.choice(LOCKED_DOMAINS), "options": {"list-locked": True}},
        ]
