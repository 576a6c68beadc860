"""What GSettings costs a program, with defaultsd and with dconf: the same program, and the same schema."""

import pathlib
import subprocess

from commands import run
from rounds import Rounds, print_table, told_time

SCHEMAS = pathlib.Path(__file__).resolve().parents[1] / "GSettings/schemas"
SCHEMA = "org.defaultsd.test.plain"
PEER, OURS, BARE = "dconf", "defaultsd", "defaultsd without a service manager"
AIMS = {"read": "1.0", "write": "1.0", "get": "1.3", "first": "1.5"}
DOMAINS = 500
WORDS = {"first": "first read of a program", "read": "read", "write": "write",
         "stored": "write, until it is stored", "get": "gsettings get, the whole program",
         "domains": f"first reads of {DOMAINS} domains"}


def measure(bench):
    module = bench.tools.directory.parent / "gsettings"
    if not (module / "libgsettingsdefaults.so").exists():
        print("\ngsettings: not measured, as there is no module; run make gsettings")
        return
    subprocess.run(["glib-compile-schemas", f"--targetdir={bench.tools.workplace}", SCHEMAS], check=True)
    desktop, bare = bench.new_desktop(is_managed=True), bench.new_desktop()
    for each in (desktop, bare):
        each.environment |= {"GIO_EXTRA_MODULES": str(module),
                             "GSETTINGS_SCHEMA_DIR": str(bench.tools.workplace)}
    rounds = Rounds()
    use(bare, OURS)
    run(bare, "gsettings", "set", SCHEMA, "text", "a value")
    for backend in (PEER, OURS):
        use(desktop, backend)
        run(desktop, "gsettings", "set", SCHEMA, "text", "a value")
        desktop.run("domains", "set", DOMAINS)
    for _ in bench.rounds(60):
        rounds.begin()
        for backend in (PEER, OURS):
            use(desktop, backend)
            rounds.add(desktop.run("settings"), of=backend)
            rounds.add(desktop.run("domains", "read", DOMAINS), of=backend)
            rounds.add({"get": [run(desktop, "gsettings", "get", SCHEMA, "text")]}, of=backend)
        # The page is a file then, which other programs may cut, so it is read by a call.
        rounds.add({"read": bare.run("settings")["read"]}, of=BARE)
    print_figures(rounds)
    for each in (desktop, bare):
        bench.end_desktop(each)


def use(desktop, backend):
    desktop.environment["GSETTINGS_BACKEND"] = backend


def print_figures(rounds):
    print_table(
        "gsettings: a program that uses GSettings",
        ("what", OURS, PEER, f"of {PEER}", "half of rounds", "aim"),
        [(WORDS[kind], told_time(rounds.median((kind, OURS))), told_time(rounds.median((kind, PEER))),
          *rounds.told((kind, OURS), (kind, PEER)), AIMS.get(kind, "")) for kind in WORDS])
    print(f"\nread without a service manager: {rounds.ratio(('read', BARE), ('read', PEER)):.2f} of {PEER}'s")
    ours, peers = (rounds.median(("memory", backend)) for backend in (OURS, PEER))
    print(f"\nprivate memory after the first read: {ours:.0f} kB, and {peers:.0f} kB with {PEER} "
          "(aim: 100 kB more at most)")
