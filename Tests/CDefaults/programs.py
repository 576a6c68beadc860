"""The trials in C, as programs: one compiled as C, one as C++, and one with the sanitizers."""

import pathlib
import re
import shutil
import subprocess

from build import Missing, run

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "Sources/CDefaults"
SOURCES = [HERE / f"{name}.c" for name in ("values", "behaviour", "history", "loops")]
LOOPS = {"glib": "glib-2.0", "libuv": "libuv", "systemd": "libsystemd"}

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-pthread", "-g"]
KINDS = {
    "c": ["cc", "-std=c99", "-pedantic", "-Wstrict-prototypes", "-Wmissing-prototypes", "-O1"],
    "c++": ["c++", "-x", "c++", "-std=c++17", "-O1"],
    "sanitized": ["cc", "-std=c99", "-O1", "-fsanitize=address,undefined",
                  "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"],
}


class Program:
    """The trials of one kind."""

    def __init__(self, kind: str, library: pathlib.Path, workplace: pathlib.Path):
        self.kind, self.library, self.workplace = kind, library, workplace
        self.flags, absent = [], set()
        for loop, package in LOOPS.items():
            if subprocess.run(["pkg-config", "--exists", package]).returncode:
                absent.add(loop)
            else:
                self.flags.append(f"-DHAVE_{loop.upper()}")
                self.flags += run("pkg-config", "--cflags", "--libs", package).split()
        everything = [name for source in SOURCES for name in self.declared(source)]
        self.lacking = {name: f"there are no headers of {loop}" for name in everything
                        for loop in absent if f"_of_{loop}_" in name}
        self.names = [name for name in everything if name not in self.lacking]

    @staticmethod
    def declared(source: pathlib.Path) -> list[str]:
        return re.findall(r"^void (\w+)\(void\);$", source.read_text(), re.MULTILINE)

    def path(self) -> pathlib.Path:
        path = self.workplace / f"trials-{self.kind}"
        if not path.exists():
            compiler = KINDS[self.kind]
            if not shutil.which(compiler[0]):
                raise Missing(f"there is no compiler {compiler[0]}")
            main = self.workplace / "main.c"
            main.write_text(self.main())
            run(*compiler, *WARNINGS, "-I", HERE, "-I", HEADER, main, *SOURCES, "-o", path,
                "-x", "none", "-L", self.library, "-ldefaults", *self.flags)
        return path

    def main(self) -> str:
        """The program that runs the trial whose name it is given."""
        lines = ["#include <string.h>"]
        lines += [f"void {name}(void);" for name in self.names]
        lines += ["int main(int count, char **words) {", "    if (count != 2) return 64;"]
        lines += [f'    if (!strcmp(words[1], "{name}")) return {name}(), 0;' for name in self.names]
        return "\n".join([*lines, "    return 65;", "}", ""])
