"""From the bus's exec of the service to its first reply, by the number of keys in the database."""

from rounds import Rounds, print_table, told_time
from desktop import FLOOR

AIM = 1.2


def measure(bench):
    sizes = [0, 100_000] + ([] if bench.quick else [1_000_000])
    rounds, memory = Rounds(), {}
    for _ in bench.rounds(21):
        rounds.begin()
        for keys in sizes:
            desktop = bench.desktop(keys)
            desktop.end_service(FLOOR)
            rounds.add(desktop.run("start", "floor"))
            desktop.end_service()
            rounds.add({"again": desktop.run("start", "ours")["ours"]}, of=keys)
            desktop.end_service()
            desktop.forget_session()
            rounds.add({"login": desktop.run("start", "ours")["ours"]}, of=keys)
            memory[keys] = desktop.memory()
    print_table(
        "start: exec to the first reply; of a service that does nothing: "
        f"{told_time(rounds.median('floor'))}",
        ("keys", "at login", "of 0 keys", "half of rounds", "again", "of 0 keys", "half of rounds",
         "of nothing", "MB anonymous", "aim"),
        [(keys, told_time(rounds.median(("login", keys))),
          *rounds.told(("login", keys), ("login", 0)), told_time(rounds.median(("again", keys))),
          *rounds.told(("again", keys), ("again", 0)), rounds.told(("again", keys), "floor")[0],
          f"{memory[keys][0]:.2f}", AIM if keys else "") for keys in sizes])
