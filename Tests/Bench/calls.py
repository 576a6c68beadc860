"""One call after another: against Peer.Ping over the bus, beside xfconf on the same bus, and without it."""

import os

from rounds import Rounds, print_table

AIMS = {"Get": "1.10", "Set": "1.30", "direct-Get": "0.40", "direct-Set": "0.55"}
# What a service that does nothing needs to carry the same: floor-Give replies bytes, floor-Tell
# takes bytes and tells everybody.
KINDS = {"floor-Ping": None, "Ping": "floor-Ping", "floor-Give": None, "Get": "floor-Give",
         "GetValue": "floor-Give", "floor-Tell": None, "Set": "floor-Tell",
         "SetValue": "floor-Tell", "direct-Ping": None, "direct-Get": None, "direct-GetValue": None,
         "direct-Set": None, "direct-SetValue": None, "xfconf-GetProperty": "floor-Give",
         "xfconf-SetProperty": "floor-Tell"}


def measure(bench):
    measure_on(bench, bench.desktop(), "one after another")
    # It takes longer to wake a process on another processor than to carry out the call. On one
    # processor the figures do not depend on where the system has put the programs.
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        measure_on(bench, bench.new_desktop(), "the same, all programs on one processor")
    finally:
        os.sched_setaffinity(0, everywhere)


def measure_on(bench, desktop, words):
    rounds = Rounds()
    for _ in bench.rounds(3):
        rounds.begin()
        rounds.add(desktop.run("roundtrip", bench.few(3000), bench.tools.ada, bench.tools.bob))
    print_table(
        f"calls: {words}; Ping of ours took {rounds.median('Ping'):.0f} us",
        ("call", "of Ping", "half of rounds", "aim", "of floor", "half of rounds", "p99, us"),
        [(kind, *rounds.told(kind, "Ping"), AIMS.get(kind, ""),
          *(rounds.told(kind, floor) if floor else ("", "")), f"{rounds.tail(kind):.0f}")
         for kind, floor in KINDS.items()])
