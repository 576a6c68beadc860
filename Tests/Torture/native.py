"""The programs in C that campaigns use."""

import os
import pathlib
import subprocess

from ground import Ground

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
SHARED = [TESTS / "PageReader/archive.c", TESTS / "PageReader/shared.c"]


def compiled(ground: Ground, name: str) -> pathlib.Path:
    """Compiles a program of `c` into the scratch directory."""
    return _compiled(ground, name, HERE / "c" / f"{name}.c", *SHARED)


def page_reader(ground: Ground) -> pathlib.Path:
    """Compiles PageReader into the scratch directory."""
    return _compiled(ground, "PageReader", *sorted((TESTS / "PageReader").glob("*.c")))


def _compiled(ground: Ground, name: str, *sources: pathlib.Path) -> pathlib.Path:
    program = ground.directory / name
    libdbus = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "dbus-1"], check=True, capture_output=True, text=True)
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra",
         "-Werror", f"-I{TESTS}/Bench/c", f"-I{TESTS}/PageReader", *sources,
         *libdbus.stdout.split(), "-o", program], check=True)
    return program


def started(
    program: pathlib.Path, *arguments: object, environment: dict[str, str]
) -> subprocess.Popen:
    """Starts a program that ends with this one at the latest."""
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", program, *map(str, arguments)],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
