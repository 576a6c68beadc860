"""Many keys in one call, against one call for each."""

from rounds import Rounds, print_table, told_time

KEYS = 1000
PAIRS = (("GetAll", "Gets"), ("Apply", "Sets"), ("Attach", "Ping"), ("GetAll-100", "Ping"))
WORDS = {"Gets": f"{KEYS} Gets", "GetAll": f"GetAll of {KEYS}", "Sets": f"{KEYS} Sets",
         "Apply": f"Apply of {KEYS}", "Attach": "Attach of 100", "GetAll-100": "GetAll of 100"}


def measure(bench):
    desktop, rounds = bench.desktop(), Rounds()
    for _ in bench.rounds(5):
        rounds.begin()
        rounds.add(desktop.run("bulk", bench.few(6), KEYS, bench.tools.ada, bench.tools.bob))
    print_table(
        "bulk: many keys in one call",
        ("call", "takes", "against", "ratio", "half of rounds", "times faster"),
        [(WORDS[one], told_time(rounds.median(one)), WORDS.get(other, other),
          *(f"{value:.4f}" if one in ("GetAll", "Apply") else f"{value:.2f}"
            for value in [rounds.ratio(one, other)]),
          rounds.told(one, other)[1],
          f"{1 / rounds.ratio(one, other):.0f}" if one in ("GetAll", "Apply") else "")
         for one, other in PAIRS])
