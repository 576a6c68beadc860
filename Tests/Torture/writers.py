"""Writers that send one change after the other, until they are stopped or the daemon dies."""

from changes import APPLY, Change
from clients import Client, Pending, Refused
from gi.repository import GLib
from ledger import GONE, SHARED, Found, Ledger
from privatebus import ERROR, NO_ANSWER


class Writer:
    """Sends changes of a domain of its own, several at a time, until it is stopped."""

    def __init__(self, ledger: Ledger, client: Client, domain: str, depth: int, largest: int):
        self.ledger, self.client, self.domain = ledger, client, domain
        self.depth, self.largest = depth, largest
        self.in_flight = 0
        self.is_stopped = False
        self.acknowledged = 0

    def go_on(self) -> None:
        while not self.is_stopped and self.in_flight < self.depth:
            change = self.ledger.change(self.domain, self.largest)
            self.in_flight += 1
            change.send(self.client, lambda call, change=change: self._finish(change, call))

    def _finish(self, change: Change, call: Pending) -> None:
        self.in_flight -= 1
        if isinstance(call.answer, Refused):
            self.is_stopped = True
            expect_death(str(change), call.answer)
        else:
            self.acknowledged += 1
            self.ledger.acknowledge(change, call.answer[0])
            self.go_on()


class Counter:
    """Raises the shared counter by one again and again, each time from what it reads."""

    def __init__(self, ledger: Ledger, client: Client):
        self.ledger, self.client = ledger, client
        self.in_flight = 0
        self.is_stopped = False
        self.acknowledged = 0

    def go_on(self) -> None:
        if not self.is_stopped:
            self.in_flight = 1
            self.client.begin("GetValue", "(ss)", SHARED, "count", done=self._raise)

    def _raise(self, call: Pending) -> None:
        self.in_flight = 0
        match call.answer:
            case Refused(name=name) if name == ERROR + "NotFound":
                value, expected = 0, 0
            case Refused() as refusal:
                self.is_stopped = True
                return expect_death("reading the counter", refusal)
            case (value, expected):
                pass
        if self.is_stopped:
            return
        floor = self.ledger.highest
        self.ledger.count_sent(value + 1)
        self.in_flight = 1
        self.client.begin(
            "ApplyValues", APPLY, SHARED, {"count": GLib.Variant("x", value + 1)}, [],
            {"count": expected}, {},
            done=lambda call: self._finish(value + 1, floor, call))

    def _finish(self, value: int, floor: int, call: Pending) -> None:
        self.in_flight = 0
        match call.answer:
            case Refused(name=name) if name == ERROR + "Conflict":
                self.go_on()
            case Refused() as refusal:
                self.is_stopped = True
                expect_death(f"raising the counter to {value}", refusal)
            case (generation,):
                self.acknowledged += 1
                self.ledger.count_acknowledged(value, generation, floor)
                self.go_on()


def expect_death(what: str, refusal: Refused) -> None:
    """Raises Found where a call was refused for any other reason than that the daemon has died."""
    if refusal.name not in GONE:
        what_came = "no answer" if refusal.name == NO_ANSWER else str(refusal)
        raise Found(f"{what} was sent to a daemon that served, and came back with {what_came}")
