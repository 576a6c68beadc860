"""What it costs to be in a sandbox: one call after another, and the daemon's memory for many callers."""

import subprocess
import sys

from rounds import Rounds, print_table

SANDBOX = "bwrap", "--dev-bind", "/", "/"
"""Its programs have mounts of their own, so they count as sandboxed. They have what is granted to all."""
KINDS = "Ping", "Get", "Set"
AIM = "1.02"
CALLERS = 1000
CONNECT = """
import sys
from gi.repository import Gio, GLib
address, count = sys.argv[1], int(sys.argv[2])
connections = [
    Gio.DBusConnection.new_for_address_sync(address,
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
        | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
    for _ in range(count)]
for connection in connections:
    connection.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
        "org.defaultsd.Defaults1", "ListKeys", GLib.Variant("(s)", ("org.example.Bench",)), None, 0, -1)
print("connected", flush=True)
sys.stdin.readline()
"""


def measure(bench):
    measure_calls(bench)
    measure_memory(bench)


def granting_desktop(bench):
    desktop = bench.new_desktop()
    place = desktop.home / "vendor"
    place.mkdir()
    (place / "org.defaultsd.Grants.json").write_text('{"*": {"write": ["org.example.Bench"]}}')
    return desktop


def measure_calls(bench):
    desktop = granting_desktop(bench)
    rounds = Rounds()
    for _ in bench.rounds(9):
        rounds.begin()
        for place, wrapper in (("outside", ()), ("inside", SANDBOX)):
            rounds.add(desktop.run("roundtrip", bench.few(1500), bench.tools.ada, bench.tools.bob,
                                   *KINDS, wrapper=wrapper), of=place)
    print_table(
        "walls: calls of a program in a sandbox, beside those of one outside",
        ("call", "of outside", "half of rounds", "aim", "outside, us"),
        [(kind, *rounds.told((kind, "inside"), (kind, "outside")), AIM,
          f"{rounds.median((kind, 'outside')):.0f}") for kind in KINDS])
    bench.end_desktop(desktop)


def measure_memory(bench):
    count = bench.few(CALLERS)
    rows = []
    for place, wrapper in (("outside", ()), ("inside", SANDBOX)):
        desktop = granting_desktop(bench)
        desktop.call("ListDomains")
        before, _ = desktop.memory()
        callers = subprocess.Popen(
            [*wrapper, sys.executable, "-c", CONNECT, desktop.daemon.address, str(count)],
            env=desktop.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if callers.stdout.readline() != "connected\n":
            raise RuntimeError(f"{count} callers could not connect")
        after, _ = desktop.memory()
        callers.communicate("\n")
        bench.end_desktop(desktop)
        rows.append((place, count, f"{(after - before) * 1024 / count:.2f}"))
    print_table("walls: the daemon's anonymous memory for connected callers",
                ("callers", "how many", "KB each"), rows)
