"""Reads of an integer, by the package `defaults` or by GSettings of python3-gi; prints microseconds.

    reads.py defaults|gi COUNT
"""

import sys
import time

ROUND = 1000


def reader(kind):
    """A function that reads, after the value was set and read once."""
    if kind == "defaults":
        from defaults import Domain
        domain = Domain("org.example.bench")
        domain["number"] = 5
        domain.flush()
        return lambda: domain.get("number", 0)
    from gi.repository import Gio
    settings = Gio.Settings.new("org.defaultsd.test.plain")
    settings.set_int("number", 5)
    Gio.Settings.sync()
    return lambda: settings.get_int("number")


kind, count = sys.argv[1], int(sys.argv[2])
read = reader(kind)
assert read() == 5
for _ in range(count // ROUND):
    began = time.perf_counter()
    for _ in range(ROUND):
        read()
    print(f"python-{kind} {(time.perf_counter() - began) * 1e6 / ROUND:.5f}")
