"""What the trials need built: the module, the schemas and the programs in C."""

import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "Sources/GSettingsModule"
SANITIZED = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
             "-fno-omit-frame-pointer"]
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC", "-shared"]


class Missing(Exception):
    """What a trial needs and this machine does not have."""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"there is no program {program}")


def library_flags(*options):
    need("pkg-config", "cc")
    found = subprocess.run(
        ["pkg-config", "--exists", "--print-errors", "gio-2.0"], stderr=subprocess.PIPE, text=True)
    if found.returncode:
        raise Missing(f"there are no headers of GIO (libglib2.0-dev): {found.stderr.strip()}")
    return run("pkg-config", *options, "gio-2.0", "gio-unix-2.0").split()


def module(workplace: pathlib.Path, sanitized=False) -> pathlib.Path:
    """The module; the sanitized one is for programs that are sanitized, too."""
    path = workplace / ("sanitized" if sanitized else "plain") / "libgsettingsdefaults.so"
    if not path.exists():
        path.parent.mkdir()
        run("cc", *FLAGS, *(SANITIZED if sanitized else ["-O2", "-g", "-Wl,-z,defs"]),
            *sorted(SOURCES.glob("*.c")), *library_flags("--cflags"), "-o", path,
            *library_flags("--libs"))
    return path


def program(workplace: pathlib.Path, source: pathlib.Path, *flags, sanitized=False) -> pathlib.Path:
    path = workplace / f"{source.stem}{'-sanitized' if sanitized else ''}"
    if not path.exists():
        run("cc", *(SANITIZED if sanitized else ["-O1", "-g"]), *flags, source,
            *library_flags("--cflags"), "-o", path, *library_flags("--libs"))
    return path


def schemas(workplace: pathlib.Path) -> pathlib.Path:
    """A directory with the schemas of the trials, which are compiled, and those for random values."""
    directory = workplace / "schemas"
    if not directory.exists():
        need("glib-compile-schemas")
        directory.mkdir()
        for file in (HERE / "schemas").iterdir():
            shutil.copy(file, directory)
        maker = program(workplace, HERE / "random-values.c")
        (directory / "random.gschema.xml").write_text(run(maker, "schema", HERE / "types.txt"))
        run("glib-compile-schemas", "--strict", directory)
    return directory
