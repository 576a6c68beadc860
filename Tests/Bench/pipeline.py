"""Calls a second of several clients that have many calls under way."""

from rounds import Rounds, print_table

KINDS = ("floor-Ping", "Ping", "Get", "GetValue", "Set")
CLIENTS, WINDOW, AIM = 8, 64, 0.85


def measure(bench):
    desktop, rounds = bench.desktop(), Rounds()
    for _ in range(bench.few(7)):
        rounds.begin()
        for kind in KINDS:
            rounds.add(desktop.run("pipeline", kind, CLIENTS, WINDOW, bench.few(2000),
                                   bench.tools.ada, bench.tools.bob))
    # The programs tell times; calls a second are their inverse.
    print_table(
        f"pipeline: {CLIENTS} clients with {WINDOW} calls under way each",
        ("call", "calls/s", "of Ping", "of the floor's Ping", "aim"),
        [(kind, f"{1e6 / rounds.median(kind):.0f}", f"{1 / rounds.ratio(kind, 'Ping'):.2f}",
          f"{1 / rounds.ratio(kind, 'floor-Ping'):.2f}", AIM if kind in KINDS[2:] else "")
         for kind in KINDS])
