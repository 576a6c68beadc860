"""What people run: one key read, a thousand written, a hundred thousand imported."""

import os
import plistlib
import subprocess
import time

from desktop import Stopped
from rounds import Rounds, print_table, told_time

DOMAIN, READ_AIM = "org.example.Bench", 1.5
WRITTEN, IMPORTED = 1000, 100_000


def measure(bench):
    desktop = bench.new_desktop()
    tool = str(bench.tools.directory / "defaultsctl")
    read(bench, desktop, tool)
    write(bench, desktop, tool)
    take_over(bench, desktop, tool)
    bench.end_desktop(desktop)


def run(desktop, *command, input=None):
    """How long a program takes from its start to its end, in microseconds."""
    began = time.monotonic()
    done = subprocess.run(command, env=desktop.environment, input=input, capture_output=True)
    if done.returncode:
        raise Stopped(f"{' '.join(command[:2])}: {done.stderr.decode().strip()}")
    return (time.monotonic() - began) * 1e6


def read(bench, desktop, tool):
    run(desktop, tool, "write", DOMAIN, "key", "-int", "5")
    run(desktop, "dconf", "write", "/org/example/bench/key", "5")
    run(desktop, "xfconf-query", "-c", "bench", "-p", "/key", "-n", "-t", "int", "-s", "5")
    commands = {
        "defaultsctl read": (tool, "read", DOMAIN, "key"),
        "dconf read": ("dconf", "read", "/org/example/bench/key"),
        "xfconf-query": ("xfconf-query", "-c", "bench", "-p", "/key"),
        "defaultsctl --version": (tool, "--version"),
    }
    rounds = Rounds()
    for _ in bench.rounds(60):
        rounds.begin()
        for name, command in commands.items():
            rounds.add({name: [run(desktop, *command)]})
    faster = min(("dconf read", "xfconf-query"), key=rounds.median)
    print_table(
        "commands: one key read, from the start of the program to its end",
        ("command", "takes", f"of {faster}", "half of rounds", "of xfconf-query", "aim"),
        [(name, told_time(rounds.median(name)), *rounds.told(name, faster),
          rounds.told(name, "xfconf-query")[0],
          READ_AIM if name == "defaultsctl read" else "") for name in commands])


def write(bench, desktop, tool):
    rounds = Rounds()
    for number in bench.rounds(3):
        rounds.begin()
        lines = "".join(f"write {DOMAIN} key{key} -int {number * WRITTEN + key}\n"
                        for key in range(WRITTEN))
        rounds.add({"apply": [run(desktop, tool, "apply", "--wait", input=lines.encode())]})
        rounds.add({"queries": [sum(
            run(desktop, "xfconf-query", "-c", "bench", "-p", f"/key{key}", "-n", "-t", "int",
                "-s", str(number * WRITTEN + key)) for key in range(WRITTEN))]})
    print_table(
        f"commands: {WRITTEN} keys written",
        ("by", "takes", "times faster"),
        [("one defaultsctl apply --wait", told_time(rounds.median("apply")),
          f"{rounds.ratio('queries', 'apply'):.0f}"),
         (f"{WRITTEN} times xfconf-query", told_time(rounds.median("queries")), "")])


def take_over(bench, desktop, tool):
    file = desktop.home / "import.plist"
    file.write_bytes(plistlib.dumps(
        {f"key {number}": {"number": number, "text": "x" * 20} for number in range(IMPORTED)}))
    rounds, largest = Rounds(), 0
    for number in bench.rounds(3):
        rounds.begin()
        began = time.monotonic()
        process = subprocess.Popen(
            [tool, "import", f"{DOMAIN}{number}", str(file)], env=desktop.environment)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise Stopped("defaultsctl import failed")
        rounds.add({"import": [(time.monotonic() - began) * 1e6]})
        largest = max(largest, usage.ru_maxrss / 1024)
    print(f"\n{IMPORTED} keys of a file of {file.stat().st_size / 1e6:.1f} MB are imported in "
          f"{told_time(rounds.median('import'))}, by a program of {largest:.0f} MB; the service has "
          f"{desktop.memory()[0]:.1f} MB anonymous after it")
