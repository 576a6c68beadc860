"""Calls a second of several clients that have many calls under way."""

from rounds import Rounds, print_table

# And what a service that does nothing needs to carry the same.
KINDS = {"floor-Ping": None, "Ping": "floor-Ping", "floor-Give": None, "Get": "floor-Give",
         "GetValue": "floor-Give", "floor-Tell": None, "Set": "floor-Tell",
         "direct-Ping": None, "direct-Get": None, "direct-Set": None}
CLIENTS, WINDOW = 8, 64
AIMS = {"Get": 0.85, "GetValue": 0.85, "Set": 0.85, "direct-Get": 3}


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
          AIMS.get(kind, ""), rate(kind, "floor-Ping"),
          rate(kind, floor) if floor else "") for kind, floor in KINDS.items()])
