"""One home on two machines, over a file system that is more or less up to it.

The other machine is one by its name and its boot; its files are those of this one.
"""

import os
import pathlib
import signal
import subprocess
import uuid

from desktop import Daemon, Desktop, Ended
from elsewhere import EXT4, NFS, Elsewhere
from ground import Ground, Outcome
from ledger import Found
from life import Life

NAME = "hosts"
FAULTS = "two machines share a home, on a network file system; one that takes no locks"
INJECTIONS = ("no-lock",)

OTHER_HOST = "other-machine"
UNAVAILABLE, INPUT_OUTPUT = 69, 74
ERRORS = {"ENOLCK": 37, "ENOSYS": 38, "EOPNOTSUPP": 95}


def run(ground: Ground) -> list[Outcome]:
    return [shared(ground), locks_refused(ground), told(ground)]


class Host:
    """A machine with its own session. It may share the home of another one."""

    def __init__(self, ground: Ground, elsewhere: Elsewhere, name: str, home: Desktop | None):
        self.name = name
        self.desktop = Desktop(ground, is_in_memory=True)
        if home is not None:
            self.desktop.environment["XDG_CONFIG_HOME"] = str(home.config)
        self.environment = elsewhere.environment(file_system=NFS)
        self.boot = self.desktop.directory / "boot"
        self.boot.write_text(f"{uuid.UUID(int=ground.random.getrandbits(128))}\n")

    @property
    def wrapper(self) -> list[str]:
        return ["unshare", "--uts", "--mount", "sh", "-c",
                'hostname "$0" && mount --bind "$1" /proc/sys/kernel/random/boot_id && shift'
                ' && exec "$@"', self.name, str(self.boot)]

    def start(self) -> Daemon:
        return self.desktop.start(wrapper=self.wrapper, environment=self.environment)


def reason_to_skip(host: Host) -> str | None:
    tried = subprocess.run([*host.wrapper, "true"], capture_output=True, text=True)
    return tried.stderr.strip() or "it cannot be tried here" if tried.returncode else None


def shared(ground: Ground) -> Outcome:
    """Each trial moves to the other machine, after one daemon there was refused."""
    outcome = Outcome("the other machine of a shared home", 0)
    elsewhere = Elsewhere(ground.directory)
    here = Host(ground, elsewhere, "this-machine", None)
    there = Host(ground, elsewhere, OTHER_HOST, here.desktop)
    try:
        outcome.skipped = reason_to_skip(here)
        if outcome.skipped:
            return outcome
        lives = {host: Life(ground, host.desktop) for host in (here, there)}
        lives[there].ledger = lives[here].ledger
        here.start()
        for outcome.trials in range(1, ground.scale(2, 50) + 1):
            move(lives, here, there)
            here, there = there, here
        outcome.note = f"{sum(life.acknowledged for life in lives.values())} changes acknowledged"
    except (Ended, Found, TimeoutError) as found:
        outcome.findings.append(f"trial {outcome.trials}: {found}")
    finally:
        for host in (here, there):
            host.desktop.close()
    return outcome


def move(lives: dict[Host, Life], here: Host, there: Host) -> None:
    """Writes here, and goes on there."""
    life, daemon = lives[here], here.desktop.daemon
    life.ledger.page, life.ledger.words = None, {}
    life.attach()
    life.begin()
    life.reach(life.chance.randint(1, 40))
    expect_refusal(there, [f"process {daemon.pid} on host {here.name}", "End the session there"])
    life.settle()
    if life.chance.random() < 0.5:
        # Its journal is in the memory of that machine.
        life.judge_client.call("Synchronize")
        daemon.end(signal.SIGKILL)
    elif daemon.end(signal.SIGTERM) != 0:
        raise Found(f"expected a clean end, got {daemon.wait()}: {daemon.log()}")
    else:
        expect_void(life)
    there.start()
    life.ledger.page = None
    lives[there].judge()


def expect_refusal(there: Host, words: list[str]) -> None:
    """A second daemon has to end, and to say which machine has the database."""
    if there.desktop.ground.inject == "no-lock":
        # Another file of that name is another lock.
        lock = pathlib.Path(there.desktop.environment["XDG_CONFIG_HOME"]) / "defaultsd/lock"
        lock.unlink()
    try:
        there.start()
    except Ended as ended:
        if any(word not in str(ended) for word in words) or there.desktop.daemon.wait() != UNAVAILABLE:
            raise Found(f"expected a refusal with 69 and {words}, and {ended}") from None
        return
    there.desktop.daemon.end()
    raise Found("a second machine has taken a database that is in use")


def expect_void(life: Life) -> None:
    """Clients of a machine whose daemon has ended see no change that another machine makes."""
    for domain in life.ledger.books:
        if life.ledger.page.counter(domain) <= life.ledger.highest:
            raise Found(f"a copy of {domain} counts as current although nobody announces changes")


def locks_refused(ground: Ground) -> Outcome:
    outcome = Outcome("a file system that takes no locks", len(ERRORS))
    elsewhere = Elsewhere(ground.directory)
    with Desktop(ground, is_in_memory=True) as desktop:
        for name, number in ERRORS.items():
            try:
                desktop.start(environment=elsewhere.environment(NFS, lock_error=number))
                outcome.findings.append(f"{name}: a daemon serves without a lock")
                desktop.daemon.end()
            except Ended as ended:
                words = [os.strerror(number), "Without a lock", "(nfs)"]
                if (any(word not in str(ended) for word in words)
                        or desktop.daemon.wait() != INPUT_OUTPUT):
                    outcome.findings.append(f"expected 74 and {words}, and {ended}")
    return outcome


def told(ground: Ground) -> Outcome:
    """The file system is named in `status`, and one of the network in the log."""
    outcome = Outcome("a network file system, and a local one", 2)
    elsewhere = Elsewhere(ground.directory)
    with Desktop(ground, is_in_memory=True) as desktop:
        for file_system, line in {NFS: "nfs (network: ", EXT4: "ext4\n"}.items():
            desktop.start(environment=elsewhere.environment(file_system))
            shown = subprocess.run(
                [ground.programs / "defaultsctl", "status"], env=desktop.environment,
                capture_output=True, text=True).stdout
            if f"file system         {line}" not in shown:
                outcome.findings.append(f"expected '{line.strip()}' in the status:\n{shown}")
            notices = desktop.daemon.log().count("is on a network file system (nfs)")
            if notices != (file_system == NFS):
                outcome.findings.append(f"{line.strip()}: {notices} lines in the log tell of it")
            desktop.daemon.end()
    return outcome
