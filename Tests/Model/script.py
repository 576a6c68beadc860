"""Prints a failure as a program of its own, which needs nothing of the model test."""

import plistlib
from plistlib import UID

from gi.repository import GLib

from check import Event, Failure
from model import Among, Between, OneOf
from refusals import Call, Refused
from privatebus import NO_REPLY
from service import NOT_TAKEN, Reply
from values import Value, bytes_of
from wire import arguments

LONGEST = 2000
"""Characters of an answer that are compared."""

MANY = 10
"""Keys that are written one by one."""

HEADER = '''#!/usr/bin/python3
"""Shows where defaultsd differs from its contract: the {what}.

usage: python3 THIS-FILE DIRECTORY-OF-PROGRAMS
Ends with 3 while the service does what is told at the end, and with 0 when it does not.{timing}
"""
import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile
{imports}from gi.repository import Gio, GLib

NAME, OBJECT = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
home = tempfile.TemporaryDirectory()
work = home.name
for folder in ("config", "runtime", "services"):
    os.mkdir(f"{{work}}/{{folder}}", mode=0o700)
pathlib.Path(f"{{work}}/services/{{NAME}}.service").write_text(
    f"[D-BUS Service]\\nName={{NAME}}\\nExec={{os.path.abspath(sys.argv[1])}}/defaultsd\\n")
pathlib.Path(f"{{work}}/bus.conf").write_text(f"""<busconfig>
<type>session</type><listen>unix:dir={{work}}</listen><servicedir>{{work}}/services</servicedir>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
</policy></busconfig>""")
bus = subprocess.Popen(
    ["setpriv", "--pdeathsig", "KILL", "dbus-daemon", f"--config-file={{work}}/bus.conf",
     "--nofork", "--print-address"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    env=os.environ | {{"XDG_CONFIG_HOME": f"{{work}}/config",
                      "XDG_RUNTIME_DIR": f"{{work}}/runtime",
                      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}})
address = bus.stdout.readline().strip()
callers = [Gio.DBusConnection.new_for_address_sync(
    address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
    | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None) for _ in range({callers})]


direct = {{}}


def reach(by):
    # Each second caller uses the daemon's socket.
    if by % 2 == 0:
        return callers[by]
    if by not in direct:
        # The daemon is started, and listens when it has answered.
        callers[0].call_sync(
            NAME, OBJECT, "org.freedesktop.DBus.Peer", "Ping", None, None, 0, -1, None)
        direct[by] = Gio.DBusConnection.new_for_address_sync(
            f"unix:path={{work}}/runtime/defaultsd/direct",
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
    return direct[by]


def answer(to_call):
    try:
        return to_call().print_(True)[:{longest}]
    except GLib.Error as error:
        if error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CLOSED):
            return "{no_reply}"
        return Gio.dbus_error_get_remote_error(error) or "no answer"


def body(signature="()", *arguments):
    # What Python cannot write, as a key twice, is in GLib's own text.
    return (GLib.Variant(signature, arguments) if signature
            else GLib.Variant.parse(None, *arguments, None, None))


def call(by, method, *arguments):
    return answer(lambda: reach(by).call_sync(
        NAME, OBJECT, NAME, method, body(*arguments), None, 0, -1, None))
'''

BUS = '''

def ask_bus(method):
    return callers[0].call_sync(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method,
        GLib.Variant("(s)", (NAME,)), None, 0, -1, None).unpack()[0]


def daemon():
    callers[0].call_sync(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
        "StartServiceByName", GLib.Variant("(su)", (NAME, 0)), None, 0, -1, None)
    return ask_bus("GetNameOwner"), ask_bus("GetConnectionUnixProcessID")


def wait_for_the_end(of):
    try:
        while ask_bus("GetNameOwner") == of:
            pass
    except GLib.Error:
        pass  # It has no owner.
    while not all(connection.is_closed() for connection in direct.values()):
        GLib.MainContext.default().iteration(True)
    direct.clear()
'''

SIGNAL = '''

def send(signal):
    owner, process = daemon()
    os.kill(process, signal)
    if signal != 1:
        wait_for_the_end(owner)
'''

END = '''

def has_ended(process):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            state = "Z"
        if state == "Z":
            return True
    os.kill(process, 9)
    return False
'''

TOGETHER = '''

def together(calls, signal=None, after=0, wait=0):
    owner, process = daemon()
    answers = [None] * len(calls)

    def send(place, by, method, *arguments):
        def finish(connection, result):
            answers[place] = answer(lambda: connection.call_finish(result))
        reach(by).call(
            NAME, OBJECT, NAME, method, body(*arguments), None, 0, -1, None, finish)

    for place, arguments in enumerate(calls):
        send(place, *arguments)
    while signal and sum(answer is not None for answer in answers) < after:
        GLib.MainContext.default().iteration(True)
    if signal:
        time.sleep(wait / 1_000_000)
        os.kill(process, signal)
    while None in answers:
        GLib.MainContext.default().iteration(True)
    if signal and signal != 1:
        wait_for_the_end(owner)
    return answers
'''

WATCH = '''

signals = []
callers[-1].signal_subscribe(
    None, NAME, "Changed", OBJECT, None, 0, lambda *told: signals.append(told[5].print_(True)))


def heard():
    """The signals since it was asked last: the service says how many it has still to send."""
    while callers[-1].call_sync(
            NAME, OBJECT, "org.defaultsd.Maintenance1", "GetStatistics", None, None, 0, -1, None
            ).unpack()[0]["WaitingSignals"]:
        pass
    while GLib.MainContext.default().iteration(False):
        pass
    told = str(signals)
    signals.clear()
    return told
'''

PROPERTIES = '''

def properties():
    found = callers[0].call_sync(
        NAME, OBJECT, "org.freedesktop.DBus.Properties", "GetAll", GLib.Variant("(s)", (NAME,)),
        None, 0, -1, None).unpack()[0]
    return {name: found[name]
            for name in ("Generation", "DurableGeneration", "RecordStart", "PendingChanges",
                         "StorageError")}
'''

PAGE = '''

def attach():
    _, descriptors = callers[0].call_with_unix_fd_list_sync(
        NAME, OBJECT, NAME, "Attach", GLib.Variant("(as)", ([],)), None, 0, -1, None, None)
    file = descriptors.get(0)
    return memoryview(mmap.mmap(file, 0, mmap.MAP_SHARED, mmap.PROT_READ)).cast("Q")


def counter(domain):
    number = 0xCBF29CE484222325
    for byte in domain.partition("@")[0].encode():
        number = (number ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return page[16 + number % page[1]]
'''

ARCHIVE = '''

def archive(objects, top={"root": UID(1)}):
    return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": top,
                           "$objects": objects}, fmt=plistlib.FMT_BINARY, sort_keys=False)
'''


LAST = '''bus.kill()
lock = pathlib.Path(f"{work}/config/defaultsd/lock")
if lock.exists():
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # The daemon would make its directories again.
'''


def script(failure: Failure) -> str:
    """The program; it does what was done, and compares what comes of it at the end."""
    lines, then = _lines(failure)
    body = "\n".join(lines)
    parts = [(text, imports) for text, names, imports in PARTS
             if any(f"{name}(" in body for name in names)]
    callers = 1 + max([call["by"] for event in failure.events for call in event.calls], default=0)
    head = HEADER.format(
        what=failure.what, callers=max(callers, 3) + 1, longest=LONGEST,
        imports="".join(imports for _, imports in parts), no_reply=NO_REPLY,
        timing="\nCalls meet in flight here: it may take some runs." * ("together(" in body))
    return (head + "".join(text for text, _ in parts) + f"\n\n{body}\nthen = {_source(then)}\n"
            + f'print("the model: ", {_brief(failure.expected)[:LONGEST]!r})\n'
            + 'print("it did:    ", then)\nprint("it does now:", now)\n'
            + LAST + "sys.exit(3 if now == then else 0)\n")


PARTS = [
    (BUS, ("send", "together", "daemon"), ""), (SIGNAL, ("send",), ""),
    (END, ("has_ended",), "import time\n"),
    (TOGETHER, ("together",), "import time\n"), (WATCH, ("heard",), ""),
    (PROPERTIES, ("properties",), ""), (PAGE, ("attach",), "import mmap\n"),
    (ARCHIVE, ("archive",), "import plistlib\nfrom plistlib import UID\n"),
]
"""The parts of a program, the functions for which each is needed, and what it imports."""


def _lines(failure: Failure) -> tuple[list[str], object]:
    """The lines of the program, the last of which sets `now`, and what that was here."""
    *earlier, last = failure.events
    lines = [f"{_line(event)}  # {str(_came(event))[:60]}" for event in earlier]
    if failure.what == "Changed signals":
        told = str([arguments.print_(True) for arguments in last.heard])
        return lines + ["heard()", _line(last), "now = heard()"], told
    if "on the page" in failure.what:
        attached = next(place for place, event in enumerate(failure.events)
                        if any(call["method"] == "Attach" for call in event.calls))
        lines += [_line(last)]
        lines[attached] = "page = attach()"
        return lines + [f"now = counter({failure.what.split()[2]!r})"], failure.came
    if failure.what.startswith("end of the daemon"):
        ending = [_line(last), "_, process = daemon()", "bus.kill()"]
        if last.step["do"] == "signal":
            ending = ["_, process = daemon()", f"os.kill(process, {SIGNALS[last.step['signal']]})"]
        return lines + [*ending, "now = has_ended(process)"], False
    return lines + [f"now = {_line(last)}"], _came(last)


def _came(event: Event) -> object:
    """What the program's line for an event gives."""
    answers = [answer.body.print_(True)[:LONGEST] if isinstance(answer, Reply)
               else NO_REPLY if answer.name == NOT_TAKEN else answer.name
               for answer in event.answers]
    match event.step["do"]:
        case "look":
            return {name: event.properties[name] for name in (
                "Generation", "DurableGeneration", "RecordStart", "PendingChanges",
                "StorageError")}
        case "together":
            return answers
    return answers[0] if answers else None


def _line(event: Event) -> str:
    step = event.step
    match step["do"]:
        case "look":
            return "properties()"
        case "signal":
            return f"send({SIGNALS[step['signal']]})"
        case "together":
            calls = "".join(f"\n    ({_call(call)})," for call in event.calls)
            signal = ""
            if step["signal"]:
                signal = (f", signal={SIGNALS[step['signal']]}, after={step['after']}, "
                          f"wait={step['wait']}")
            return f"together([{calls}\n]{signal})"
    return f"call({_call(event.calls[0])})"


SIGNALS = {"HUP": 1, "KILL": 9, "TERM": 15}


def _call(call: Call) -> str:
    """The arguments of `call`."""
    parts = [str(call["by"]), repr(call["method"])]
    body = arguments(call)
    places = [body.get_child_value(place) for place in range(body.n_children())]
    if any(map(_has_twice, places)):
        parts += ["None", repr(body.print_(True))]
    elif places:
        parts += [repr(body.get_type_string()), *map(_argument, places)]
    return ", ".join(parts)


def _has_twice(part: GLib.Variant) -> bool:
    """Whether it is a dictionary that has a key twice."""
    return part.get_type_string().startswith("a{") and len(part.keys()) > len(set(part.keys()))


def _argument(part: GLib.Variant) -> str:
    """The source of an argument as GLib takes it."""
    kind = part.get_type_string()
    if kind == "ay":
        return _archive(bytes_of(part))
    if kind == "v":
        return f"GLib.Variant.parse(None, {part.get_variant().print_(True)!r}, None, None)"
    if kind == "as" and part.n_children() >= MANY and (name := _numbered(part.unpack())):
        return f"[{name} for n in range({part.n_children()})]"
    if kind == "as":
        return "[" + ", ".join(_source(key) for key in part.unpack()) + "]"
    if kind.startswith("a{"):
        entries = [part.get_child_value(place) for place in range(part.n_children())]
        pairs = [(_source(entry.get_child_value(0).unpack()), _argument(entry.get_child_value(1)))
                 for entry in entries]
        name = _numbered([entry.get_child_value(0).unpack() for entry in entries])
        if len(entries) >= MANY and name and len({value for _, value in pairs}) == 1:
            return f"{{{name}: {pairs[0][1]} for n in range({len(pairs)})}}"
        return "{" + ", ".join(": ".join(pair) for pair in pairs) + "}"
    return _source(part.unpack())


def _numbered(keys: list[str]) -> str | None:
    """The source of keys that are a name and 0, 1, 2…"""
    if not keys or not keys[0].endswith("0"):
        return None
    name = keys[0][:-1]
    return f"{_source(name)} + str(n)" if keys == [
        f"{name}{number}" for number in range(len(keys))] else None


def _archive(data: bytes) -> str:
    try:
        contents = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        source = f"archive({_source(contents['$objects'])}"
        if contents["$top"] != {"root": UID(1)}:
            source += f", {_source(contents['$top'])}"
        return source + ")"
    except (KeyError, ValueError, plistlib.InvalidFileException, IndexError):
        return repr(data)


def _source(item: object) -> str:
    """The source of plain data, short for long texts of one letter."""
    match item:
        case str() if len(item) > 20 and len(set(item)) == 1:
            return f"{item[0]!r} * {len(item)}"
        case list():
            return "[" + ", ".join(map(_source, item)) + "]"
        case dict():
            return "{" + ", ".join(
                f"{_source(key)}: {_source(value)}" for key, value in item.items()) + "}"
    return repr(item)


def _brief(expected: object) -> str:
    """What the model expects, for people."""
    match expected:
        case Refused():
            details = f" with {_source(list(expected.details))}" if expected.details else ""
            return f"error {expected}{details}"
        case OneOf():
            return " or ".join(map(_brief, expected.answers))
        case Among(keys, maybe):
            return f"{_source(list(keys))}, perhaps without {_source(sorted(maybe))}"
        case Between(low, high):
            return f"{low} or more" if high is None else f"{low} to {high}"
        case Value():
            return _archive(expected.archive)
        case list():
            return "[" + ", ".join(map(_brief, expected)) + "]"
        case tuple():
            return "(" + ", ".join(map(_brief, expected)) + ")"
    return _source(expected)[:LONGEST]
