"""What Xfconf costs a program of Xfce, with defaultsd and with xfconfd: the same calls."""

from rounds import Rounds, print_table, told_time

PROPERTIES = 300
PEER, OURS = "xfconfd", "defaultsd"
WORDS = {"get": "GetProperty", "set": "SetProperty",
         "all": f"GetAllProperties of {PROPERTIES} properties"}


def measure(bench):
    desktops = {PEER: bench.new_desktop(), OURS: bench.new_desktop(serving=("xfconf",))}
    # It has both names. Without this call, the bus would start xfconfd.
    desktops[OURS].call("ListDomains")
    for desktop in desktops.values():
        desktop.run("xfconf", "fill", PROPERTIES)
    rounds = Rounds()
    for _ in bench.rounds(60):
        rounds.begin()
        for name, desktop in desktops.items():
            rounds.add(desktop.run("xfconf", "measure", 100), of=name)
    print_table(
        "xfconf: the calls of programs of Xfce",
        ("call", OURS, PEER, f"of {PEER}", "half of rounds", "aim"),
        [(WORDS[kind], told_time(rounds.median((kind, OURS))), told_time(rounds.median((kind, PEER))),
          *rounds.told((kind, OURS), (kind, PEER)), "1.0") for kind in WORDS])
    for desktop in desktops.values():
        bench.end_desktop(desktop)
