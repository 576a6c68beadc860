"""Faults put in on purpose: each must be found, or the model test could not fail.

Where one rule of the model is wrong, the service differs from it as a service does in which that
rule is wrong. One fault is the service's own: it loses its crash journal.
"""

import shutil

from model import Domain, Entry, Model
from refusals import Call, Refused
from service import Service
from values import Value


class BytesCount(Model):
    """The same graph in other bytes is a change."""

    def differs(self, old: Entry | None, new: Value) -> bool:
        return old is None or old.value.archive != new.archive


class AbsentAlwaysHolds(Model):
    """The precondition that a key is absent holds always."""

    def key_holds(self, entry: Entry | None, generation: int) -> bool:
        return generation == 0 or super().key_holds(entry, generation)


class AnyChangeBreaksDomain(Model):
    """The precondition of a whole domain is broken by a change of any domain."""

    def domain_holds(self, domain: Domain, generation: int) -> bool:
        return super().domain_holds(domain, generation) and generation in (0, self.generation)


class RemovalsKeepUnchanged(Model):
    """A key that was removed after a generation counts as unchanged since then."""

    def is_unchanged(self, domain: Domain, entry: Entry | None, removal: int, since: int) -> bool:
        return super().is_unchanged(domain, entry, 0, since)


class ForgetfulRemovals(Model):
    """GetChanges reports no removal where the record is not complete."""

    def get_changes(self, call: Call):
        answer = super().get_changes(call)
        is_incomplete = isinstance(answer, tuple) and not answer[-1]
        return (*answer[:2], [], *answer[3:]) if is_incomplete else answer


class UnnamedLocks(Model):
    """The error of a locked key names none."""

    def answer(self, call: Call) -> object:
        answer = super().answer(call)
        is_locked = isinstance(answer, Refused) and str(answer) == "Locked"
        return Refused("Locked", []) if is_locked else answer


class LateRecord(Model):
    """The record begins with the first change."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.record_start = 2


class KilledTokens(Model):
    """A kill forgets the tokens."""

    def end(self, by: str) -> None:
        super().end(by)
        for domain in self.domains.values():
            domain.tokens.clear()


class NoRemovals(Model):
    """GetChanges reports no removal that is older than the last change of its domain."""

    def get_changes(self, call: Call):
        domain = self.in_domain(call["domain"])
        domain.removals = {
            key: at for key, at in domain.removals.items() if at == domain.last}
        return super().get_changes(call)


class SilentRemovals(Model):
    """The signal of a change that also sets keys does not name those that it removes."""

    def tell(self, call: Call, changed: list[str], removed: list[str]) -> None:
        super().tell(call, changed, [] if changed else removed)


class LostJournal(Service):
    """SIGKILL takes the crash journal with it, and so every change that is not on disk."""

    is_killed = False

    def signal(self, process: int, name: str) -> None:
        self.is_killed = name == "KILL"
        super().signal(process, name)

    def wait_until_gone(self, process: int) -> None:
        super().wait_until_gone(process)
        if self.is_killed:
            shutil.rmtree(self.directory / "runtime" / "defaultsd", ignore_errors=True)


MODELS: dict[str, type[Model]] = {
    "bytes-count": BytesCount, "absent-always-holds": AbsentAlwaysHolds,
    "any-change-breaks-domain": AnyChangeBreaksDomain, "killed-tokens": KilledTokens,
    "no-removals": NoRemovals, "silent-removals": SilentRemovals,
    "removals-keep-unchanged": RemovalsKeepUnchanged, "forgetful-removals": ForgetfulRemovals,
    "unnamed-locks": UnnamedLocks, "late-record": LateRecord,
}
SERVICES: dict[str, type[Service]] = {"lost-journal": LostJournal}
