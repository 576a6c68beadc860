"""The ends of a bus and of a session, after which the next call has to find everything."""

import signal

from activation import ActivatingDesktop, UserManager, runs
from desktop import Ended
from ground import Ground, Outcome
from ledger import Found
from life import Life, slow_disk
from privatebus import BUS, BUS_OBJECT, NAME as SERVICE

NAME = "logout"
FAULTS = "the bus ends and begins again; logging out under systemd with changes pending"
INJECTIONS = ("lost-database",)


def run(ground: Ground) -> list[Outcome]:
    return [
        bus_ends(ground, "the bus ends, and begins again at its address", 2, 100, 0),
        bus_ends(ground, "the bus ends while the disk is slow, and begins again", 1, 30, 0.1),
        under_manager(ground, "logging out with changes pending", 1, 40, log_out),
        under_manager(ground, "dbus.service restarts", 1, 40, restart_bus),
    ]


def bus_ends(ground: Ground, fault: str, short: int, long: int, disk: float) -> Outcome:
    """The daemon ends with its bus, and the next call starts another, maybe while that one ends."""
    outcome = Outcome(fault, 0)
    with ActivatingDesktop(ground) as desktop:
        if disk:
            desktop.wrapper = slow_disk(disk)
            desktop.write_starter()
        life = Life(ground, desktop)
        process = activate(life)
        for outcome.trials in range(1, ground.scale(short, long) + 1):
            try:
                life.attach()
                life.begin()
                life.reach(ground.random.randint(1, 60))
                desktop.bus.signal(signal.SIGKILL)
                life.settle()
                desktop.stop_bus()
                if is_patient := ground.random.random() < 0.5:
                    desktop.wait_until(lambda: not runs(process))
                    life.forget_session()
                if ground.inject == "lost-database":
                    desktop.wait_until(lambda: not runs(process))
                    desktop.forget_all()
                desktop.start_bus()
                life.connect()
                before, process = process, activate(life)
                life.judge()
                # That one gave up the database before this one had it.
                if not is_patient:
                    desktop.wait_until(lambda: not runs(before))
            except (Ended, Found, TimeoutError) as found:
                outcome.findings.append(f"trial {outcome.trials}: {found}\n{desktop.log}")
                break
        outcome.note = f"{life.acknowledged} changes acknowledged"
        desktop.bus.signal(signal.SIGKILL)
        desktop.wait_until(lambda: not runs(process))
    return outcome


def activate(life: Life) -> int:
    """Makes the first call; the daemon's process."""
    client = life.judge_client
    client.call("StartServiceByName", "(su)", SERVICE, 0, name=BUS, path=BUS_OBJECT, interface=BUS)
    return client.call("GetConnectionUnixProcessID", "(s)", SERVICE, name=BUS, path=BUS_OBJECT,
                       interface=BUS)[0]


def under_manager(ground: Ground, fault: str, short: int, long: int, end) -> Outcome:
    outcome = Outcome(fault, 0, skipped=UserManager.reason_to_skip())
    if outcome.skipped:
        return outcome
    manager = UserManager(ground)
    manager.start()
    try:
        process = manager.activate()
        life = Life(ground, manager)
        for outcome.trials in range(1, ground.scale(short, long) + 1):
            life.attach()
            life.begin()
            life.reach(ground.random.randint(1, 60))
            end(life, manager, process)
            process = manager.activate()
            life.connect()
            life.judge()
        outcome.note = f"{life.acknowledged} changes acknowledged"
    except (Found, TimeoutError) as found:
        outcome.findings.append(f"trial {outcome.trials}: {found}")
    finally:
        manager.close()
    return outcome


def log_out(life: Life, manager: UserManager, process: int) -> None:
    """Ends the session with its runtime directory, and begins the next."""
    manager.log_out()
    if runs(process):
        raise Found("the daemon goes on after the session")
    life.settle()
    life.forget_session()
    if life.ground.inject == "lost-database":
        manager.desktop.forget_all()
    manager.start()


def restart_bus(life: Life, manager: UserManager, process: int) -> None:
    """The bus starts again at once; callers connect again."""
    manager.systemctl("restart", "dbus.service")
    life.settle()
    manager.close_clients()
