"""What a burst of writes costs the disk, what is kept in memory, and that idling is free."""

import re
import subprocess


def rows_written(desktop):
    """Of each write to disk since the service began to log."""
    return [int(rows) for rows in re.findall(r"wrote (\d+) rows?", desktop.log.read_text())]


def measure_burst(bench, desktop, calls):
    desktop.call("Synchronize")
    before = len(rows_written(desktop))
    archives = [path.read_bytes() for path in (bench.tools.ada, bench.tools.bob)]
    for number in range(calls):
        desktop.call("Set", "(ssay)", "org.example.Burst", "Key", archives[number & 1])
    desktop.call("Synchronize")
    rows = rows_written(desktop)[before:]
    print(f"{calls} Sets of one key in a burst: {sum(rows)} rows in {len(rows)} flushes (aim 5)")


def count_system_calls(pid, seconds):
    trace = subprocess.run(
        ["timeout", "-s", "INT", str(seconds), "strace", "-f", "-p", str(pid)],
        capture_output=True, text=True).stderr
    # Those that the threads are blocked in are shown without a result: they do not end.
    return sum(1 for line in trace.splitlines() if ") = " in line)


def measure(bench):
    print("\nidle")
    desktop = bench.new_desktop()
    desktop.call("ListDomains")
    print("empty database: {:.2f} MB anonymous, {:.1f} whole".format(*desktop.memory()))
    measure_burst(bench, desktop, bench.few(10_000))
    desktop.call("Synchronize")
    print(f"system calls in 10 idle seconds: {count_system_calls(desktop.pid(), 10)} (aim 0)")
