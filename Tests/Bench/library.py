"""The library for C beside libdconf, and the package for Python beside GSettings."""

import pathlib
import shutil
import subprocess
import sys

from client import times, told
from gsettings import SCHEMAS
from rounds import Rounds, print_table, told_time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / ".build/library/libdefaults.so.1"
READS, WRITES, LOADS, PYTHON_READS = 1_000_000, 20_000, 5, 100_000


class Python:
    """Programs in Python that read by our package, and by GSettings."""

    def __init__(self, bench, desktop):
        workplace = bench.tools.workplace
        sources = workplace / "python/Sources"
        shutil.copytree(ROOT / "Sources/Python", sources / "Python")
        for file in ("CDefaults/defaults.h", "DefaultsProtocol/Version.swift"):
            (sources / file).parent.mkdir()
            shutil.copy(ROOT / "Sources" / file, sources / file)
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
             "--no-build-isolation", "--target", workplace / "site", sources / "Python"], check=True)
        subprocess.run(["glib-compile-schemas", f"--targetdir={workplace}", SCHEMAS], check=True)
        self.environment = desktop.environment | {
            "PYTHONPATH": str(workplace / "site"), "DEFAULTS_LIBRARY": str(OURS),
            "GSETTINGS_BACKEND": "dconf", "GSETTINGS_SCHEMA_DIR": str(workplace)}

    def read(self, kind, count):
        program = pathlib.Path(__file__).parent / "python/reads.py"
        return times(subprocess.run(
            [sys.executable, program, kind, str(count)], env=self.environment, check=True,
            capture_output=True, text=True).stdout)


def measure(bench):
    desktop, rounds = bench.new_desktop(), Rounds()
    # Both services are there before anything is measured.
    desktop.call("ListDomains")
    desktop.run("dconfclient", "write", 1)
    theirs = pathlib.Path(subprocess.run(
        ["pkg-config", "--variable=libdir", "dconf"], check=True, capture_output=True,
        text=True).stdout.strip()) / "libdconf.so.1"
    python = Python(bench, desktop)
    for _ in bench.rounds(9):
        rounds.begin()
        for kind in ("defaults", "gi"):
            rounds.add(python.read(kind, bench.few(PYTHON_READS)))
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
    print_table(
        "library: a read of an integer in Python",
        ("defaults", "GSettings of python3-gi, on dconf", "of it", "half of rounds", "aim"),
        [(told(rounds, "python-defaults"), told(rounds, "python-gi"),
          *rounds.told("python-defaults", "python-gi"), "0.33")])
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
