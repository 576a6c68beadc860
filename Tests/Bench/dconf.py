"""What a change of a setting costs programs of dconf, with defaultsd and with dconf's own service: both write a
file with all settings."""

import pathlib
import time

from gi.repository import Gio, GLib

from commands import run
from rounds import Rounds, print_table, told_time

NAME, WRITER = "ca.desrt.dconf", "/ca/desrt/dconf/Writer/user"
SERVICE = pathlib.Path("/usr/share/dbus-1/services/ca.desrt.dconf.service")
PEER, OURS = "dconf-service", "defaultsd"
SIZES = 100, 1_000, 10_000
CALLS = 10


def measure(bench):
    if not SERVICE.exists():
        print("\ndconf: not measured, as dconf-service is missing")
        return
    rows, memory = [], []
    for size in SIZES:
        desktops = {kind: new_desktop(bench, kind, size) for kind in (PEER, OURS)}
        rounds = measured(bench, desktops)
        rows += [(f"{size} settings: {words}", told_time(rounds.median((kind, OURS))),
                  told_time(rounds.median((kind, PEER))), *rounds.told((kind, OURS), (kind, PEER)))
                 for kind, words in (("call", "a call of Change"), ("write", "dconf write"))]
        memory.append((f"{size} settings", *(
            f"{desktop.memory(NAME)[0]:.1f} MB" for desktop in (desktops[OURS], desktops[PEER]))))
        for desktop in desktops.values():
            bench.end_desktop(desktop)
    print_table("dconf: a change of one setting among others", ("what", OURS, PEER, f"of {PEER}", "half of rounds"),
                rows)
    print_table("dconf: anonymous memory of the service after that", ("file", OURS, PEER), memory)


def new_desktop(bench, kind, size):
    desktop = bench.new_desktop()
    if kind == OURS:
        command = f"{bench.tools.directory}/defaultsd --serve dconf " + " ".join(
            f"--{place} {desktop.home}/{place}" for place in ("managed", "recommended", "vendor"))
        for name in (NAME, "org.defaultsd.Defaults1"):
            desktop.offer(name, command)
        desktop.call("ReloadConfig", name="org.freedesktop.DBus", path="/org/freedesktop/DBus")
    # As many settings as a domain of a desktop has.
    change(desktop, [(f"/org/example/d{number // 20}/key-{number}", number) for number in range(size)])
    return desktop


def change(desktop, entries):
    entry, variant = GLib.VariantType.new("{smv}"), GLib.VariantType.new("v")
    blob = GLib.Variant.new_array(entry, [
        GLib.Variant.new_dict_entry(GLib.Variant("s", path), GLib.Variant.new_maybe(
            variant, GLib.Variant("v", GLib.Variant("i", value)))) for path, value in entries])
    arguments = GLib.Variant("(ay)", (blob.get_data_as_bytes().get_data(),))
    began = time.monotonic()
    desktop.bus.call_sync(NAME, WRITER, "ca.desrt.dconf.Writer", "Change", arguments, None,
                          Gio.DBusCallFlags.NONE, -1, None)
    return (time.monotonic() - began) * 1e6


def measured(bench, desktops):
    rounds, value = Rounds(), 0
    for _ in bench.rounds(30):
        rounds.begin()
        for kind, desktop in desktops.items():
            for _ in range(CALLS):
                value += 1
                rounds.add({"call": [change(desktop, [("/org/example/d0/key-0", value)])]}, of=kind)
            value += 1
            rounds.add({"write": [run(desktop, "dconf", "write", "/org/example/d0/key-0", str(value))]}, of=kind)
    return rounds
