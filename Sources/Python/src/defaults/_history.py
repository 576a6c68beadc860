"""The history: what changed earlier, who has changed it, and taking it back."""

import dataclasses
import datetime
import enum
from collections.abc import Iterator
from typing import Any

from ._declarations import ffi
from ._errors import check, last_error
from ._handle import Handle
from ._library import encoded, taken_bytes
from ._loaded import NULL, lib
from ._values import taken_value

_LEAST_TIME = -(1 << 63)
_MOST_IN_A_CALL = 1000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

#: Every handle reaches the whole history, so the domain does not matter.
_ANY_DOMAIN = "NSGlobalDomain"


class Knowledge(enum.IntEnum):
    """What is known of a value."""

    ABSENT = lib.DEFAULTS_KNOWLEDGE_ABSENT
    PRESENT = lib.DEFAULTS_KNOWLEDGE_PRESENT
    UNKNOWN = lib.DEFAULTS_KNOWLEDGE_UNKNOWN


@dataclasses.dataclass(frozen=True)
class HistoryValue:
    """A value that a key had."""

    #: Whether the key had a value, had none, or the history does not know it.
    knowledge: Knowledge
    _keys: "_Keys" = dataclasses.field(repr=False, compare=False)
    _place: int = dataclasses.field(repr=False, compare=False)
    _side: int = dataclasses.field(repr=False, compare=False)

    @property
    def value(self) -> Any:
        """The value, as Domain returns it.

        Raises NoValueError if there was none, and DefaultsError if the history does not know it.
        """
        memory = lib.defaults_history_keys_copy_json(self._keys.pointer, self._place, self._side)
        return taken_value(memory, self._keys.text(self._place, lib.DEFAULTS_HISTORY_KEY_NAME))

    @property
    def archive(self) -> bytes:
        """The keyed archive of the value. Raises what `value` raises."""
        size = ffi.new("size_t *")
        memory = lib.defaults_history_keys_copy_archive(self._keys.pointer, self._place, self._side, size)
        if not memory:
            raise last_error() or MemoryError()
        return taken_bytes(memory, size[0])


@dataclasses.dataclass(frozen=True)
class KeyChange:
    """A key that an action has changed, or that was taken back."""

    #: The domain, with the suffix of its layer.
    domain: str
    #: The key.
    key: str
    #: What would become of the key if the action was taken back: "holds", "void", "undone", "changed", "same",
    #: "locked", "unknown", or a word of a later version.
    standing: str
    #: What the key had before the action, or before it was taken back.
    before: HistoryValue
    #: What the key had after the action, or what it gets.
    after: HistoryValue


@dataclasses.dataclass(frozen=True)
class Action:
    """What a person would call one change: all keys of one change, or of successive changes by one program."""

    #: Counts the actions of the database from 1.
    number: int
    #: The generation of its first change.
    first: int
    #: The generation of its last change.
    last: int
    #: When it began, in UTC.
    began: datetime.datetime
    #: When it ended, in UTC.
    ended: datetime.datetime
    #: The name of the program that made it; empty if it is unknown.
    program: str
    #: The application ID, if the program runs in a sandbox.
    application: str
    #: The machine that it came from; empty for this one.
    machine: str
    #: The owner of the document, if one was applied.
    owner: str
    #: "change", "undo", "redo", "document", "roam", "restore", "answer", "late", or a word of a later version.
    kind: str
    #: How many keys it changed.
    key_count: int
    #: How many of these the history has; the others cannot be taken back.
    known_key_count: int
    #: Whether it is taken back.
    is_undone: bool
    #: Whether it can be what a person means by "undo" without a number.
    is_by_hand: bool
    #: What else is to be known about it, as a sentence; may be empty.
    note: str

    @property
    def changes(self) -> list[KeyChange]:
        """The keys that it has changed. This asks the service.

        Raises NoValueError if the history does not have the action any more.
        """
        pointer = lib.defaults_history_keys(Handle(_ANY_DOMAIN).open_pointer, self.number)
        if not pointer:
            raise last_error() or MemoryError()
        return _Keys(pointer).changes()


class _Keys:
    """A list of keys of the library, which is freed with its last user."""

    def __init__(self, pointer: Any):
        self.pointer: Any = ffi.gc(pointer, lib.defaults_history_keys_free)

    def text(self, place: int, text: int) -> str:
        return _decoded(lib.defaults_history_keys_text(self.pointer, place, text))

    def changes(self) -> list[KeyChange]:
        return [self._change(place) for place in range(lib.defaults_history_keys_count(self.pointer))]

    def _change(self, place: int) -> KeyChange:
        return KeyChange(
            domain=self.text(place, lib.DEFAULTS_HISTORY_KEY_DOMAIN),
            key=self.text(place, lib.DEFAULTS_HISTORY_KEY_NAME),
            standing=self.text(place, lib.DEFAULTS_HISTORY_KEY_STANDING),
            before=self._value(place, lib.DEFAULTS_HISTORY_BEFORE),
            after=self._value(place, lib.DEFAULTS_HISTORY_AFTER))

    def _value(self, place: int, side: int) -> HistoryValue:
        knowledge = lib.defaults_history_keys_knowledge(self.pointer, place, side)
        return HistoryValue(Knowledge(knowledge), self, place, side)


def history(
    domain: str | None = None, key: str | None = None, *, program: str | None = None,
    since: datetime.datetime | None = None,
) -> Iterator[Action]:
    """The actions of the history, the newest first.

        for action in defaults.history("org.example.Game", "Volume"):
            print(action.ended, action.program)

    domain: only those that changed this domain, with the suffix of its layer.
    key: only those that changed this key of the domain.
    program: only those of this program.
    since: only those that ended at this time or later. One without a zone is a local time.

    The service is asked as the actions are taken, for up to 1000 at once. A program in a sandbox may not use the history,
    and an older service has none: this raises DefaultsError.
    """
    handle = Handle(_ANY_DOMAIN)
    names = [NULL if name is None else encoded(name) for name in (domain, key, program)]
    least = _LEAST_TIME if since is None else int(since.timestamp() // 1)
    before = 0
    while True:
        pointer = lib.defaults_history(handle.open_pointer, *names, least, before, _MOST_IN_A_CALL)
        if not pointer:
            raise last_error() or MemoryError()
        listed = ffi.gc(pointer, lib.defaults_history_free)
        count = lib.defaults_history_count(listed)
        for place in range(count):
            action = _action(listed, place)
            before = action.number
            yield action
        if count < _MOST_IN_A_CALL:
            return


def value_at(domain: str, key: str, when: datetime.datetime | int) -> Any:
    """What a key had at a time, or after a change, as Domain returns it.

        yesterday = datetime.datetime.now() - datetime.timedelta(days=1)
        defaults.value_at("org.example.Game", "Volume", yesterday)

    domain: the domain, with the suffix of its layer.
    when: a time, which means the last change that is not later (one without a zone is a local time), or the
        generation of a change.

    Raises NoValueError if it had no value, and DefaultsError if the history does not know it.
    """
    generation, time = _moment(when)
    memory = lib.defaults_history_copy_json_at(
        Handle(_ANY_DOMAIN).open_pointer, encoded(domain), encoded(key), generation, time)
    return taken_value(memory, key)


def archive_at(domain: str, key: str, when: datetime.datetime | int) -> bytes:
    """The keyed archive of what a key had. For everything else, see value_at()."""
    generation, time = _moment(when)
    size = ffi.new("size_t *")
    memory = lib.defaults_history_copy_archive_at(
        Handle(_ANY_DOMAIN).open_pointer, encoded(domain), encoded(key), generation, time, size)
    if not memory:
        raise last_error() or MemoryError()
    return taken_bytes(memory, size[0])


def _moment(when: datetime.datetime | int) -> tuple[int, int]:
    if isinstance(when, datetime.datetime):
        return 0, int(when.timestamp() // 1)
    if when < 1:
        raise ValueError(f"a generation is 1 or more, not {when}")
    return when, 0


def undo(
    action: Action, *, partial: bool = False, force: bool = False, dry_run: bool = False,
    durable: bool = False,
) -> list[KeyChange]:
    """Takes an action back, in one change: each key gets the value that it had before.

        newest = next(defaults.history("org.example.Game"))
        defaults.undo(newest)

    partial: takes back the keys that nothing has changed since, and leaves the others.
    force: takes back also the keys that something has changed since.
    dry_run: changes nothing, and only returns what would become of each key.
    durable: waits until the change is on disk.

    Returns what has become of each key: `after` is the value that it gets, if `standing` is "holds" or by force.

    Raises ConflictError if something else has changed a key since, or if the action has gone on; LockedError if the
    administrator has locked a key; NoValueError if the history does not have all of the action. Then nothing was changed.
    """
    return _taken_back(lib.defaults_undo, action, _flags(partial, force, dry_run, durable))


def redo(
    action: Action, *, partial: bool = False, force: bool = False, dry_run: bool = False,
    durable: bool = False,
) -> list[KeyChange]:
    """Does again what an action of the kind "undo" has taken back. For everything else, see undo()."""
    return _taken_back(lib.defaults_redo, action, _flags(partial, force, dry_run, durable))


def _taken_back(function: Any, action: Action, flags: int) -> list[KeyChange]:
    keys = ffi.new("defaults_history_keys_t **")
    handle = Handle(_ANY_DOMAIN)
    check(function(handle.open_pointer, action.number, action.last, flags, NULL, keys))
    return _Keys(keys[0]).changes()


def _flags(partial: bool, force: bool, dry_run: bool, durable: bool) -> int:
    chosen: int = (
        (lib.DEFAULTS_UNDO_PARTIAL if partial else 0) | (lib.DEFAULTS_UNDO_FORCE if force else 0)
        | (lib.DEFAULTS_UNDO_DRY_RUN if dry_run else 0) | (lib.DEFAULTS_UNDO_DURABLE if durable else 0))
    return chosen


def _action(listed: Any, place: int) -> Action:
    def number(which: int) -> int:
        found: int = lib.defaults_history_number(listed, place, which)
        return found

    def text(which: int) -> str:
        return _decoded(lib.defaults_history_text(listed, place, which))

    return Action(
        number=number(lib.DEFAULTS_ACTION_NUMBER),
        first=number(lib.DEFAULTS_ACTION_FIRST),
        last=number(lib.DEFAULTS_ACTION_LAST),
        began=_time(number(lib.DEFAULTS_ACTION_BEGAN)),
        ended=_time(number(lib.DEFAULTS_ACTION_ENDED)),
        program=text(lib.DEFAULTS_ACTION_PROGRAM),
        application=text(lib.DEFAULTS_ACTION_APPLICATION),
        machine=text(lib.DEFAULTS_ACTION_MACHINE),
        owner=text(lib.DEFAULTS_ACTION_OWNER),
        kind=text(lib.DEFAULTS_ACTION_KIND),
        key_count=number(lib.DEFAULTS_ACTION_KEYS),
        known_key_count=number(lib.DEFAULTS_ACTION_KNOWN_KEYS),
        is_undone=bool(number(lib.DEFAULTS_ACTION_UNDONE)),
        is_by_hand=bool(number(lib.DEFAULTS_ACTION_BY_HAND)),
        note=text(lib.DEFAULTS_ACTION_NOTE))


def _decoded(text: Any) -> str:
    if not text:
        raise last_error() or MemoryError()
    made: bytes = ffi.string(text)
    return made.decode()


def _time(seconds: int) -> datetime.datetime:
    # The clock of a machine may be anything, and Python knows the years up to 9999.
    try:
        return _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return datetime.datetime.max.replace(tzinfo=datetime.timezone.utc)
