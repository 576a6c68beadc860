"""GLib's own tests of GSettings, from Debian's source package. They are fetched, and are not part of this
project."""

import os
import pathlib
import re
import shutil
import subprocess

import build
from session import HERE, require, require_equal

SOURCES = pathlib.Path(
    os.environ.get("DEFAULTSD_GLIB_SOURCE", HERE.parents[1] / ".build/gsettings/glib"))
"""Where GLib's sources are kept."""

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def release():
    """The name of the installed Debian."""
    text = pathlib.Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=(\w+)$", text, re.M)
    if not found or "ID=debian" not in text:
        raise build.Missing("GLib's tests come from Debian's source package, and this is no Debian")
    return found[1]


def fetch_sources():
    """GLib's sources of the installed version. The lists of packages of this machine stay as they are."""
    if (SOURCES / "gio/tests/gsettings.c").exists():
        return SOURCES
    build.need("apt-get", "dpkg-source")
    place = SOURCES.parent / "source"
    shutil.rmtree(place, ignore_errors=True)
    (place / "lists/partial").mkdir(parents=True)
    sources = place / "sources.list"
    sources.write_text(f"deb-src [signed-by={KEYRING}] http://deb.debian.org/debian {release()} main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={sources}",
           "-o", "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State::lists={place}/lists"]
    try:
        build.run(*apt, "update", cwd=place)
        build.run(*apt, "source", "--download-only", "glib2.0", cwd=place)
        archive, = place.glob("glib2.0_*.dsc")
        build.run("dpkg-source", "--no-check", "-x", archive, place / "glib", cwd=place)
    except RuntimeError as error:
        raise build.Missing(f"the source package glib2.0 cannot be had: {error}") from None
    (place / "glib").rename(SOURCES)
    shutil.rmtree(place)
    return SOURCES


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

TRIALS = [glibs_tests_pass, glibs_tests_pass_under_sanitizers, random_values_under_sanitizers]
