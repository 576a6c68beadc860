"""How long others wait for a small change while one long call is carried out."""

import subprocess

from gi.repository import Gio, GLib

from privatebus import NAME, OBJECT
from rounds import print_table, told_time

HUGE, LARGE = "org.example.Huge", "org.example.Large"
AT_ONCE, PATIENCE = 4096, 120_000
AIM = 50_000
"""The longest wait that is aimed at, in microseconds."""


def measure(bench):
    keys = 100_000 if bench.quick else 1_000_000
    desktop = bench.new_desktop()
    fill(desktop, keys)
    domains = keys // 50
    for number in range(domains):
        send(desktop, "SetValue", GLib.Variant("(ssv)", (
            f"org.example.Domain{number}", "key", GLib.Variant("i", number))))
    dictionary = {f"key {number:06} {'x' * 60}": GLib.Variant("i", number)
                  for number in range(100_000)}
    calls = [("nothing", None)]
    calls += [(f"{method} of {keys} keys", (method, GLib.Variant("(s)", (HUGE,))))
              for method in ("ListKeys", "GetAll", "GetAllValues")]
    calls += [
        (f"GetChanges of {keys} keys", ("GetChanges", GLib.Variant("(st)", (HUGE, 0)))),
        (f"ListDomains of {domains} domains", ("ListDomains", None)),
        (f"Attach of {keys} keys", ("Attach", GLib.Variant("(as)", ([HUGE],)))),
        ("SetValue of 100000 entries", ("SetValue", value(dictionary))),
        ("the same in another order", ("SetValue", value(dict(reversed(dictionary.items()))))),
        ("GetValue of 100000 entries", ("GetValue", GLib.Variant("(ss)", (LARGE, "key")))),
        (f"Apply of {AT_ONCE} keys", ("ApplyValues", part(0, -1))),
    ]
    rows = [(words, *waits(bench, desktop, call)) for words, call in calls]
    print_table(
        f"holds: how long a small Set of another caller takes meanwhile (aim: {told_time(AIM)})",
        ("during", "takes", "Sets", "median", "99 %", "longest", "outcome"), rows)
    bench.end_desktop(desktop)


def fill(desktop, keys):
    for first in range(0, keys, AT_ONCE):
        send(desktop, "ApplyValues", part(first, first, min(AT_ONCE, keys - first)))
    desktop.call("Synchronize")


def part(first, number, count=AT_ONCE):
    """The arguments that set this many keys of the huge domain, beginning with a first one."""
    entries = {f"key {key:07}": GLib.Variant("i", number) for key in range(first, first + count)}
    return GLib.Variant("(sa{sv}asa{st}a{sv})", (HUGE, entries, [], {}, {}))


def value(dictionary):
    return GLib.Variant("(ssv)", (LARGE, "key", GLib.Variant("a{sv}", dictionary)))


def send(desktop, method, arguments):
    desktop.bus.call_with_unix_fd_list_sync(
        NAME, OBJECT, NAME, method, arguments, None, Gio.DBusCallFlags.NONE, PATIENCE, None, None)


def waits(bench, desktop, call):
    """One row of the table, the first column left out."""
    with (desktop.home / "waits").open("w+") as output:
        command = [bench.tools.program("victim"), bench.tools.ada, bench.tools.bob]
        victim = subprocess.Popen(
            command, env=desktop.environment, stdin=subprocess.PIPE, stdout=output)
        # The first one has been answered when there is a line.
        while not (desktop.home / "waits").stat().st_size and victim.poll() is None:
            GLib.usleep(1000)
        began, outcome = GLib.get_monotonic_time(), ""
        try:
            if call is None:
                GLib.usleep(500_000)
            else:
                send(desktop, *call)
        except GLib.Error as error:
            outcome = Gio.DBusError.get_remote_error(error).rpartition(".")[2]
        took = GLib.get_monotonic_time() - began
        victim.communicate()
        output.seek(0)
        times = sorted(float(line.split()[1]) for line in output)
    return (told_time(took), f"{len(times)}", *map(told_time, (
        times[len(times) // 2], times[len(times) * 99 // 100], times[-1])), outcome)
