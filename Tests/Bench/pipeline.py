"""Calls a second of several clients that have many calls under way."""

from rounds import Rounds, print_table

# And what a service that does nothing needs to carry the same.
KINDS = {"floor-Ping": None, "Ping": "floor-Ping", "floor-Give": None, "Get": "floor-Give",
         "GetValue": "floor-Give", "floor-Tell": None, "Set": "floor-Tell"}
CLIENTS, WINDOW, AIM = 8, 64, 0.85


def measure(bench):
    desktop, rounds = bench.desktop(), Rounds()
    for _ in bench.rounds(7):
        rounds.begin()
        for kind in KINDS:
            rounds.add(desktop.run("pipeline", kind, CLIENTS, WINDOW, bench.few(2000),
                                   bench.tools.ada, bench.tools.bob))

    def rate(kind, floor):
        # The programs tell times; calls a second are their inverse.
        return f"{1 / rounds.ratio(kind, floor):.2f}"

    print_table(
        f"pipeline: {CLIENTS} clients with {WINDOW} calls under way each",
        ("call", "calls/s", "of Ping", "aim", "of the floor's Ping", "of floor"),
        [(kind, f"{1e6 / rounds.median(kind):.0f}", rate(kind, "Ping"),
          AIM if kind in ("Get", "GetValue", "Set") else "", rate(kind, "floor-Ping"),
          rate(kind, floor) if floor else "") for kind, floor in KINDS.items()])
