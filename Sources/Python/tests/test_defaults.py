"""The package with the daemon."""

import asyncio
import dataclasses
import datetime
import enum
import json
import math
import os
import select
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import defaults
from defaults import Domain, Layer, State


@dataclasses.dataclass
class Book:
    title: str
    pages: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Library:
    defaults_class = "ORGLibrary"
    books: list[Book]
    owner: str | None = None
    rating: float = 1.0


class Color(str, enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1


@dataclasses.dataclass
class Drawing:
    at: tuple[int, int]
    color: Color
    size: Size
    books: Sequence[Book]
    by_name: Mapping[str, Book]
    count: int
    number: int | float
    other: Color | None = None
    everything: tuple[Any, ...] = ()


@dataclasses.dataclass
class Strict:
    size: int

    def __post_init__(self) -> None:
        if self.size > 1:
            raise TypeError("too large")


VALUES = [
    True, False, 0, -(1 << 63), (1 << 64) - 1, 0.1, 1.0, -0.0, math.inf, "", "text", "h\u00e9llo \U0001f3b2",
    "a\0b", b"", b"\0\xff", None, [], [1, "a", [True, 2.5]], {}, {"a": {"b": [b"\1"]}},
    datetime.datetime(2024, 2, 29, 12, 0, 1, 250000, datetime.timezone.utc),
    {"$class": "Account", "username": "ada", "age": 36},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_and_is_stored(name: str, value: Any, desktop: Any) -> None:
    domain = Domain(name)
    domain["key"] = value
    for _ in range(2):
        assert domain["key"] == value and type(domain["key"]) is type(value)
        domain.synchronize()
    assert json.loads(desktop.ctl("read", name, "key", "--json")) is not ...


def test_a_date_of_whole_seconds_is_a_date(name: str) -> None:
    domain = Domain(name)
    domain["key"] = {"$class": "NSDate", "NS.time": 3}
    assert domain["key"] == datetime.datetime(2001, 1, 1, 0, 0, 3, tzinfo=datetime.timezone.utc)
    domain["key"] = {"$class": "NSDate", "NS.time": True}
    assert domain["key"] == {"$class": "NSDate", "NS.time": True}


def test_words_in_another_encoding_are_words(name: str) -> None:
    domain = Domain(name, arguments=["game", "Gr\udcfcn.txt", "-Volume", "7"])
    assert domain.get("Volume", 0) == 7


def test_removing_is_of_the_users_own_values(name: str) -> None:
    everywhere, domain = Domain("NSGlobalDomain"), Domain(name)
    everywhere["Weaker"] = "all"
    domain.update({"Weaker": "own", "a": 1, "b": 2})
    assert domain.pop("Weaker") == "own" and domain["Weaker"] == "all"
    assert domain.pop("Weaker", None) is None
    with pytest.raises(KeyError):
        domain.pop("Weaker")
    assert domain.popitem() == ("b", 2)
    domain.clear()
    assert domain.keys_in(Layer.DOMAIN) == [] and dict(domain) == {"Weaker": "all"}
    with pytest.raises(KeyError):
        domain.popitem()
    everywhere.clear()
    assert dict(domain) == {}


def test_text_with_nul_is_text(name: str) -> None:
    domain = Domain(name)
    domain["key"] = "a\0b"
    assert domain.get("key", "other") == "a\0b"
    with domain.change() as change:
        assert change.get("key", "other") == "a\0b" and change.get("none", "other") == "other"
        change["copy"] = change.get("key", "other")
    assert domain["copy"] == "a\0b"
    domain["key"] = 1
    assert domain.get("key", "other") == "other"


def test_a_dataclass_comes_back_as_it_was_declared(name: str) -> None:
    domain = Domain(name)
    drawing = Drawing((1, 2), Color.RED, Size.SMALL, [Book("A")], {"b": Book("B")}, 3, 4.0, Color.BLUE, (1, "a"))
    domain["key"] = drawing
    assert domain.get_as("key", Drawing) == drawing
    found = domain.get_as("key", Drawing)
    assert type(found.color) is Color and type(found.size) is Size and type(found.number) is float
    domain["key"] = dataclasses.replace(drawing, count=3.0)  # type: ignore[arg-type]
    assert type(domain.get_as("key", Drawing).count) is int
    for wrong in ({"at": [1, 2, 3]}, {"color": "green"}, {"count": 2.5}):
        domain["key"] = dataclasses.asdict(drawing) | wrong
        with pytest.raises(TypeError):
            domain.get_as("key", Drawing)


def test_an_error_of_a_dataclass_is_its_own(name: str) -> None:
    domain = Domain(name)
    domain["key"] = {"size": 2}
    with pytest.raises(TypeError, match="^too large$"):
        domain.get_as("key", Strict)
    domain["key"] = {}
    with pytest.raises(TypeError, match="lacks fields of Strict: size"):
        domain.get_as("key", Strict)


def test_nan_comes_back(name: str) -> None:
    domain = Domain(name)
    domain["key"] = [math.nan]
    assert math.isnan(domain["key"][0])


def test_a_domain_is_a_mapping(name: str) -> None:
    domain = Domain(name)
    assert len(domain) == 0 and "a" not in domain and list(domain) == []
    domain["b"], domain["a"] = 1, "x"
    assert list(domain) == ["a", "b"] and dict(domain) == {"a": "x", "b": 1} and len(domain) == 2
    del domain["a"]
    assert "a" not in domain and domain.get("a") is None and domain.get("a", [1]) == [1]
    with pytest.raises(KeyError):
        domain["a"]
    with pytest.raises(KeyError):
        del domain["a"]
    assert domain.setdefault("c", 3) == 3 and domain.pop("c") == 3
    domain.update({"d": 4})
    assert domain.keys() == {"b", "d"}
    domain.clear()
    assert len(domain) == 0


def test_get_gives_the_type_of_the_default(name: str) -> None:
    domain = Domain(name)
    assert domain.get("Flag", True) is True and domain.get("Volume", 0.5) == 0.5
    assert domain.get("Name", "ada") == "ada" and domain.get("Data", b"x") == b"x"
    domain.update({"Flag": False, "Volume": 2, "Name": 5, "Count": 3.0, "Data": b"\0"})
    assert domain.get("Flag", True) is False
    assert domain.get("Volume", 0.5) == 2.0 and type(domain.get("Volume", 0.5)) is float
    assert domain.get("Name", "ada") == "ada" and domain.get("Count", 0) == 3
    assert domain.get("Data", b"x") == b"\0" and domain.get("Flag", 7) == 7
    assert domain.get("Name", 1 << 70) == 5


def test_a_dataclass_is_an_object(name: str, desktop: Any) -> None:
    domain = Domain(name)
    library = Library([Book("Momo", 304, ["children"]), Book("Dune")], "ada", 2.0)
    domain["Library"] = library
    assert domain.get_as("Library", Library) == library
    domain.flush()
    assert desktop.ctl("read", name, "Library", "--path", "owner") == "ada"
    stored = json.loads(desktop.ctl("read", name, "Library", "--json"))
    assert stored["$class"] == "ORGLibrary" and stored["books"][0]["$class"] == "Book"
    # An earlier version had fewer fields, and another program has written a dictionary.
    domain["Old"] = {"$class": "Book", "title": "Momo"}
    assert domain.get_as("Old", Book) == Book("Momo")
    domain["Plain"] = {"title": "Momo", "pages": 1, "more": True}
    assert domain.get_as("Plain", Book) == Book("Momo", 1)
    domain["Words"] = ["a", "b"]
    assert domain.get_as("Words", list[str]) == ["a", "b"]
    with pytest.raises(TypeError, match="lacks fields of Book: title"):
        domain["Bad"] = {"$class": "Book", "pages": 1}
        domain.get_as("Bad", Book)
    for key, kind in (("Old", Library), ("Words", Book), ("Words", list[int]), ("Words", int)):
        with pytest.raises(TypeError):
            domain.get_as(key, kind)


def test_what_cannot_be_stored_is_an_error(name: str) -> None:
    domain = Domain(name)
    for value in (object(), {1: 2}, {"a": {1, 2}}, 1j):
        with pytest.raises(TypeError):
            domain["key"] = value
    for key in ("", "x" * 1025, "a\0b", "\ud800"):
        with pytest.raises(ValueError):
            domain[key] = 1
    with pytest.raises(ValueError):
        domain["key"] = "\ud800"
    with pytest.raises(defaults.InvalidArgumentError, match="not the name of a domain"):
        Domain("a b")
    with pytest.raises(defaults.InvalidArgumentError):
        domain.set_archive("key", b"bplist00")
    with pytest.raises(defaults.LimitError):
        domain["key"] = b"x" * (17 << 20)
    assert "key" not in domain


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def in_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("call, kind, base, words", [
    (lambda domain: domain["none"], defaults.NoValueError, KeyError, "no value for the key 'none'"),
    (lambda domain: domain.get_as("none", int), defaults.NoValueError, KeyError, "no value"),
    (lambda domain: domain.value_in(Layer.HOST, "none"), defaults.NoValueError, KeyError, "no value"),
    (lambda domain: domain.archive("none"), defaults.NoValueError, KeyError, "no value"),
    (lambda domain: domain.pop("none"), defaults.NoValueError, KeyError, "no value"),
    (lambda domain: domain.popitem(), defaults.NoValueError, KeyError, "no values of their own"),
    (lambda domain: domain.__delitem__("none"), defaults.NoValueError, KeyError, "no value"),
    (lambda domain: domain.change()["none"], defaults.NoValueError, KeyError, "no value"),
    (lambda domain: domain.__setitem__("a", object()), defaults.WrongTypeError, TypeError, "type object cannot"),
    (lambda domain: domain.__setitem__("a", {1: 2}), defaults.WrongTypeError, TypeError, "a key of the type int"),
    (lambda domain: domain.__setitem__("a", [Book]), defaults.WrongTypeError, TypeError, "type type cannot"),
    (lambda domain: domain[5], defaults.WrongTypeError, TypeError, "and not a value of the type int"),
    (lambda domain: domain.__setitem__("a", "\ud800"), defaults.InvalidArgumentError, ValueError, "surrogate"),
    (lambda domain: domain.__setitem__("a", ["\ud800"]), defaults.InvalidArgumentError, ValueError, "surrogate"),
    (lambda domain: domain.__setitem__("\ud800", 1), defaults.InvalidArgumentError, ValueError, "surrogate"),
    (lambda domain: domain.get("\udfff", 1), defaults.InvalidArgumentError, ValueError, "surrogate"),
    (lambda domain: domain["a\0b"], defaults.InvalidArgumentError, ValueError, "NUL"),
    (lambda _: Domain("\ud800"), defaults.InvalidArgumentError, ValueError, "surrogate"),
    (lambda domain: domain.__setitem__("a", datetime.datetime.min.replace(
        tzinfo=datetime.timezone(datetime.timedelta(hours=1)))),
     defaults.InvalidArgumentError, ValueError, "outside the years"),
    (lambda domain: domain.__setitem__("a", 10 ** 5000), defaults.InvalidArgumentError, ValueError, ""),
    (lambda domain: domain.__setitem__("a", 2 ** 130), defaults.InvalidArgumentError, ValueError,
     "The value cannot be stored: An integer does not fit in 128 bits"),
    (lambda domain: domain.flush(math.nan), defaults.InvalidArgumentError, ValueError, "not a number"),
    (lambda domain: domain.__setitem__("a", nested(100_000)), defaults.LimitError, Exception, "too deep"),
    (lambda domain: domain.__setitem__("a", in_itself()), defaults.LimitError, Exception, "too deep"),
    (lambda domain: (domain.close(), domain["a"]), defaults.InvalidArgumentError, ValueError, "closed"),
])
def test_every_error_is_a_defaults_error_and_one_of_python(
    name: str, call: Any, kind: type[Exception], base: type[Exception], words: str
) -> None:
    assert issubclass(kind, defaults.DefaultsError) and issubclass(kind, base)
    with pytest.raises(kind) as caught:
        call(Domain(name))
    assert type(caught.value) is kind and words in str(caught.value)
    assert str(caught.value)[-1] in ".)" and caught.value.code


@pytest.mark.parametrize("value, kind, words", [
    ("a", int, "of the type str, and not int."), (5, str, "of the type int, and not str."),
    (5, list[str], "of the type int, and not list[str]."), (True, int | None, "of the type bool, and not int or None."),
    ([1], Book, "of the type list, and not Book."), (1.5, int, "of the type float, and not int."),
    ([1, 2], tuple[int, int, int], "another number of elements: 2 instead of 3."),
    ({"$class": "Other"}, Book, "of the class Other, and not Book."),
])
def test_a_type_in_an_error_is_spelled_as_in_a_program(name: str, value: Any, kind: Any, words: str) -> None:
    domain = Domain(name)
    domain["key"] = value
    with pytest.raises(defaults.WrongTypeError) as caught:
        domain.get_as("key", kind)
    assert str(caught.value).endswith(words) and "<class" not in str(caught.value)


def test_a_value_that_is_nested_too_deep_for_python_is_an_error(name: str, desktop: Any) -> None:
    depth = 5000
    desktop.ctl("write", name, "key", "--json", "[" * depth + "]" * depth)
    with pytest.raises(defaults.LimitError, match="too deep"):
        Domain(name)["key"]


def test_archives_come_back(name: str) -> None:
    domain = Domain(name)
    domain["a"] = {"$class": "Account", "username": "ada"}
    domain.set_archive("b", domain.archive("a"))
    assert domain["b"] == domain["a"] and domain.archive("a").startswith(b"bplist00")
    with pytest.raises(KeyError):
        domain.archive("c")


def test_the_administrator_locks_a_key(name: str, desktop: Any) -> None:
    domain = Domain(name)
    (desktop.managed / f"{name}.json").write_text('{"Volume": 11, "$locked": ["Lock*"]}')
    with domain.changes("Volume") as changes:
        while not domain.is_locked("Locked"):
            select.select([changes], [], [], 0.1)
            changes.take()
    assert domain["Volume"] == 11 and domain.layer("Volume") is Layer.MANAGED
    with pytest.raises(defaults.LockedError, match="Locked"):
        domain["Locked"] = 1
    with pytest.raises(defaults.LockedError):
        with domain.change() as change:
            change["Free"], change["Locked"] = 1, 1
    assert "Free" not in domain
    with pytest.raises(defaults.LockedError):
        domain.change(Layer.MANAGED)


def test_layers_and_the_command_line(name: str) -> None:
    domain = Domain(name, arguments=["program", "-Volume", "0.5", "-Sound", "NO"])
    assert domain.get("Volume", 0.0) == 0.5 and domain.get("Sound", True) is False
    assert domain.layer("Volume") is Layer.ARGUMENTS and domain.layer("None") is None
    domain["Theme"] = "own"
    with domain.change(Layer.HOST) as change:
        change["Theme"] = "host"
    assert domain["Theme"] == "host" and domain.layer("Theme") is Layer.HOST
    assert domain.value_in(Layer.DOMAIN, "Theme") == "own"
    assert domain.keys_in(Layer.HOST) == ["Theme"]
    assert domain.state is State.CURRENT


def test_a_change_is_made_as_a_whole(name: str) -> None:
    domain = Domain(name)
    with domain.change() as change:
        change["a"], change["b"] = 1, {"x": b"y"}
        assert change["a"] == 1 and change.get("b") == {"x": b"y"} and "a" not in domain
        change["data"] = b"z"
        del change["c"]
    assert domain["a"] == 1 and domain["b"] == {"x": b"y"} and (change.generation or 0) > 0
    with pytest.raises(ZeroDivisionError):
        with domain.change() as change:
            change["a"] = 2
            change["a"] = 1 // 0
    assert domain["a"] == 1
    with pytest.raises(ValueError, match="has ended"):
        change["a"] = 3
    with domain.change(timeout=0) as change:
        change["a"] = 4
    assert domain["a"] == 4 and change.generation is None


def test_a_block_may_end_its_change(name: str) -> None:
    domain = Domain(name)
    with domain.change() as change:
        change["a"] = 1
        change.cancel()
    assert "a" not in domain
    with domain.change() as change:
        change["a"] = 2
        change.commit()
    assert domain["a"] == 2
    with pytest.raises(ZeroDivisionError):
        with domain.change() as change:
            change.cancel()
            change.cancel if 1 // 0 else None


def test_a_timeout_may_be_any_number(name: str) -> None:
    domain = Domain(name)
    with domain.change(timeout=math.inf) as change:
        change["a"] = 1
    domain.flush(math.inf)
    domain.synchronize(1e300)
    # It is not 0, which would not wait.
    assert defaults._library.milliseconds(0.0005) == 1
    assert defaults._library.milliseconds(-1) == 0 and defaults._library.milliseconds(1) == 1000
    with pytest.raises(ValueError, match="not a number"):
        domain.change(timeout=math.nan)


def test_a_change_from_an_old_value_conflicts(name: str, desktop: Any) -> None:
    domain = Domain(name)
    domain["Score"] = 1
    with pytest.raises(defaults.ConflictError, match="Score"):
        with domain.change() as change:
            score = change.get("Score", 0)
            desktop.ctl("write", name, "Score", "-int", "5")
            change["Score"] = score + 1
    assert domain["Score"] == 5
    with pytest.raises(defaults.ConflictError):
        with domain.change() as change:
            change.expect("Score", 0)
            change["Score"] = 1
    with pytest.raises(defaults.WrongTypeError):
        with domain.change() as change:
            change["Score"] = change.get("Score", "text")


def test_changes_come_to_asyncio(name: str, desktop: Any) -> None:
    async def follow() -> list[defaults.Change]:
        domain = Domain(name)
        domain.load()
        seen = []
        with domain.changes() as changes:
            domain["Mine"] = 1
            async for change in changes:
                seen.append(change)
                if len(seen) == 1:
                    await asyncio.to_thread(desktop.ctl, "write", name, "Theirs", "-int", "1")
                else:
                    break
        return seen

    assert asyncio.run(follow()) == [defaults.Change("Mine", True), defaults.Change("Theirs", False)]


def test_an_iteration_ends_by_cancelling_and_by_closing(name: str) -> None:
    async def run() -> None:
        domain = Domain(name)
        changes = domain.changes("key")

        async def consume() -> int:
            return len([change async for change in changes])

        task = asyncio.create_task(consume())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        task = asyncio.create_task(consume())
        await asyncio.sleep(0)
        changes.close()
        assert await task == 0

    asyncio.run(run())


def test_a_closed_iteration_leaves_the_next_one_alone(name: str) -> None:
    async def run() -> None:
        domain = Domain(name)
        domain.load()
        old = domain.changes()

        async def consume() -> int:
            return len([change async for change in old])

        ended = asyncio.create_task(consume())
        await asyncio.sleep(0)
        descriptor = old.fileno()
        old.close()
        new = domain.changes()
        assert new.fileno() == descriptor
        # The change comes after the end of the old task.
        loop = asyncio.get_running_loop()
        loop.call_soon(domain.__setitem__, "key", 1)
        # A hang is a failure: closing ends the iteration.
        loop.call_later(60, new.close)
        assert await new.__anext__() == defaults.Change("key", True)
        new.close()
        assert await ended == 0

    asyncio.run(run())


def test_an_iteration_ends_after_its_loop(name: str) -> None:
    loop = asyncio.new_event_loop()
    changes = Domain(name).changes()
    task = loop.create_task(changes.__anext__())  # type: ignore[arg-type]
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    changes.close()
    with pytest.raises(ValueError, match="closed"):
        changes.fileno()
    # The loop cannot end it any more.
    task._log_destroy_pending = False  # type: ignore[attr-defined]


def test_an_iteration_lets_other_tasks_run(name: str) -> None:
    async def run() -> None:
        domain, turns = Domain(name), 0
        domain.load()

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        with domain.changes() as changes:
            task = asyncio.create_task(count())
            for number in range(500):
                domain[f"key{number}"] = number
            for _ in range(500):
                await changes.__anext__()
        task.cancel()
        assert turns >= 5

    asyncio.run(run())


def test_changes_of_one_key_for_any_loop(name: str) -> None:
    domain = Domain(name)
    domain.load()
    with domain.changes("a") as changes:
        domain["b"] = 1
        assert changes.take() == []
        domain["a"] = 1
        domain["a"] = 2
        assert select.select([changes], [], [], 60)[0]
        assert changes.take() == [defaults.Change("a", True)]


def test_threads_share_a_domain(name: str) -> None:
    domain, wrong = Domain(name), []

    def work(number: int) -> None:
        for turn in range(300):
            domain[f"key{number}"] = turn
            if domain.get(f"key{number}", -1) != turn or domain[f"key{number}"] != turn:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_daemon_may_be_killed(name: str, desktop: Any) -> None:
    domain = Domain(name)
    for turn in range(3):
        domain["key"] = turn
        domain.flush()
        desktop.kill_daemon()
        domain["other"] = turn
        assert domain["other"] == turn
        domain.synchronize()
        assert desktop.ctl("read", name, "other") == str(turn)


def test_a_forked_process_gets_errors(name: str) -> None:
    domain = Domain(name)
    domain["key"] = 1
    child = os.fork()
    if child == 0:
        status = 1
        try:
            domain["key"] = 2
        except defaults.ForkedError:
            status = 0 if domain.get("key", 7) == 7 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert domain["key"] == 1


def test_a_closed_domain_is_an_error(name: str) -> None:
    domain = Domain(name)
    domain["key"] = 1
    domain.close()
    with pytest.raises(ValueError, match="closed"):
        domain["key"]
    assert Domain(name)["key"] == 1


def test_a_domain_may_be_closed_while_threads_read(name: str) -> None:
    Domain(name)["key"] = "text" * 1000
    wrong = []

    def read(domain: Domain) -> None:
        try:
            while True:
                if domain.get("key", "") != "text" * 1000 or domain.keys_in() != ["key"]:
                    wrong.append(domain)
        except ValueError:
            pass

    for _ in range(50):
        domain = Domain(name)
        threads = [threading.Thread(target=read, args=(domain,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        domain.close()
        for thread in threads:
            thread.join()
    assert wrong == []
