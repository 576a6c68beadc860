"""The life of a session: its signals, its end, its runtime directory, its clock.

Where a daemon has ended well, its runtime directory is emptied before the next one starts: all that
was acknowledged is on disk by then.
"""

import contextlib
import pathlib
import signal
from collections.abc import Iterator

from desktop import Daemon, Desktop
from elsewhere import Elsewhere
from ground import Ground, Outcome, remove_tree
from ledger import Found
from life import Fate, Life, slow_disk

NAME = "session"
FAULTS = "SIGTERM and SIGHUP amid flushes, the runtime directory vanishing, the clock set"
INJECTIONS = ("journal-removed",)

DAY = 24 * 3600


def run(ground: Ground) -> list[Outcome]:
    return [
        series(ground, "SIGTERM while a slow disk is written to", 3, 60, stop, disk=0.15),
        series(ground, "SIGTERM, SIGTERM and SIGHUP", 3, 60, stop_again, disk=0.05),
        series(ground, "SIGTERM, and SIGKILL meanwhile", 4, 100, stop_and_kill, disk=0.05),
        series(ground, "a storm of SIGHUP", 2, 20, storm),
        series(ground, "the runtime directory is emptied", 5, 100, runtime_emptied),
        series(ground, "the runtime directory is gone", 5, 100, runtime_gone),
        clock(ground),
    ]


def series(ground: Ground, fault: str, short: int, long: int, trial, disk: float = 0) -> Outcome:
    """Trials on one database, until one finds something."""
    outcome = Outcome(fault, 0)
    start = {"wrapper": slow_disk(disk)} if disk else {}
    with Desktop(ground, is_in_memory=True) as desktop:
        desktop.start(**start)
        life = Life(ground, desktop)

        def one() -> None:
            life.begin()
            life.reach(ground.random.randint(1, 60))
            trial(life)
            life.settle()
            if ground.inject == "journal-removed":
                life.forget_session()
            desktop.start(**start)
            life.judge()

        life.undergo(outcome, ground.scale(short, long), one)
    return outcome


def ends_well(life: Life, daemon: Daemon) -> None:
    """Waits for a clean end, and takes all away that is in memory."""
    status = daemon.wait()
    if status != 0:
        raise Found(f"expected a clean end, got {status}: {daemon.log()}")
    life.settle()
    life.forget_session()


def stop(life: Life) -> None:
    daemon = life.desktop.daemon
    life.judge_client.begin("Synchronize")
    life.judge_client.flush()
    Fate((life.within(0.4), daemon, signal.SIGTERM)).join()
    ends_well(life, daemon)


def stop_again(life: Life) -> None:
    daemon = life.desktop.daemon
    numbers = life.chance.choices((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), k=6)
    Fate(*[(life.within(0.2), daemon, number) for number in (signal.SIGTERM, *numbers)]).join()
    ends_well(life, daemon)


def stop_and_kill(life: Life) -> None:
    daemon = life.desktop.daemon
    Fate((0, daemon, signal.SIGTERM), (life.within(0.3), daemon, signal.SIGKILL)).join()
    daemon.wait()


def storm(life: Life) -> None:
    daemon = life.desktop.daemon
    fate = Fate(*[(life.within(0.5), daemon, signal.SIGHUP) for _ in range(300)])
    life.reach(100)
    fate.join()
    if life.has_noticed:
        raise Found("a call failed while SIGHUP came")
    daemon.end(signal.SIGKILL)


def runtime_emptied(life: Life) -> None:
    with runtime_lost(life) as runtime:
        runtime.mkdir(mode=0o700)
    go_on_without_runtime(life)


def runtime_gone(life: Life) -> None:
    """As where a session has ended; a file in its place prevents that it is made again."""
    with runtime_lost(life) as runtime:
        runtime.write_text("")
    go_on_without_runtime(life)
    runtime.unlink()
    runtime.mkdir(mode=0o700)


@contextlib.contextmanager
def runtime_lost(life: Life) -> Iterator[pathlib.Path]:
    """Removes it while the daemon cannot make anything in it."""
    runtime, daemon = life.desktop.runtime, life.desktop.daemon
    daemon.kill(signal.SIGSTOP)
    status = pathlib.Path(f"/proc/{daemon.pid}/status")
    life.desktop.wait_until(lambda: "State:\tT" in status.read_text())
    remove_tree(runtime)
    yield runtime
    daemon.kill(signal.SIGCONT)


def go_on_without_runtime(life: Life) -> None:
    """Writes on, and kills or ends the daemon.

    The first change that is made after the loss writes all pending changes to the journal again.
    """
    # More than can have been under way.
    life.reach(30)
    if life.has_noticed:
        raise Found("a call failed as the runtime directory went")
    daemon = life.desktop.daemon
    if life.chance.random() < 0.5:
        daemon.end(signal.SIGKILL)
    else:
        daemon.kill(signal.SIGTERM)
        ends_well(life, daemon)
    life.settle()


def clock(ground: Ground) -> Outcome:
    """Sets the clock while daemons run and between them. Half of them lose their journal."""
    outcome = Outcome("the clock is set, by up to 60 days", 0)
    elsewhere = Elsewhere(ground.directory)
    environment = elsewhere.environment()
    with Desktop(ground, is_in_memory=True) as desktop:
        desktop.start(environment=environment)
        life = Life(ground, desktop)

        def trial() -> None:
            life.begin()
            life.reach(20)
            elsewhere.set_clock(ground.random.randint(-30 * DAY, 30 * DAY))
            life.reach(20)
            life.settle()
            # By its own timer, however late or early it is now.
            desktop.wait_until(lambda: life.judge_client.properties()["PendingChanges"] == 0)
            desktop.daemon.end(signal.SIGKILL)
            if ground.random.random() < 0.5:
                life.forget_session()
            elsewhere.set_clock(ground.random.randint(-30 * DAY, 30 * DAY))
            desktop.start(environment=environment)
            life.judge()

        life.undergo(outcome, ground.scale(5, 200), trial)
    return outcome
