"""A value of 16 MiB: what carrying it costs, and what storing and reading it adds."""

from rounds import Rounds, print_table, told_time
from tools import large_array, large_data

MIB = 1 << 20
PAIRS = (("Take", "Take"), ("refused-Set", "Take"), ("Set", "Take"), ("Give", "Give"),
         ("Get", "Give"))


def measure_one(bench, words, archives):
    paths = [bench.tools.archive(f"large-{number}", archive)
             for number, archive in enumerate(archives)]
    size, desktop, rounds = len(archives[0]) / MIB, bench.desktop(), Rounds()
    for _ in bench.rounds(3):
        rounds.begin()
        rounds.add(desktop.run("large", bench.few(3), *paths))
    anonymous, _ = desktop.memory()
    print_table(
        f"large: {words}, {size:.1f} MiB; {anonymous:.1f} MB anonymous after it",
        ("call", "takes", "MiB/s", "of carrying it", "half of rounds"),
        [(kind, told_time(rounds.median(kind)), f"{size / rounds.median(kind) * 1e6:.0f}",
          *rounds.told(kind, floor)) for kind, floor in PAIRS])


def measure(bench):
    measure_one(bench, "one datum", [large_data(byte, 16 * MIB) for byte in (1, 2)])
    measure_one(bench, "an array of 130 000 strings",
                [large_array(letter, 130_000) for letter in "ab"])
