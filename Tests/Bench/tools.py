"""The programs in C, compiled when first asked for, and the archives that they are given."""

import pathlib
import plistlib
import subprocess

SOURCES = pathlib.Path(__file__).parent / "c"
LIBRARIES = {"dconfkey": "dconf", "dconfclient": "dconf", "settings": "gio-2.0",
             "domains": "gio-2.0"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN = {"defaultsclient": ["-I", ROOT / "Sources/CDefaults", "-L", ROOT / ".build/library", "-ldefaults",
                          f"-Wl,-rpath,{ROOT / '.build/library'}"],
       "loading": ["-ldl"]}


class Tools:
    """What is measured, in a directory of programs, and what measures, compiled into another."""

    def __init__(self, directory, workplace):
        self.directory, self.workplace = directory, workplace
        self.ada, self.bob = (self.archive(name, account(name)) for name in ("ada", "bob"))

    def program(self, name):
        program = self.workplace / name
        if not program.exists():
            flags = OWN.get(name) or subprocess.run(
                ["pkg-config", "--cflags", "--libs", LIBRARIES.get(name, "dbus-1")],
                check=True, capture_output=True, text=True).stdout.split()
            subprocess.run(
                ["cc", "-O2", "-o", program, SOURCES / f"{name}.c", *flags], check=True)
        return program

    def archive(self, name, content):
        path = self.workplace / f"{name}.archive"
        path.write_bytes(content)
        return path


def keyed_archive(root, *others):
    """An archive of an object and those that it refers to, which begin with UID 2."""
    return plistlib.dumps({
        "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(1)},
        "$objects": ["$null", root, *others],
    }, fmt=plistlib.FMT_BINARY)


def account(username):
    """An archive as an app writes it: an object with one string."""
    uid = plistlib.UID
    return keyed_archive(
        {"$class": uid(3), "username": uid(2)}, username,
        {"$classname": "Account", "$classes": ["Account", "NSObject"]})


def large_data(byte, size):
    """An archive of this many bytes, with one data value."""
    return keyed_archive(bytes([byte]) * (size - len(keyed_archive(b"")) - 64))


def large_array(letter, strings):
    """An archive of an array of strings of 100 letters, all different."""
    uid = plistlib.UID
    return keyed_archive(
        {"$class": uid(2), "NS.objects": [uid(3 + number) for number in range(strings)]},
        {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]},
        *(f"{number:0>100}".replace("0", letter, 1) for number in range(strings)))
