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
        said = (done.stderr.strip() or done.stdout.strip() or "it failed").splitlines()
        # The last line of apt is only that something has failed.
        errors = [line for line in said if line.startswith("E: ")] or said[-1:]
        raise Missing(f"{command[0]}: {' '.join(errors)}")
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


def installed_version(package):
    """The version of a source package, parts of which are installed."""
    listed = run("dpkg-query", "--show", "--showformat=${source:Package} ${source:Version} ${db:Status-Status}\n")
    rows = [line.split() for line in listed.splitlines()]
    versions = {row[1] for row in rows if row[0] == package and row[-1] == "installed"}
    if len(versions) != 1:
        raise Missing(f"one version of {package} should be installed, and not {len(versions)}")
    return versions.pop()


def fetch(package, place):
    """Unpacks the sources of the installed version of a package, once; the directory, whose name begins as that of
    the place and ends with the version.

    The lists of packages of this machine stay as they are.
    """
    for program in ("apt-get", "dpkg-query", "dpkg-source"):
        if not shutil.which(program):
            raise Missing(f"{program} is missing")
    version = installed_version(package)
    destination = place.with_name(f"{place.name}-{version.replace(':', '_')}")
    if destination.exists():
        return destination
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
    run("apt-get", "-q", *options, "source", "--download-only", "--only-source", f"{package}={version}",
        directory=place)
    description, = place.glob("*.dsc")
    run("dpkg-source", "--no-check", "-x", description, place / "unpacked", directory=place)
    (place / "unpacked").rename(destination)
    shutil.rmtree(place)
    return destination
