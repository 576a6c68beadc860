"""Many daemons for one database: they take over from one another, or begin all at once."""

import contextlib
import signal

from clients import Refused
from desktop import Daemon, Desktop, Ended
from ground import Ground, Outcome
from ledger import Found
from life import Fate, Life
from privatebus import BUS, BUS_OBJECT

NAME = "takeovers"
FAULTS = "chains of --replace, also with daemons killed; sixteen daemons started at once"
INJECTIONS = ("journal-lost",)

SUCCESS, UNAVAILABLE = 0, 69
AT_ONCE = 16


def run(ground: Ground) -> list[Outcome]:
    return [
        chains(ground, "chains of --replace", 3, 60, kills=False),
        chains(ground, "chains of --replace, some killed", 5, 200, kills=True),
        at_once(ground, "sixteen daemons on one bus", homes=1),
        at_once(ground, "sixteen daemons on two buses", homes=2),
    ]


def chains(ground: Ground, fault: str, short: int, long: int, kills: bool) -> Outcome:
    outcome = Outcome(fault, 0)
    with Desktop(ground, is_in_memory=True) as desktop:
        desktop.start()
        life = Life(ground, desktop)

        def trial() -> None:
            chain(life, kills)
            life.judge(in_order=not kills)

        life.undergo(outcome, ground.scale(short, long), trial)
    return outcome


def chain(life: Life, kills: bool) -> None:
    """Lets up to five daemons take over from the one that serves, close behind one another."""
    desktop, chance = life.desktop, life.chance
    life.begin()
    life.reach(chance.randint(1, 30))
    daemons = [desktop.daemon]
    killed: list[Daemon] = []
    for _ in range(chance.randint(2, 5)):
        daemons.append(desktop.start(options=["--replace"], serves=False))
        if chance.random() < 0.5:
            desktop.wait_until(
                lambda: life.has_noticed or desktop.owner_process() == daemons[-1].pid
                or daemons[-1].has_ended)
    if kills:
        killed = chance.sample(daemons, chance.randint(1, len(daemons)))
        Fate(*[(life.within(0.1), daemon, signal.SIGKILL) for daemon in killed]).join()
        for daemon in killed:
            daemon.wait()
    desktop.wait_until(lambda: sum(not daemon.has_ended for daemon in daemons) <= 1)
    if not kills:
        life.reach(20)
        if life.has_noticed:
            raise Found("a call failed though every daemon handed over")
    settle(life, daemons, killed)


def settle(life: Life, daemons: list[Daemon], killed: list[Daemon]) -> None:
    """Waits until one serves, or none is left and another one does."""
    desktop = life.desktop
    # The last word of one that was killed may have been that it takes over.
    desktop.wait_until(lambda: not on_bus(desktop) & {daemon.pid for daemon in killed})
    desktop.settle()
    # One that hands over ends, also where the one that was to take over has been killed.
    desktop.wait_until(lambda: all(
        daemon.has_ended or desktop.owner_process() == daemon.pid for daemon in daemons))
    last = [daemon for daemon in daemons if not daemon.has_ended]
    life.settle()
    for daemon in daemons:
        if daemon.has_ended and daemon not in killed and daemon.wait() != SUCCESS:
            raise Found(f"expected a clean end after a hand-over, got {daemon.wait()}: "
                        f"{daemon.log()}")
    desktop.daemon = last[0] if last else None
    if life.ground.inject == "journal-lost":
        for daemon in last:
            daemon.end(signal.SIGKILL)
        life.forget_session()
        last = []
    if not last:
        desktop.start()


def on_bus(desktop: Desktop) -> set[int]:
    """The processes that are connected to the bus."""
    def ask(method: str, *arguments) -> object:
        return desktop.watcher.call(
            method, "(s)" if arguments else "()", *arguments, name=BUS, path=BUS_OBJECT,
            interface=BUS)[0]

    processes = set()
    for name in ask("ListNames"):
        with contextlib.suppress(Refused):
            processes.add(ask("GetConnectionUnixProcessID", name))
    return processes


def at_once(ground: Ground, fault: str, homes: int) -> Outcome:
    """One serves, and the others end and say why; each time it has all that was acknowledged."""
    outcome = Outcome(fault, 0)
    desktops = [Desktop(ground, is_in_memory=True) for _ in range(homes)]
    for desktop in desktops[1:]:
        for name in ("XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
            desktop.environment[name] = desktops[0].environment[name]
    lives = {desktop: Life(ground, desktop) for desktop in desktops}
    for life in lives.values():
        life.ledger = lives[desktops[0]].ledger
    try:
        for outcome.trials in range(1, ground.scale(3, 50) + 1):
            serving, daemon = race(desktops)
            life = lives[serving]
            life.judge()
            life.begin()
            life.reach(20)
            life.settle()
            if ground.random.random() < 0.5:
                daemon.end(signal.SIGKILL)
            else:
                daemon.end(signal.SIGTERM)
    except (Ended, Found, TimeoutError) as found:
        outcome.findings.append(f"trial {outcome.trials}: {found}")
    finally:
        for desktop in desktops:
            desktop.close()
    return outcome


def race(desktops: list[Desktop]) -> tuple[Desktop, Daemon]:
    """Starts daemons in turn on these buses, and gives the one that is left."""
    started = [(desktop, desktop.start(serves=False))
               for _ in range(AT_ONCE // len(desktops)) for desktop in desktops]
    desktops[0].wait_until(lambda: sum(not daemon.has_ended for _, daemon in started) <= 1)
    left = [(desktop, daemon) for desktop, daemon in started if not daemon.has_ended]
    if not left:
        raise Found("none of them serves: " + "".join(daemon.log() for _, daemon in started))
    (desktop, winner), = left
    desktop.wait_until_serving(winner)
    for _, daemon in started:
        if daemon is winner:
            continue
        log = daemon.log()
        if daemon.wait() != UNAVAILABLE or "in use by" not in log and "is already running" not in log:
            raise Found(f"expected 69 and why, got {daemon.wait()}: {log}")
    return desktop, winner
