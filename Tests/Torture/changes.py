"""Changes as they are sent, and the domains that they make."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from clients import Client, Pending
from gi.repository import GLib

APPLY = "(sa{sv}asa{st}a{sv})"
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@dataclass(eq=False)
class Change:
    """A change of a domain as it was sent: what it sets, and what it removes."""

    number: int
    domain: str
    sets: dict[str, str]
    removes: tuple[str, ...] = ()
    token: str = ""
    floor: int = 0
    """The highest generation that had been replied when it was sent."""
    generation: int = 0
    """What its reply told, or what its entries show; 0 if neither is known."""
    is_acknowledged: bool = False
    is_durable: bool = False
    """Whether the reply is to come when it is on disk."""

    def __str__(self) -> str:
        parts = [f"{key} = {text.split()[0]}" for key, text in self.sets.items()]
        parts += [f"no {key}" for key in self.removes]
        token = f", token {self.token}" if self.token else ""
        return (f"change {self.number} of {self.domain} ({', '.join(parts)}{token}; "
                f"{f'generation {self.generation}' if self.generation else 'not answered'})")

    def applied_to(self, contents: "Contents") -> "Contents":
        made = {key: (text, self) for key, text in self.sets.items()}
        return {key: contents[key] for key in contents if key not in self.removes} | made

    def send(
        self, client: Client, done: Callable[[Pending], None] | None = None
    ) -> Pending:
        """Sends it by the method that fits it."""
        if not self.token and not self.is_durable and len(self.sets) + len(self.removes) == 1:
            for key, text in self.sets.items():
                return client.begin("SetValue", "(ssv)", self.domain, key,
                                    GLib.Variant("s", text), done=done)
            return client.begin("Remove", "(ss)", self.domain, self.removes[0], done=done)
        return client.begin("ApplyValues", APPLY, *self.arguments, done=done)

    def repeat(self, client: Client) -> int:
        """Asks by its token what it did: the generation."""
        return client.call("ApplyValues", APPLY, *self.arguments)[0]

    @property
    def arguments(self) -> tuple:
        options = {"token": GLib.Variant("s", self.token)} if self.token else {}
        if self.is_durable:
            options["durable"] = GLib.Variant("b", True)
        sets = {key: GLib.Variant("s", text) for key, text in self.sets.items()}
        return self.domain, sets, self.removes, {}, options


Contents = dict[str, tuple[str, Change]]


@dataclass
class Book:
    """A domain with one writer: what it held when it was judged last, and what was sent since."""

    domain: str
    contents: Contents = field(default_factory=dict)
    sent: list[Change] = field(default_factory=list)
    with_token: list[Change] = field(default_factory=list)
    """Acknowledged changes with a token, the latest."""
    known: tuple[int, dict[str, str]] = (0, {})
    """A generation, and what the domain held then."""
    last: int = 0
    """The generation of its last change, as far as that is known."""
    missing: list[Change] = field(default_factory=list)
    """Those that were sent and had not happened when it was judged."""
    expected: Contents = field(init=False)
    """What it holds where all that was sent has happened."""

    def __post_init__(self):
        self.expected = self.contents
        for change in self.sent:
            self.expected = change.applied_to(self.expected)

    def send(self, change: Change) -> None:
        """Notes a change as sent."""
        self.sent.append(change)
        self.expected = change.applied_to(self.expected)

    def settle(self, contents: Contents, happened: set[Change]) -> None:
        """Notes what it holds now, and which of the changes that were sent have happened."""
        self.missing = [change for change in self.sent if change not in happened]
        self.contents = self.expected = contents
        self.sent = []


def possibilities(
    book: Book, in_order: bool
) -> Iterator[tuple[list[Change], Contents]]:
    """The ways in which unanswered changes may be missing, the fewest first."""
    if in_order:
        states = [book.contents]
        for change in book.sent:
            states.append(change.applied_to(states[-1]))
        while states:
            count = len(states) - 1
            yield book.sent[:count], states.pop()
            if count and book.sent[count - 1].is_acknowledged:
                return
        return
    unanswered = [change for change in book.sent if not change.is_acknowledged]
    for count in range(len(unanswered) + 1):
        for missing in itertools.combinations(unanswered, count):
            happened = [change for change in book.sent if change not in missing]
            contents = book.contents
            for change in happened:
                contents = change.applied_to(contents)
            yield happened, contents


def text_of(number: int, length: int) -> str:
    """A text that no other change sets, and of which a part is not a whole one."""
    if length == 0:
        return f"{number} ."
    start = number % len(ALPHABET)
    return f"{number} {(ALPHABET * (length // len(ALPHABET) + 2))[start:start + length]}."


def shortened(text: str) -> str:
    """The number of a text that is whole, the beginning of any other."""
    number, _, rest = text.partition(" ")
    is_whole = number.isdecimal() and text == text_of(int(number), max(len(rest) - 1, 0))
    return number if is_whole else f"{text[:20]}..."
