"""Keyed archives in memory, beside Foundation's archiver and Python's property lists."""

import os
import pathlib
import plistlib
import subprocess
import timeit

from rounds import Rounds, print_table, told_time

ROOT = pathlib.Path(__file__).parents[2]
SPEED_AIM, PARSE_AIM = 20, 3
VALUES = {"options": "an object of two booleans", "books": "an array of 1 000 books"}
# What Foundation takes for the same; that bytes are right it only says by decoding them. What is
# decoded are Foundation's archives, but for our own ones.
PEERS = {"encode": "encode-foundation", "decode": "decode-foundation",
         "decode-own": "decode-foundation", "validate": "decode-foundation"}
# Python makes an object of each value; so does what is read here, and what is parsed leaves that.
PARSES = ("parse", "read")
REPETITIONS = 50


class Codec:
    """The program that measures, and what it is measured with."""

    def __init__(self, bench):
        build = ["swift", "build", "--configuration", "release", "--quiet", "--package-path",
                 ROOT / "Tests/Bench/codec", "--scratch-path", ROOT / ".build/bench-codec"]
        subprocess.run(build, check=True)
        self.program = ROOT / ".build/bench-codec/release/bench-codec"
        subprocess.run([self.program, "archives", bench.tools.workplace], check=True)
        self.archives = {name: (bench.tools.workplace / f"{name}.archive").read_bytes()
                         for name in VALUES}
        self.counter = bench.tools.workplace / "allocations.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.counter,
                        pathlib.Path(__file__).parent / "c/allocations.c"], check=True)

    def times(self):
        """One round: microseconds by task, Python's among them."""
        lines = subprocess.run([self.program, "times"], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        times = {kind: [float(time)] for kind, time in map(str.split, lines)}
        for name, archive in self.archives.items():
            number = REPETITIONS if name == "options" else 1
            seconds = timeit.timeit(lambda data=archive: plistlib.loads(data), number=number)
            times[f"{name}-python"] = [seconds / number * 1e6]
        return times

    def allocations(self, task):
        """How many a task makes, each time that it is carried out again."""
        few, many = (self.count(task, times) for times in (REPETITIONS, 2 * REPETITIONS))
        return (many - few) / REPETITIONS

    def count(self, task, times):
        # Hashes are the same each time, so that dictionaries grow when they did before.
        environment = {**os.environ, "LD_PRELOAD": str(self.counter),
                       "SWIFT_DETERMINISTIC_HASHING": "1"}
        done = subprocess.run([self.program, "repeat", task, str(times)], env=environment,
                              check=True, capture_output=True, text=True)
        return int(done.stderr.split()[-1])


def measure(bench):
    codec, rounds = Codec(bench), Rounds()
    for _ in bench.rounds(15):
        rounds.begin()
        rounds.add(codec.times())
    for name, words in VALUES.items():
        rows = [row(rounds, name, task, peer, SPEED_AIM) for task, peer in PEERS.items()]
        rows += [row(rounds, name, task, "python", PARSE_AIM if task == "parse" else "")
                 for task in PARSES]
        print_table(
            f"codec: {words}, {len(codec.archives[name])} bytes; validate beside Foundation's "
            "decode, parse and read beside Python's plistlib.loads",
            ("task", "takes", "peer", "times faster", "half of rounds", "aim"), rows)
    tell_allocations(codec)


def row(rounds, name, task, peer, aim):
    ours, theirs = f"{name}-{task}", f"{name}-{peer}"
    return (task, told_time(rounds.median(ours)), told_time(rounds.median(theirs)),
            *rounds.told(theirs, ours), aim)


def tell_allocations(codec):
    """A book is an object with five fields: two strings, two plain ones, an array of two strings."""
    tasks = [f"{verb}{peer}" for verb in ("encode", "decode") for peer in ("", "-foundation")]
    print_table(
        "codec: allocations", ("task", "an object of two booleans", "each book of 1 000"),
        [(task, f"{codec.allocations(f'options-{task}'):.1f}",
          f"{max(0, codec.allocations(f'books-{task}')) / 1000:.1f}")
         for task in (*tasks, "validate", "parse")])
