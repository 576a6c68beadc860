"""Source packages of the distribution, for test programs of others. They are fetched, and are not part of this
project."""

import pathlib
import shutil
import subprocess

KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class Missing(Exception):
    """A source package cannot be had here, and why."""


def run(*command, directory=None):
    done = subprocess.run(
        [str(word) for word in command], cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip() or "it failed").splitlines()[-1]
        raise Missing(f"{command[0]}: {reason}")
    return done.stdout


def archives():
    """The archives that this machine takes its packages from, as lines of a list of sources."""
    targets = run(
        "apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
        "Created-By: Packages")
    lines = sorted({line for line in targets.splitlines() if len(line.split()) == 3})
    if not lines:
        raise Missing("apt has no lists of packages: apt-get update")
    return [f"deb-src [signed-by={KEYRING}] {line}" for line in lines]


def fetch(package, destination):
    """Unpacks the sources of the installed version of a package into a directory, once.

    The lists of packages of this machine stay as they are.
    """
    if destination.exists():
        return destination
    for program in ("apt-get", "dpkg-source"):
        if not shutil.which(program):
            raise Missing(f"{program} is missing")
    if not KEYRING.exists():
        raise Missing("the keys of Debian's archive are missing")
    place = destination.with_name(destination.name + ".unfinished").absolute()
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("lists/partial", "cache/archives/partial"):
        (place / folder).mkdir(parents=True)
    (place / "sources.list").write_text("\n".join(archives()) + "\n", encoding="utf-8")
    options = [
        "-o", f"Dir::Etc::sourcelist={place}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
        "-o", f"Dir::State::lists={place}/lists", "-o", f"Dir::Cache={place}/cache"]
    run("apt-get", "-q", *options, "update", directory=place)
    run("apt-get", "-q", *options, "source", "--download-only", "--only-source", package, directory=place)
    description, = place.glob("*.dsc")
    run("dpkg-source", "--no-check", "-x", description, place / "unpacked", directory=place)
    (place / "unpacked").rename(destination)
    shutil.rmtree(place)
    return destination
