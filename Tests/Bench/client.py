"""The client library beside libdconf and Foundation's UserDefaults, each in processes of its own."""

import pathlib
import subprocess

from rounds import Rounds, print_table, told_time

ROOT = pathlib.Path(__file__).parents[2]
READS, WRITES, CHANGES = 1_000_000, 20_000, 1000


class Programs:
    """What uses our library, and what uses Foundation's, which is linked dynamically."""

    def __init__(self, bench, desktop):
        self.environment = desktop.environment
        build = ["swift", "build", "--package-path", ROOT, "--configuration", "release",
                 "--traits", "Programs", "--static-swift-stdlib", "--quiet", "--product", "ClientProgram"]
        subprocess.run(build, check=True)
        self.ours = ROOT / ".build/release/ClientProgram"
        self.foundation = bench.tools.workplace / "userdefaults"
        source = pathlib.Path(__file__).parent / "foundation/userdefaults.swift"
        subprocess.run(["swiftc", "-O", "-o", self.foundation, source], check=True)

    def start(self, kind):
        return subprocess.Popen([self.ours, "measure", kind], text=True, env=self.environment,
                                stdout=subprocess.PIPE)

    def run(self, *arguments, program=None):
        words = [program, *arguments] if program else [self.ours, "measure", *arguments]
        return times(subprocess.run(list(map(str, words)), env=self.environment, check=True,
                                    capture_output=True, text=True).stdout)

    def changes(self, count):
        """From a write in one process to the element of a sequence in another."""
        receiver = self.start("receive")
        receiver.stdout.readline()
        self.run("send", count)
        return times(receiver.communicate(timeout=60)[0])


def times(output):
    told = {}
    for kind, time in map(str.split, output.splitlines()):
        told.setdefault(kind, []).append(float(time))
    return told


def measure(bench):
    desktop, rounds = bench.new_desktop(), Rounds()
    programs = Programs(bench, desktop)
    # Both services are there before anything is measured.
    desktop.call("ListDomains")
    desktop.run("dconfclient", "write", 1)
    for _ in bench.rounds(5):
        rounds.begin()
        reads, writes, changes = map(bench.few, (READS, WRITES, CHANGES))
        rounds.add(programs.run("read", reads))
        rounds.add(desktop.run("dconfclient", "read", reads))
        rounds.add(programs.run("read", reads, program=programs.foundation))
        rounds.add(programs.run("write", writes))
        rounds.add(desktop.run("dconfclient", "write", writes))
        rounds.add(programs.run("write", writes, program=programs.foundation))
        rounds.add(programs.run("first", 200))
        rounds.add(desktop.run("roundtrip", bench.few(600), bench.tools.ada, bench.tools.bob))
        rounds.add(programs.changes(changes))
        rounds.add(programs.run("ping", changes))
    bench.end_desktop(desktop)
    tell_library(rounds)
    tell_bus(rounds)


def tell_library(rounds):
    rows = (("read of a Bool by subscript", "subscript", "read", "0.25"),
            ("read of a Bool by property wrapper", "wrapper", "read", "0.25"),
            ("write that does not wait", "write", "write", "1"),
            ("the same, until the service has all", "flushed", "synced", "1"))
    print_table(
        "client: what is done in the process, beside libdconf and Foundation",
        ("what", "takes", "dconf", "of dconf", "half of rounds", "aim", "Foundation",
         "of Foundation"),
        [(words, told(rounds, kind), told(rounds, f"dconf-{peer}"),
          *rounds.told(kind, f"dconf-{peer}"), aim, told(rounds, f"foundation-{peer}"),
          f"{rounds.ratio(kind, f'foundation-{peer}'):.2f}")
         for words, kind, peer, aim in rows])


def tell_bus(rounds):
    rows = (("first read of a process", "first-of-process", "Ping", ""),
            ("first read of a further domain", "first", "Ping", ""),
            ("write here to element there", "change", "paced-ping", "1.5"))
    print_table(
        f"client: what asks the service; Ping of ours took {rounds.median('Ping'):.0f} us, and "
        f"{rounds.median('paced-ping'):.0f} us in the rhythm of the writes, with 500 us between",
        ("what", "takes", "of Ping", "half of rounds", "aim"),
        [(words, told(rounds, kind), *rounds.told(kind, peer), aim)
         for words, kind, peer, aim in rows])


def told(rounds, kind):
    """A time in words, in nanoseconds if it is below a microsecond."""
    microseconds = rounds.median(kind)
    return f"{microseconds * 1000:.3g} ns" if microseconds < 1 else told_time(microseconds)
