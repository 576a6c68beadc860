"""One read and one change, by the number of keys in the database, beside dconf and xfconf."""

import subprocess

from desktop import Stopped
from rounds import Rounds, print_table, told_time

AIM = 1.2
PATIENCE = 60
KEYS_OF_BRANCH = 1000


def measure(bench):
    sizes = [1, 1000, 100_000] + ([] if bench.quick else [1_000_000])
    measure_ours(bench, sizes)
    for name, words, fill, program in (
            ("dconf", "read in the process, write until the file is written", fill_dconf,
             "dconfkey"),
            ("xfconf", "by its service, which writes to disk seconds after the reply", fill_xfconf,
             "onekey")):
        measure_peer(bench, name, words, sizes, fill, program)


def measure_ours(bench, sizes):
    kinds, rounds = {"read": 100, "durable": 20, "acknowledged": 50}, Rounds()
    for _ in bench.rounds(30):
        rounds.begin()
        for kind, calls in kinds.items():
            for keys in sizes:
                desktop = bench.desktop(keys)
                rounds.add(desktop.run("onekey", kind, bench.few(calls), keys, bench.tools.ada,
                                       bench.tools.bob), of=keys)
                desktop.call("Synchronize")
    print_table(
        f"curve of defaultsd: durable is on disk, acknowledged survives a crash (aim: {AIM})",
        ("keys", *(word for kind in kinds for word in (kind, "of 1 key", "half of rounds"))),
        [(keys, *(word for kind in kinds for word in (
            told_time(rounds.median((kind, keys))), *rounds.told((kind, keys), (kind, 1)))))
         for keys in sizes])


def measure_peer(bench, name, words, sizes, fill, program):
    """In one round a size, as the differences are of another order; ends where the peer does."""
    kinds, rows, first = (f"{name}-read", f"{name}-write"), [], {}
    for keys in sizes:
        desktop, row = bench.new_desktop(), [keys]
        archives = [] if program == "dconfkey" else [bench.tools.ada, bench.tools.bob]
        try:
            fill(desktop, keys)
            for kind in kinds:
                rounds = Rounds()
                rounds.begin()
                rounds.add(desktop.run(program, kind, bench.few(20), keys, *archives,
                                       patience=PATIENCE))
                median = rounds.median(kind)
                row += [told_time(median), f"{median / first.setdefault(kind, median):.1f}"]
            rows.append([*row, ""])
        except Stopped as stop:
            rows.append([*row, *[""] * (5 - len(row)), str(stop)])
            break
        finally:
            bench.end_desktop(desktop)
    print_table(f"curve of {name}: {words}",
                ("keys", "read", "of 1 key", "write", "of 1 key", "stopped"), rows)


def fill_dconf(desktop, keys):
    """By the file that its service would have written, and more quickly."""
    source = desktop.home / "keyfiles"
    source.mkdir()
    with open(source / "bench", "w", encoding="ascii") as file:
        for first in range(0, keys, KEYS_OF_BRANCH):
            file.write(f"[bench/d{first // KEYS_OF_BRANCH:04}]\n")
            file.writelines(f"k{number:04}=true\n"
                            for number in range(min(KEYS_OF_BRANCH, keys - first)))
    (desktop.home / "config" / "dconf").mkdir()
    try:
        subprocess.run(
            ["dconf", "compile", desktop.home / "config" / "dconf" / "user", source],
            env=desktop.environment, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Stopped(f"dconf compile took more than {PATIENCE} s") from None
    except subprocess.CalledProcessError as error:
        raise Stopped(f"dconf compile: {error.stderr.strip()}") from None


def fill_xfconf(desktop, keys):
    """By the file of the channel, which its service reads at the first call."""
    folder = desktop.home / "config" / "xfce4" / "xfconf" / "xfce-perchannel-xml"
    folder.mkdir(parents=True)
    with open(folder / "bench.xml", "w", encoding="ascii") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n'
                   '<channel name="bench" version="1.0">\n')
        for first in range(0, keys, KEYS_OF_BRANCH):
            file.write(f'<property name="d{first // KEYS_OF_BRANCH:04}" type="empty">\n')
            file.writelines(f'<property name="k{number:04}" type="bool" value="true"/>\n'
                            for number in range(min(KEYS_OF_BRANCH, keys - first)))
            file.write("</property>\n")
        file.write("</channel>\n")
