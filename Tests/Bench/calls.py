"""One call after another: against Peer.Ping, and beside xfconf on the same bus."""

from rounds import Rounds, print_table

AIMS = {"Get": "1.15", "Set": "1.4"}
KINDS = ("floor-Ping", "Ping", "Get", "Set", "GetValue", "SetValue", "xfconf-GetProperty",
         "xfconf-SetProperty")


def measure(bench):
    desktop, rounds = bench.desktop(), Rounds()
    for _ in range(bench.few(3)):
        rounds.begin()
        rounds.add(desktop.run("roundtrip", bench.few(3000), bench.tools.ada, bench.tools.bob))
    print_table(
        f"calls: one after another; Ping of ours took {rounds.median('Ping'):.0f} us",
        ("call", "of Ping", "rounds", "p99, us", "aim"),
        [(kind, *rounds.told(kind, "Ping"), f"{rounds.tail(kind):.0f}", AIMS.get(kind, ""))
         for kind in KINDS])
