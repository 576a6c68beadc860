"""The settings of a desktop user, kept by defaultsd.

    from defaults import Domain

    game = Domain("org.example.Game")
    game["PlaySound"] = False
    volume = game.get("Volume", 0.5)

    with game.change() as change:
        change["HighScore"] = max(change.get("HighScore", 0), score)

    async for change in game.changes("Volume"):
        show(game.get("Volume", 0.5))

    newest = next(defaults.history("org.example.Game"))
    defaults.undo(newest)

Values are bool, int, float, str, bytes, datetime, None, and lists and dictionaries of them. A dataclass is stored
as an object with its fields: see Domain.get_as().
"""

from ._changes import Change, Changes
from ._domain import Domain
from ._errors import (
    ConflictError,
    DefaultsError,
    ForkedError,
    InvalidArgumentError,
    LimitError,
    LockedError,
    NotDurableError,
    NoValueError,
    StorageError,
    UnreachableError,
    WrongTypeError,
)
from ._history import Action, HistoryValue, KeyChange, Knowledge, archive_at, history, redo, undo, value_at
from ._layers import Layer, State
from ._transaction import Transaction
from ._values import Value

__all__ = [
    "Action",
    "Change",
    "Changes",
    "ConflictError",
    "DefaultsError",
    "Domain",
    "ForkedError",
    "HistoryValue",
    "InvalidArgumentError",
    "KeyChange",
    "Knowledge",
    "Layer",
    "LimitError",
    "LockedError",
    "NoValueError",
    "NotDurableError",
    "State",
    "StorageError",
    "Transaction",
    "UnreachableError",
    "Value",
    "WrongTypeError",
    "archive_at",
    "history",
    "redo",
    "undo",
    "value_at",
]
