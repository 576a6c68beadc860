"""How long a change takes from one machine of a user to another, and what the idle roaming service costs."""

import contextlib
import pathlib
import statistics
import subprocess
import tempfile
import time

from gi.repository import Gio, GLib

from desktop import BUS, BUS_OBJECT, NAME, ROAM
from idle import count_system_calls
from postgresserver import postgres_server, programs
from rounds import print_table

DOMAIN, KEY = "org.example.Bench", "Key"
ROUNDS = 40
PAUSE = 1.3
"""Seconds between two changes, so that each is by itself."""
AIM = {"a directory": "", "PostgreSQL": "60"}


def measure(bench):
    rows = []
    with tempfile.TemporaryDirectory(prefix="defaultsd-bench-", dir="/var/tmp") as folder:
        shared = pathlib.Path(folder) / "shared"
        shared.mkdir()
        rows.append(measure_place(bench, "a directory", "--directory", shared))
        if programs():
            with server(bench, pathlib.Path(folder)) as address:
                rows.append(measure_place(bench, "PostgreSQL", "--server", address))
        else:
            print("PostgreSQL is not installed: it is left out")
    print_table(
        "roaming: from the reply to a change on one machine to the signal on another",
        ("by", "of a durable change", "half of rounds", "p50, ms", "p90, ms", "aim"),
        [row[:-1] for row in rows])
    for place, *_, (memory, calls) in rows:
        print(f"the idle service with {place}: {memory:.1f} MB anonymous (aim 4), "
              f"{calls} system calls in 10 s (aim 0)")


def measure_place(bench, place, *words):
    laptop, tower = machines = [bench.new_desktop() for _ in range(2)]
    for machine in machines:
        machine.offer(ROAM, f"{bench.tools.directory}/defaultsd-roam")
        machine.call("ReloadConfig", name=BUS, path=BUS_OBJECT)
        tool(bench, machine, "enable", *words)
    tool(bench, laptop, "add", DOMAIN)
    heard = []
    tower.bus.signal_subscribe(
        NAME, NAME, None, None, None, Gio.DBusSignalFlags.NONE,
        lambda *signal: signal[5].unpack()[0] == DOMAIN and heard.append(time.monotonic()))
    change(laptop, "first")
    tool(bench, laptop, "now")
    wait_for(heard)
    times, ratios = [], []
    for number in range(bench.few(ROUNDS)):
        time.sleep(PAUSE)
        began = time.monotonic()
        change(laptop, f"durable {number}")
        laptop.call("Synchronize")
        floor = time.monotonic() - began
        wait_for(heard)
        time.sleep(PAUSE)
        change(laptop, f"value {number}")
        replied = time.monotonic()
        times.append((wait_for(heard) - replied) * 1000)
        ratios.append(times[-1] / 1000 / floor)
    time.sleep(PAUSE)
    cost = tower.memory(ROAM)[0], count_system_calls(tower.pid(ROAM), 10)
    for machine in machines:
        bench.end_desktop(machine)
    low, middle, high = statistics.quantiles(ratios, n=4)
    return (place, f"{middle:.1f}", f"{low:.1f}-{high:.1f}", f"{statistics.median(times):.0f}",
            f"{statistics.quantiles(times, n=10)[-1]:.0f}", AIM[place], cost)


def tool(bench, machine, *words):
    subprocess.run([bench.tools.directory / "defaultsctl", "roam", *words], check=True,
                   stdout=subprocess.DEVNULL, env=machine.environment)


def change(machine, text):
    machine.call("SetValue", "(ssv)", DOMAIN, KEY, GLib.Variant("s", text))


def wait_for(heard):
    """Waits for a signal: when it came."""
    while not heard:
        GLib.MainContext.default().iteration(True)
    moment = heard[-1]
    heard.clear()
    return moment


@contextlib.contextmanager
def server(bench, folder):
    """A PostgreSQL server with a user of defaultsd: its address."""
    place = folder / "server"
    place.mkdir()
    # The server has another user, and its directory is below.
    folder.chmod(0o711)
    with postgres_server(place):
        for words in (["init"], ["add-user", "ada"]):
            subprocess.run([bench.tools.directory / "defaultsd-roam", "server", *words, "--database",
                            f"host={place} user=postgres"], check=True, stdout=subprocess.DEVNULL)
        yield f"host={place} user=ada"
