"""Layers that are made of files: what a lookup adds to Get, and what very many files cost."""

import json
import shutil
import subprocess
import time

from desktop import Stopped
from rounds import Rounds, print_table, told_time

FILES, KEYS = 1000, 100
CHANGED = "org.example.App0500"


def measure(bench):
    desktop = bench.new_desktop()
    look_up(bench, desktop)
    bench.end_desktop(desktop)
    empty, full = bench.new_desktop(), bench.new_desktop()
    for number in range(FILES):
        put(full, "vendor", f"org.example.App{number:04}", values(number))
    start(bench, {0: empty, FILES: full})
    change(bench, full)
    for each in (empty, full):
        bench.end_desktop(each)


def put(desktop, place, domain, contents):
    directory = desktop.home / place
    directory.mkdir(exist_ok=True)
    (directory / f"{domain}.json").write_text(json.dumps(contents))


def values(number):
    return {f"key{key}": number + key if key % 2 else f"the text of key {key}"
            for key in range(KEYS)}


def look_up(bench, desktop):
    """Each of the eight layers is there, and only the last has the key."""
    archive = bench.tools.ada.read_bytes()
    for place in ("managed", "vendor"):
        for domain in ("org.example.Eight", "NSGlobalDomain"):
            put(desktop, place, domain, {place: 1})
    put(desktop, "vendor", "NSGlobalDomain", {"Key": "of the vendor"})
    for domain in ("org.example.One", "org.example.One@host"):
        desktop.call("Set", "(ssay)", domain, "Key", archive)
    desktop.call("Remove", "(ss)", "org.example.One@host", "Key")
    for domain in ("org.example.Eight", "org.example.Eight@host", "NSGlobalDomain",
                   "NSGlobalDomain@host"):
        desktop.call("Set", "(ssay)", domain, "Other", archive)
    layer = desktop.call("Lookup", "(ss)", "org.example.Eight", "Key")[1]
    if layer != "global-system":
        raise Stopped(f"the key is in the layer {layer}")
    rounds = Rounds()
    for _ in bench.rounds(3):
        rounds.begin()
        rounds.add(desktop.run("layers", "lookup", bench.few(3000)))
    rows = (("Get", "Get"), ("Lookup", "Get"), ("LookupValue", "Get"),
            ("Get-last", "Get-last"), ("Lookup-last", "Get-last"), ("LookupValue-last", "Get-last"))
    print_table(
        "layers: a key of the domain, and one that only the last of eight layers has",
        ("call", "takes", "of Get", "half of rounds", "of Ping", "p99, us"),
        [(kind, told_time(rounds.median(kind)), *rounds.told(kind, get),
          rounds.told(kind, "Ping")[0], f"{rounds.tail(kind):.0f}") for kind, get in rows])


def start(bench, desktops):
    """The first start of a database takes the files in; later ones look whether they are the same."""
    rounds, memory = Rounds(), {}
    for _ in bench.rounds(9):
        rounds.begin()
        for files, desktop in desktops.items():
            desktop.end_service()
            shutil.rmtree(desktop.home / "config" / "defaultsd", ignore_errors=True)
            desktop.forget_session()
            for kind in ("first", "again"):
                desktop.end_service()
                rounds.add({kind: desktop.run("start", "ours")["ours"]}, of=files)
                memory[kind, files] = desktop.memory()
    print_table(
        f"layers: exec to the first reply, with files of {KEYS} keys",
        ("files", "first start", "later", "of 0 files", "half of rounds",
         "MB anonymous, first", "later", "MB resident, first", "later"),
        [(files, told_time(rounds.median(("first", files))),
          told_time(rounds.median(("again", files))), *rounds.told(("again", files), ("again", 0)),
          *(f"{memory[kind, files][part]:.1f}" for part in (0, 1) for kind in ("first", "again")))
         for files in desktops])


def change(bench, desktop):
    """One of the files is changed: until everybody knows, and until dconf has compiled its own."""
    desktop.call("ListDomains")
    contents = [bench.tools.archive(f"layer{number}", json.dumps(values(number)).encode())
                for number in (1, 2)]
    profile, keyfiles = desktop.home / "profile", desktop.home / "keyfiles"
    profile.write_text(f"file-db:{desktop.home}/compiled\n")
    keyfiles.mkdir()
    for number in range(FILES):
        lines = "".join(f"{key}={json.dumps(value)}\n" for key, value in values(number).items())
        (keyfiles / f"app{number:04}").write_text(f"[org/example/app{number:04}]\n{lines}")
    environment = {**desktop.environment, "DCONF_PROFILE": str(profile)}
    rounds = Rounds()
    for _ in bench.rounds(5):
        rounds.begin()
        rounds.add(desktop.run("layers", "changed", 10, CHANGED,
                               desktop.home / "vendor" / f"{CHANGED}.json", *contents))
        rounds.add({"compile": [run(environment, "dconf", "compile",
                                    desktop.home / "compiled", keyfiles)]})
        rounds.add({"read": [run(environment, "dconf", "read", "/org/example/app0500/key1")]})
    print_table(
        f"layers: one of {FILES} files is changed; Ping of ours took {rounds.median('Ping'):.0f} us",
        ("what", "takes", "of Ping"),
        [(words, told_time(rounds.median(kind)), f"{rounds.ratio(kind, 'Ping'):.1f}")
         for words, kind in (("rename to the signal Changed", "changed"),
                             ("dconf compile, as dconf update does", "compile"),
                             ("dconf read, which nobody is told to do", "read"))])


def run(environment, *command):
    began = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode or command[1] == "read" and not done.stdout.strip():
        raise Stopped(f"{command[0]} {command[1]}: {done.stderr.strip()}")
    return (time.monotonic() - began) * 1e6
