"""GLib's own tests of GSettings, from Debian's source package. They are fetched, and are not part of this
project."""

import os
import pathlib
import re
import subprocess

import build
import sourcepackage
from session import HERE, require, require_equal

SOURCES = HERE.parents[1] / ".build/gsettings/glib"
"""Where GLib's sources are kept. DEFAULTSD_GLIB_SOURCE in the environment is another directory, which has them."""


def fetch_sources():
    """GLib's sources of the installed version."""
    if given := os.environ.get("DEFAULTSD_GLIB_SOURCE"):
        return pathlib.Path(given)
    try:
        return sourcepackage.fetch("glib2.0", SOURCES)
    except sourcepackage.Missing as reason:
        raise build.Missing(f"the source package glib2.0 cannot be had: {reason}") from None


def program(session, sanitized):
    build.need("glib-mkenums", "glib-compile-schemas")
    sources = fetch_sources()
    tests = sources / "gio/tests"
    # Without the C library's translations, the tests of these say that they are skipped.
    return build.program(
        session.workplace, tests / "gsettings.c", "-w", f"-I{tests}", f"-I{sources}/gio",
        "-I/usr/include/glib-2.0/glib", '-DG_LOG_DOMAIN="GLib-GIO"', f'-DSRCDIR="{tests}"',
        '-DGLIB_MKENUMS="glib-mkenums"', '-DGLIB_COMPILE_SCHEMAS="glib-compile-schemas"',
        f'-DTEST_LOCALE_PATH="{session.workplace}"', sanitized=sanitized)


def run_suite(session, sanitized=False, **variables):
    """Runs all tests of the program that this backend has: how many."""
    tests = program(session, sanitized)
    directory = session.home / "suite"
    directory.mkdir()
    environment = session.environment | variables
    environment.pop("GSETTINGS_SCHEMA_DIR")
    done = subprocess.run(
        [tests, "-k", "--tap", "-m", "no-undefined"], cwd=directory, env=environment,
        capture_output=True, text=True)
    planned = re.search(r"^1\.\.(\d+)", done.stdout, re.M)
    failed = re.findall(r"^not ok.*", done.stdout, re.M)
    passed = len(re.findall(r"^ok ", done.stdout, re.M))
    require(done.returncode == 0 and planned and not failed and passed == int(planned[1]) > 30,
            f"{passed} of {planned and planned[1]} passed, status {done.returncode}: {failed}\n"
            f"{done.stdout[-1500:]}{done.stderr[-3000:]}")
    return f"{passed} of {planned[1]}"


def glibs_tests_pass(session):
    return run_suite(session)


def glibs_tests_pass_under_sanitizers(session):
    """The tests leave objects behind at their end, so leaks are not reported."""
    words = run_suite(session, sanitized=True, ASAN_OPTIONS="detect_leaks=0", G_SLICE="always-malloc")
    return f"{words} under the address and undefined behaviour sanitizers"


glibs_tests_pass_under_sanitizers.is_sanitized = True


def random_values_under_sanitizers(session):
    tester = build.program(session.workplace, HERE / "random-values.c", sanitized=True)
    arguments = (HERE / "types.txt", 20, 1)
    session.run(tester, "write", *arguments)
    return session.run(tester, "read", *arguments)


random_values_under_sanitizers.is_sanitized = True

def threads_use_settings_at_once_under_sanitizers(session):
    """Meanwhile, the daemon is killed again and again."""
    threads = build.program(session.workplace, HERE / "threads.c", sanitized=True)
    writes = 1000 if session.is_thorough else 200
    with open(session.log, "a") as log:
        process = subprocess.Popen(
            [threads, "8", str(writes)], env=session.environment | {"ASAN_OPTIONS": "detect_leaks=0"},
            stderr=log)
    kills = 0
    while process.poll() is None:
        session.ctl("read", "org.defaultsd.test.other", "number", status=None)
        session.kill_daemon()
        kills += 1
    require_equal(process.returncode, 0, f"the status after {kills} kills: {session.log.read_text()}")
    for thread in range(8):
        require_equal(session.ctl("read", f"org.example.threads.thread-{thread}", "number"),
                      str(writes), "what is stored")
    return f"{kills} kills"


threads_use_settings_at_once_under_sanitizers.is_sanitized = True

TRIALS = [glibs_tests_pass, glibs_tests_pass_under_sanitizers, random_values_under_sanitizers,
          threads_use_settings_at_once_under_sanitizers]
