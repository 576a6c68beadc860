"""What is refused for its form alone, whatever the database holds."""

import re
from collections import Counter

DOMAIN = re.compile(
    r"(?P<name>[\w-]+(\.[\w-]+)*)(@(?P<layer>host|managed|system)|@host:[\w.-]{1,64})?", re.ASCII)

Call = dict[str, object]
"""A call as a step has it: `method`, `by`, the caller's number, and the arguments by name."""


class Refused(Exception):
    """The call is refused with the error of this name, and with these details after the sentence."""

    def __init__(self, name: str, *details: object):
        super().__init__(name)
        self.details = details

    def __str__(self) -> str:
        return self.args[0]

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Refused)
                and (self.args, self.details) == (other.args, other.details))


def check_domain(name: str) -> None:
    match = DOMAIN.fullmatch(name)
    if match is None or len(match["name"]) > 255:
        raise Refused("InvalidDomain")


def check_layer(name: str, keys: list[str]) -> None:
    """The keys of layers that are made of files are locked, and the error names those of the change."""
    if name.endswith(("@managed", "@system")):
        raise Refused("Locked", [(name, keys)])


def check_key(key: str) -> None:
    if not 1 <= len(key.encode()) <= 1024:
        raise Refused("InvalidKey")


def check_names(call: Call) -> None:
    check_domain(call["domain"])
    check_key(call["key"])


def check_twice(keys: list[str]) -> None:
    if any(count > 1 for count in Counter(keys).values()):
        raise Refused("InvalidArgs")


def check_options(options: dict[str, object]) -> None:
    token = options.get("token", "a token")
    since = options.get("unchanged-since", 0)
    if (options.keys() - {"durable", "token", "unchanged-since"} or not isinstance(token, str)
            or not isinstance(options.get("durable", False), bool)
            or not isinstance(since, int) or isinstance(since, bool)
            or not 1 <= len(token.encode()) <= 255):
        raise Refused("InvalidArgs")


def check_expected_keys(expected: list[tuple[str, int]]) -> None:
    """The key "" means the whole domain."""
    for key, _ in expected:
        if key:
            check_key(key)
