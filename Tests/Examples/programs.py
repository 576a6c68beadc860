"""The examples, built as their head comments say, with the header and the library of the checkout."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

from build import Missing, need, run

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources"
EXAMPLES = SOURCES / "Examples/Player"
WARNINGS = "-Wall -Wextra -Werror"
CRATES = pathlib.Path("/usr/share/cargo/registry")
"""Where Debian has the sources of packages of Rust."""


class Programs:
    """Each is built when it is first asked for."""

    def __init__(self, library: pathlib.Path, workplace: pathlib.Path):
        self.folder, self.prefix = workplace / "examples", workplace / "prefix"
        shutil.copytree(EXAMPLES, self.folder)
        self.install(library)
        self.environment = {
            "PKG_CONFIG_PATH": f"{self.prefix}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{self.prefix}/lib",
            "PYTHONPATH": f"{self.prefix}/python", "CARGO_TARGET_DIR": "target"}
        self.built: dict[str, list[str]] = {}

    def install(self, library: pathlib.Path) -> None:
        """What 'make install' gives an author of programs."""
        for directory in ("include", "lib/pkgconfig"):
            (self.prefix / directory).mkdir(parents=True)
        (self.prefix / "include/defaults.h").symlink_to(SOURCES / "CDefaults/defaults.h")
        for name in ("libdefaults.so", "libdefaults.so.1"):
            (self.prefix / "lib" / name).symlink_to(library / "libdefaults.so.1")
        text = (SOURCES / "CDefaults/defaults.pc.in").read_text()
        for name, value in (("PREFIX", self.prefix), ("LIBDIR", f"{self.prefix}/lib"), ("VERSION", "1")):
            text = text.replace(f"@{name}@", str(value))
        (self.prefix / "lib/pkgconfig/defaults.pc").write_text(text)

    def command(self, name: str) -> list[str]:
        """The words that start an example."""
        if name not in self.built:
            self.built[name] = getattr(self, "build_" + name.replace("-", "_").replace(".", "_"))()
        return self.built[name]

    def compile(self, source: str, package: str, debian: str, *, folder: str = ".", flags: str = "") -> None:
        """Runs the command in the head comment of a source."""
        text = (self.folder / source).read_text()
        command = re.search(r"^\W* {4}((?:cc|c\+\+|cargo) .*)$", text, re.MULTILINE)[1]
        need(command.split()[0], "pkg-config")
        if subprocess.run(["pkg-config", "--exists", package]).returncode:
            raise Missing(f"there is no {debian}")
        run("sh", "-c", f"{command} {flags}", cwd=self.folder / folder, env=os.environ | self.environment)

    def build_player_gtk(self) -> list[str]:
        self.compile("player-gtk.c", "gtk4", "libgtk-4-dev", flags=WARNINGS)
        return [str(self.folder / "player-gtk")]

    def build_player_qt(self) -> list[str]:
        self.compile("player-qt.cpp", "Qt6Widgets", "qt6-base-dev", flags=WARNINGS)
        return [str(self.folder / "player-qt")]

    def build_player_gtk_py(self) -> list[str]:
        """The package for Python has no compiled part, so it is copied beside its declarations."""
        for module, package in (("cffi", "python3-cffi"), ("gi", "python3-gi")):
            if not importlib.util.find_spec(module):
                raise Missing(f"there is no {package}")
        has_gtk = "import gi; gi.require_version('Gtk', '4.0')"
        if subprocess.run([sys.executable, "-c", has_gtk], capture_output=True).returncode:
            raise Missing("there is no gir1.2-gtk-4.0")
        package = self.prefix / "python/defaults"
        shutil.copytree(SOURCES / "Python/src/defaults", package)
        declare = (f"import sys; sys.path.insert(0, '{SOURCES}/Python'); from build_declarations import ffi; "
                   f"ffi.emit_python_code('{package}/_declarations.py')")
        run(sys.executable, "-B", "-c", declare)
        return [str(self.folder / "player-gtk.py")]

    def build_player_sh(self) -> list[str]:
        return [str(self.folder / "player.sh")]

    def build_rust(self) -> list[str]:
        """The package dbus is that of Debian: nothing is fetched."""
        if not list(CRATES.glob("dbus-0.9.*")):
            raise Missing("there is no librust-dbus-dev")
        (self.folder / "rust/.cargo").mkdir(exist_ok=True)
        (self.folder / "rust/.cargo/config.toml").write_text(
            '[source.crates-io]\nreplace-with = "debian"\n'
            f'[source.debian]\ndirectory = "{CRATES}"\n[net]\noffline = true\n')
        self.compile("rust/src/main.rs", "dbus-1", "libdbus-1-dev", folder="rust")
        return [str(self.folder / "rust/target/debug/player")]
