"""The history by the package, with the daemon."""

import datetime
from typing import Any

import pytest

import defaults
from defaults import Domain, Knowledge


def newest(name: str) -> defaults.Action:
    return next(defaults.history(name))


def test_an_action_says_what_has_changed_and_who(name: str, desktop: Any) -> None:
    began = datetime.datetime.now(datetime.timezone.utc)
    Domain(name)["Player"] = {"name": "ada"}
    Domain(name).synchronize()
    action = newest(name)
    assert action.kind == "change" and action.program and not action.machine and not action.owner
    # What the test before has written a moment ago may be the same action.
    assert action.key_count == action.known_key_count >= 1
    assert action.is_by_hand and not action.is_undone and action.last >= action.first > 0
    assert abs(action.ended - began) < datetime.timedelta(minutes=10) and action.began <= action.ended
    change, = [change for change in action.changes if change.domain == name]
    assert (change.domain, change.key, change.standing) == (name, "Player", "holds")
    assert change.before.knowledge == Knowledge.ABSENT
    with pytest.raises(KeyError):
        change.before.value
    with pytest.raises(defaults.NoValueError):
        change.before.archive
    assert change.after.knowledge == Knowledge.PRESENT
    assert change.after.value == {"name": "ada"} and change.after.archive.startswith(b"bplist00")


def test_a_value_is_read_as_it_was(name: str, desktop: Any) -> None:
    for value in ("1", "2"):
        desktop.ctl("write", name, "Volume", "-int", value)
    second, first = defaults.history(name)
    assert defaults.value_at(name, "Volume", first.last) == 1
    assert defaults.value_at(name, "Volume", second.last) == 2
    assert defaults.archive_at(name, "Volume", first.last).startswith(b"bplist00")
    now = datetime.datetime.now() + datetime.timedelta(seconds=2)
    assert defaults.value_at(name, "Volume", now) == 2
    with pytest.raises(defaults.NoValueError):
        defaults.value_at(name, "Volume", first.first - 1)
    with pytest.raises(defaults.NoValueError):
        defaults.archive_at(name, "Other", second.last)
    for number in range(2):
        Domain(name)["Slider"] = number
        Domain(name).flush()
    # Within an action, it is not known.
    moved = next(defaults.history(name, "Slider"))
    with pytest.raises(defaults.DefaultsError) as unknown:
        defaults.value_at(name, "Slider", moved.last - 1)
    assert "does not have the value" in str(unknown.value)
    with pytest.raises(ValueError):
        defaults.value_at(name, "Volume", 0)


def test_actions_are_filtered(name: str, desktop: Any) -> None:
    for key in ("A", "B"):
        desktop.ctl("write", name, key, "-int", "1")
    assert [action.changes[0].key for action in defaults.history(name)] == ["B", "A"]
    assert [action.changes[0].key for action in defaults.history(name, "A")] == ["A"]
    assert len(list(defaults.history(name, program="defaultsctl"))) == 2
    assert list(defaults.history(name, program="other")) == []
    future = datetime.datetime.now() + datetime.timedelta(days=1)
    assert list(defaults.history(name, since=future)) == []
    assert len(list(defaults.history(name, since=future - datetime.timedelta(days=2)))) == 2


def test_an_action_is_taken_back_and_done_again(name: str, desktop: Any) -> None:
    domain = Domain(name)
    desktop.ctl("write", name, "Volume", "-int", "1")
    desktop.ctl("write", name, "Volume", "-int", "2")
    planned, = defaults.undo(newest(name), dry_run=True)
    assert (planned.standing, planned.before.value, planned.after.value) == ("holds", 2, 1)
    assert domain["Volume"] == 2
    done, = defaults.undo(newest(name), durable=True)
    assert done.after.value == 1 and domain["Volume"] == 1
    assert newest(name).kind == "undo"
    defaults.redo(newest(name))
    assert domain["Volume"] == 2


def test_what_something_else_has_changed_stays(name: str, desktop: Any) -> None:
    desktop.ctl("write", name, "Volume", "-int", "1")
    first = newest(name)
    desktop.ctl("write", name, "Volume", "-int", "2")
    with pytest.raises(defaults.ConflictError):
        defaults.undo(first)
    assert defaults.undo(first, partial=True)[0].standing == "changed"
    assert Domain(name)["Volume"] == 2
    defaults.undo(first, force=True)
    assert "Volume" not in Domain(name)


def test_what_is_wrong_is_an_error(name: str) -> None:
    with pytest.raises(defaults.InvalidArgumentError):
        next(defaults.history("not a domain"))
    with pytest.raises(defaults.InvalidArgumentError):
        next(defaults.history(name, "a\0b"))
    assert list(defaults.history(name)) == []
