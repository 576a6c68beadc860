"""The library for C beside libdconf: reads, writes, and what it takes to load it."""

import pathlib
import subprocess

from client import told
from rounds import Rounds, print_table, told_time

OURS = pathlib.Path(__file__).resolve().parents[2] / ".build/library/libdefaults.so.1"
READS, WRITES, LOADS = 1_000_000, 20_000, 5


def measure(bench):
    desktop, rounds = bench.new_desktop(), Rounds()
    # Both services are there before anything is measured.
    desktop.call("ListDomains")
    desktop.run("dconfclient", "write", 1)
    theirs = pathlib.Path(subprocess.run(
        ["pkg-config", "--variable=libdir", "dconf"], check=True, capture_output=True,
        text=True).stdout.strip()) / "libdconf.so.1"
    for _ in bench.rounds(9):
        rounds.begin()
        reads, writes = map(bench.few, (READS, WRITES))
        for program in ("defaultsclient", "dconfclient"):
            rounds.add(desktop.run(program, "read", reads))
            rounds.add(desktop.run(program, "write", writes))
        for _ in range(LOADS):
            for kind, library in (("c", OURS), ("dconf", theirs)):
                rounds.add(desktop.run("loading", kind, library))
    bench.end_desktop(desktop)
    tell(rounds, theirs)


def tell(rounds, theirs):
    rows = (("read of a boolean", "read", "read", "0.25"),
            ("read of a string, with its copy", "string", "read", ""),
            ("write that does not wait", "write", "write", "1"),
            ("the same, until the service has all", "synced", "synced", "1"))
    print_table(
        "library: libdefaults beside libdconf, called from C",
        ("what", "takes", "dconf", "of dconf", "half of rounds", "aim"),
        [(words, told(rounds, f"c-{kind}"), told(rounds, f"dconf-{peer}"),
          *rounds.told(f"c-{kind}", f"dconf-{peer}"), aim) for words, kind, peer, aim in rows])
    sizes = [f"{path.resolve().stat().st_size / 1e6:.2f} MB" for path in (OURS, theirs)]
    print_table(
        "library: what loading takes, for libdconf with what it brings of GLib",
        ("what", "libdefaults", "libdconf"),
        [("the file", *sizes),
         ("dlopen", *(told_time(rounds.median(f"{kind}-load")) for kind in ("c", "dconf"))),
         ("private and written memory",
          *(f"{rounds.median(f'{kind}-private'):.0f} kB" for kind in ("c", "dconf"))),
         ("resident memory",
          *(f"{rounds.median(f'{kind}-resident'):.0f} kB" for kind in ("c", "dconf")))])
