"""What was sent to the daemon and what it acknowledged, and the judge of what it then has.

Invariants that a Ledger checks, at each reply and, by `judge`, at each start of a daemon:
 1. A domain holds what its changes make of it, in their order, with no acknowledged one left out.
    One that was sent and not answered is there or not, whole: which, the domain itself tells.
 2. A generation is given to one change only, and is above all that were replied before that change
    was sent. An entry has the generation that the reply to its last change told.
 3. A change with a token that is sent again, over a death or not, happens once, and its reply is
    that of the first time.
 4. GetChanges tells exactly what has become different.
 5. A counter that is raised by comparing and setting loses nothing and counts nothing twice.
 6. The counter page's words never go back, stand at the last change before it is acknowledged, and
    hold a copy for current only while it is.
 7. The generation that Synchronize replies is not below any that was acknowledged before it was
    asked.
"""

import itertools
import os
import random
from collections.abc import Sequence

from changes import Book, Change, Contents, possibilities, shortened, text_of
from clients import Client, Refused
from page import Page
from privatebus import ERROR

KEYS = tuple(f"key{number}" for number in range(6))
SHARED = "org.example.Torture.Shared"
GONE = {
    "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.Disconnected",
}
"""What a caller hears of a daemon that died."""

VOID = (1 << 64) - 1
"""What the words of a page show that nobody is to believe any more."""


class Found(Exception):
    """Something does not hold: what was expected, and what came."""


class Ledger:
    """All domains, the shared counter and the page; it draws changes by chance."""

    def __init__(self, chance: random.Random, first_number: int = 1):
        """A ledger that tells its changes apart by numbers, from that one on."""
        self.chance = chance
        self.books: dict[str, Book] = {}
        self.numbers = itertools.count(first_number)
        self.owners: dict[int, object] = {}
        self.highest = 0
        self.counts: dict[int, int] = {0: 0}
        self.counts_sent: set[int] = set()
        self.page: Page | None = None
        self.words: dict[str, int] = {}

    # What is sent, and what is replied

    def change(self, domain: str, largest: int = 2000) -> Change:
        """Draws a change and notes it as sent.

        It is always one that changes something; its text has up to `largest` bytes.
        """
        chance = self.chance
        present = list(self.books[domain].expected) if domain in self.books else []
        kind = chance.choice("sssaaatr" if present else "sat")
        if kind == "r":
            return self.note(domain, removes=[chance.choice(present)])
        keys = chance.sample(KEYS, 1 if kind == "s" else chance.randint(2, len(KEYS)))
        spare = [key for key in present if key not in keys]
        return self.note(
            domain, keys, [chance.choice(spare)] if spare and kind != "s" else [],
            length=chance.choice((0, 20, largest)), has_token=kind == "t")

    def note(
        self, domain: str, sets: Sequence[str] = (), removes: Sequence[str] = (), length: int = 20,
        has_token: bool = False, is_durable: bool = False
    ) -> Change:
        """Notes a change as sent, which sets keys to a text that has not been before."""
        book = self.books.setdefault(domain, Book(domain))
        number = next(self.numbers)
        change = Change(
            number, domain, dict.fromkeys(sets, text_of(number, length)), tuple(removes),
            f"token {number}" if has_token else "", self.highest, is_durable=is_durable)
        book.send(change)
        return change

    def acknowledge(self, change: Change, generation: int) -> None:
        """Notes the reply to a change."""
        change.is_acknowledged = True
        self.claim(change, generation)
        self.highest = max(self.highest, generation)
        book = self.books[change.domain]
        book.last = max(book.last, generation)
        if change.token:
            book.with_token = book.with_token[-20:] + [change]
        self.look_at_page(change.domain, generation)

    def claim(self, change: Change, generation: int) -> None:
        """Notes the generation of a change (2)."""
        if change.generation not in (0, generation):
            raise Found(f"{change} now shows generation {generation}")
        if generation <= change.floor:
            raise Found(f"{change} got generation {generation}, and {change.floor} had been "
                        "replied before it was sent")
        owner = self.owners.setdefault(generation, change)
        if owner is not change:
            raise Found(f"generation {generation} was given to {owner} and to {change}")
        change.generation = generation

    def count_sent(self, value: int) -> None:
        """Notes that the shared counter is to be raised to a value."""
        self.counts_sent.add(value)

    def count_acknowledged(self, value: int, generation: int, floor: int) -> None:
        """Notes that the shared counter was raised (2, 5)."""
        if value in self.counts:
            raise Found(f"the counter was raised to {value} twice")
        if generation <= floor:
            raise Found(f"raising the counter to {value} got generation {generation}, and {floor} "
                        "had been replied before it was sent")
        self.claim_count(value, generation)
        self.highest = max(self.highest, generation)
        self.look_at_page(SHARED, generation)

    def claim_count(self, value: int, generation: int) -> None:
        """Notes the generation of a value of the shared counter (2)."""
        change = f"the counter's {value}"
        owner = self.owners.setdefault(generation, change)
        if owner != change:
            raise Found(f"generation {generation} was given to {owner} and to {change}")
        self.counts[value] = generation

    def synchronized(self, generation: int, floor: int) -> None:
        """Notes the reply of Synchronize (7)."""
        if generation < floor:
            raise Found(f"Synchronize replied {generation}, after {floor} had been acknowledged")

    # The page

    def attach(self, client: Client) -> None:
        """Maps the page, or looks whether the one that is mapped still serves (6)."""
        client.call("Attach", "(as)", [])
        page = Page(client.descriptors[0])
        if self.page is None or not self.page.is_file(client.descriptors[0]):
            if self.page is not None and self.page.words[2] != VOID:
                raise Found("another page is handed out, and the old one can still be believed")
            self.page = page
            self.words = {}
        os.close(client.descriptors[0])

    def look_at_page(self, domain: str, generation: int) -> None:
        """Checks that the page shows a change of that generation by now (6)."""
        if self.page is None:
            return
        word = self.page.counter(domain)
        if word < generation:
            raise Found(f"the page's word of {domain} is {word}, after generation {generation} "
                        "was acknowledged")
        if word < self.words.get(domain, 0):
            raise Found(f"the page's word of {domain} is {word}, after {self.words[domain]}")
        self.words[domain] = word

    # The judge

    def judge(self, client: Client, in_order: bool = True, floor: int | None = None) -> None:
        """Reads everything and compares it with what was sent; raises Found.

        - Parameters:
          - in_order: Whether one daemon got all of a domain's changes, so that where one is
            missing, all after it are.
          - floor: What the database's generation must not be below; that of the highest reply.
        """
        properties = client.properties()
        generation = properties["Generation"]
        if generation < (self.highest if floor is None else floor):
            raise Found(f"the generation is {generation}, after {self.highest} was replied")
        if properties["StorageError"]:
            raise Found(f"StorageError says: {properties['StorageError']}")
        for book in self.books.values():
            self.judge_book(book, client, in_order, generation)
        self.judge_counter(client)
        self.judge_page(generation, client)
        self.highest = max(self.highest, generation)

    def judge_book(
        self, book: Book, client: Client, in_order: bool, generation: int
    ) -> None:
        shown = read_domain(client, book.domain)
        texts = {key: shown[key][0] for key in shown}
        contents, happened = self.explained(book, texts, in_order)
        for key, (_, change) in contents.items():
            self.claim(change, shown[key][1])
        self.judge_record(book, client, texts)
        if self.page is not None and self.page.counter(book.domain) <= book.known[0]:
            if texts != book.known[1]:
                raise Found(f"the page holds a copy of {book.domain} at {book.known[0]} for "
                            f"current, which it is not")
        book.last = max([book.last] + [change.generation for change in happened])
        self.look_at_page(book.domain, book.last)
        self.ask_tokens_again(book, client, happened, contents)
        book.settle(contents, set(happened))
        book.known = (generation, texts)

    def explained(
        self, book: Book, texts: dict[str, str], in_order: bool
    ) -> tuple[Contents, list[Change]]:
        """Which changes have happened, so that the domain holds this (1)."""
        for happened, contents in possibilities(book, in_order):
            if {key: text for key, (text, _) in contents.items()} == texts:
                return contents, happened
        told = "\n".join(f"  {change}" for change in book.sent)
        held = {key: text.split()[0] for key, (text, _) in book.contents.items()}
        has = {key: shortened(text) for key, text in texts.items()}
        raise Found(f"{book.domain} held {held}, then were sent\n{told}\nand now it holds {has}, "
                    "which no choice of the unanswered ones explains")

    def judge_record(self, book: Book, client: Client, texts: dict[str, str]) -> None:
        """Compares what GetChanges tells with what is different (4)."""
        since, before = book.known
        if since == 0:
            return
        changed, large, removed, _, complete = client.call(
            "GetChanges", "(st)", book.domain, since)
        changed = {*changed, *large}
        if not complete:
            if changed != set(texts):
                raise Found(f"GetChanges of {book.domain} after {since} is not complete, and has "
                            f"{sorted(changed)} of {sorted(texts)}")
            return
        touched = {key for change in book.sent for key in (*change.sets, *change.removes)}
        different = {key for key in texts if before.get(key) != texts[key]}
        gone = set(before) - set(texts)
        if not different <= changed <= touched & set(texts):
            raise Found(f"GetChanges of {book.domain} after {since} reports changes of "
                        f"{sorted(changed)}, and {sorted(different)} are different")
        if not gone <= set(removed) <= touched - set(texts):
            raise Found(f"GetChanges of {book.domain} after {since} reports removals of "
                        f"{sorted(removed)}, and {sorted(gone)} are gone")

    def ask_tokens_again(
        self, book: Book, client: Client, happened: list[Change], contents: Contents
    ) -> None:
        """Sends changes with a token once more (3)."""
        # One whose keys were all set again may not have happened at all.
        again = [change for _, change in contents.values()
                 if change.token and change in happened and not change.is_acknowledged]
        if book.with_token:
            again.append(self.chance.choice(book.with_token))
        for change in again:
            reply = change.repeat(client)
            if change.is_acknowledged and reply != change.generation:
                raise Found(f"{change} was sent again, and the reply was {reply}")
            self.claim(change, reply)
        if again and read_texts(client, book.domain) != {
                key: text for key, (text, _) in contents.items()}:
            raise Found(f"{again[-1]} was sent again, and has happened twice")

    def judge_counter(self, client: Client) -> None:
        """Reads the shared counter (5)."""
        count = max(self.counts)
        try:
            value, generation = client.call("GetValue", "(ss)", SHARED, "count")
        except Refused as refusal:
            if count == 0 and refusal.name == ERROR + "NotFound":
                return
            raise Found(f"the counter was {count}, and now: {refusal}") from None
        if value < count or value > count and value not in self.counts_sent:
            raise Found(f"the counter is {value}, and {count} was acknowledged")
        if self.counts.get(value, generation) != generation:
            raise Found(f"the counter's {value} has generation {generation}, and "
                        f"{self.counts[value]} was replied")
        self.claim_count(value, generation)
        self.counts_sent.clear()
        self.look_at_page(SHARED, generation)

    def judge_page(self, generation: int, client: Client) -> None:
        """Checks that the page shows nothing that has not happened (6)."""
        if self.page is None or self.page.words[2] == VOID:
            return
        shown = self.page.words[2]
        if shown != generation:
            # A file that is read only now is a change, too.
            before, generation = generation, client.properties()["Generation"]
            if not before <= shown <= generation:
                raise Found(f"the page's generation is {shown}, the database's {generation}")
        for domain in self.books:
            if self.page.counter(domain) > generation:
                raise Found(f"the page's word of {domain} is {self.page.counter(domain)}, above "
                            f"the database's generation, {generation}")


def read_domain(client: Client, domain: str) -> dict[str, tuple[str, int]]:
    """Every entry of a domain with its generation."""
    keys, = client.call("ListKeys", "(s)", domain)
    return {key: client.call("GetValue", "(ss)", domain, key) for key in keys}


def read_texts(client: Client, domain: str) -> dict[str, str]:
    return {key: text for key, (text, _) in read_domain(client, domain).items()}
