"""A session bus with the daemon for the tests, which share a process: each uses a domain of its own."""

import collections.abc
import itertools
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("DEFAULTS_PROGRAMS", ROOT / ".build/release"))
os.environ.setdefault("DEFAULTS_LIBRARY", str(ROOT / ".build/library/libdefaults.so.1"))
sys.path[:0] = [str(ROOT / "Tests/GSettings"), str(ROOT / "Tests/Harness")]

from session import Session  # noqa: E402

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session", autouse=True)
def desktop() -> collections.abc.Iterator[Session]:
    """The library finds the bus by the variables of this process."""
    with Session(PROGRAMS, ROOT / "none") as session:
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
            os.environ[name] = session.environment[name]
        yield session


@pytest.fixture
def name() -> str:
    return f"org.defaultsd.test.python{next(NUMBERS)}"
