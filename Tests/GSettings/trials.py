"""What may happen while programs use the module. Each trial is a function of a session."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from privatebus import BUS, BUS_OBJECT, NAME, activation_file
from servicemanager import ServiceManager
from session import Failure, require, require_equal

PLAIN, CHILD, OTHER = (f"org.defaultsd.test.{name}" for name in ("plain", "child", "other"))
ANYWHERE = "org.defaultsd.test.anywhere"


def on_the_bus(session):
    """The variables of a program in whose runtime directory no daemon listens."""
    other = session.home / "elsewhere"
    other.mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(other)}


def values_are_seen_by_every_program(session):
    one, two = session.client(), session.client()
    require_equal(two.tell("get", PLAIN, "number"), 0, "the default")
    require_equal(one.tell("set", PLAIN, "number", "7"), True, "set")
    one.wait_for("changed", "number")
    two.wait_for("changed", "number")
    require_equal(two.tell("get", PLAIN, "number"), 7, "what another program has set")
    one.tell("sync")
    require_equal(session.ctl("read", PLAIN, "number"), "7", "defaultsctl read")
    session.ctl("write", PLAIN, "text", "mine")
    two.wait_for("changed", "text")
    require_equal(two.tell("get", PLAIN, "text"), "mine", "what defaultsctl has written")
    session.ctl("delete", PLAIN, "text")
    two.wait_for("changed", "text")
    require_equal(two.tell("get", PLAIN, "text"), "default", "the value after defaultsctl delete")


def a_read_is_never_older_than_an_acknowledged_change(session):
    """The program has no chance to hear of the change by a signal."""
    reader = session.client()
    for number in range(1, 30):
        session.ctl("write", PLAIN, "number", "-int", number)
        require_equal(reader.tell("get", PLAIN, "number"), number, "a read after the change")


def a_killed_daemon_is_replaced(session):
    writer, reader = session.client(), session.client()
    require_equal(reader.tell("get", OTHER, "number"), 0, "the default")
    for turn in range(5):
        require(writer.tell("set_many", PLAIN, "number", turn * 1000, turn * 1000 + 1000), "set")
        session.kill_daemon()
        require(writer.tell("set", PLAIN, "text", f"'turn {turn}'"), "set without a daemon")
        require_equal(writer.tell("get", PLAIN, "text"), f"turn {turn}", "the own value")
        writer.tell("sync")
        require_equal(
            session.ctl("read", PLAIN, "number"), str(turn * 1000 + 999), "what is stored")
        require_equal(session.ctl("read", PLAIN, "text"), f"turn {turn}", "what is stored")
        # The reader hears of the next daemon's changes.
        session.ctl("write", OTHER, "number", "-int", turn + 1)
        reader.wait_for("changed", "number")
        require_equal(reader.tell("get", OTHER, "number"), turn + 1, "after the daemon's end")


def a_daemon_is_replaced_again_and_again_on_the_bus(session):
    """Answers for a daemon that has ended come when the next one is used already."""
    writer = session.client(**on_the_bus(session))
    for turn in range(1, 12):
        require(writer.tell("set_many", PLAIN, "number", turn * 1000, turn * 1000 + 300), "set")
        session.kill_daemon()
        require(writer.tell("set_many", PLAIN, "number", turn * 1000, turn * 1000 + 500), "set")
        require(writer.tell("get", OTHER, "number") == 0, "the value of another domain")
        writer.tell("sync")
        require_equal(session.ctl("read", PLAIN, "number"), str(turn * 1000 + 499), "what is stored")


def a_daemon_is_replaced_by_another(session):
    """The next daemon has the name before the first one closes its connections."""
    writer, reader = session.client(), session.client()
    require_equal(reader.tell("get", OTHER, "number"), 0, "the default")
    for turn in range(1, 6):
        require(writer.tell("set_many", PLAIN, "number", turn * 1000, turn * 1000 + 1000), "set")
        session.replace_daemon()
        writer.tell("sync")
        require_equal(
            session.ctl("read", PLAIN, "number"), str(turn * 1000 + 999), "what is stored")
        session.ctl("write", OTHER, "number", "-int", turn)
        reader.wait_for("changed", "number")
        require_equal(reader.tell("get", OTHER, "number"), turn, "after the replacement")


def a_bus_that_ends_takes_nothing(session):
    writer = session.client()
    require(writer.tell("set", PLAIN, "number", "1"), "set")
    writer.tell("sync")
    daemon = os.pidfd_open(session.daemon())
    session.bus.stop()
    # The daemon ends with its bus, and the next one begins with the next bus.
    import select
    select.select([daemon], [], [])
    require(writer.tell("set", PLAIN, "number", "2"), "set without a bus")
    require_equal(writer.tell("get", PLAIN, "number"), 2, "the own value")
    session.bus.start()
    while session.ctl("read", PLAIN, "number") != "2":
        pass


def a_lock_comes_and_goes(session):
    client, file = session.client(), session.managed / f"{PLAIN}.json"
    require(client.tell("writable", PLAIN, "number"), "a key without a lock is writable")
    require(client.tell("set", PLAIN, "number", "3"), "set")
    client.tell("sync")
    file.write_text(json.dumps({"text": "theirs", "$locked": ["num*"]}))
    client.wait_for("writable-changed", "number")
    require_equal(client.tell("writable", PLAIN, "number"), False, "a locked key is writable")
    require_equal(client.tell("writable", PLAIN, "text"), False, "a managed key is writable")
    require_equal(client.tell("writable", PLAIN, "small"), True, "a free key is writable")
    require_equal(client.tell("set", PLAIN, "number", "4"), False, "set of a locked key")
    require_equal(client.tell("get", PLAIN, "number"), 3, "the value of a locked key")
    require_equal(client.tell("get", PLAIN, "text"), "theirs", "the managed value")
    require_equal(client.tell("user", PLAIN, "text"), None, "the user's value")
    file.unlink()
    client.wait_for("writable-changed", "number")
    require_equal(client.tell("writable", PLAIN, "number"), True, "writable after the lock's end")
    require_equal(client.tell("get", PLAIN, "text"), "default", "the value after the lock's end")


def values_of_wrong_types_are_defaults(session):
    for key, kind, value in [
            ("number", "-string", "five"), ("text", "-int", "5"), ("words", "-dict-add", None),
            ("small", "-int", "256"), ("maybe", "-float", "1.5")]:
        session.ctl(*(["write", PLAIN, key, kind, value] if value else
                      ["write", PLAIN, key, "-dict", "a", "b"]))
    deep = "1"
    for _ in range(25):
        deep = f'[{deep}]'
    session.ctl("write", PLAIN, "anything", "--json", deep)
    session.ctl("write", OTHER, "number", "--json",
                '{"$class":"GVariant","type":"(((","value":[1]}')
    client = session.client()
    for key, default in [("number", 0), ("text", "default"), ("words", []), ("small", 7),
                         ("maybe", None)]:
        for _ in range(3):
            require_equal(client.tell("get", PLAIN, key), default, f"the value of {key}")
    require_equal(client.tell("get", OTHER, "number"), 0, "a marker with a wrong type")
    require(client.tell("set", PLAIN, "number", "5"), "set")
    require_equal(client.tell("get", PLAIN, "number"), 5, "a value in place of a wrong one")
    messages = client.end()
    require_equal(messages.count("/number is not of type i"), 2, f"messages in {messages}")


def a_hostile_value_does_not_hide_its_neighbours(session):
    """As deep as the service stores."""
    session.ctl("write", PLAIN, "number", "-int", "5")
    for depth in (20, 28, 29, 30, 31, 32, 40, 60, 100):
        session.ctl("write", PLAIN, "anything", "--json", "[" * depth + "1" + "]" * depth,
                    status=None)
        client = session.client()
        require_equal(client.tell("get", PLAIN, "number"), 5, f"beside a value of depth {depth}")
        client.tell("get", PLAIN, "anything")
        client.end()


def deep_values_are_refused_at_once(session):
    client = session.client()
    for depth, is_made in ((5, True), (16, True), (40, False), (100, False)):
        text = "<" * depth + "1" + ">" * depth
        require_equal(client.tell("set", PLAIN, "anything", text), is_made, f"depth {depth}")
    for depth in range(20, 30):
        if client.tell("set", PLAIN, "anything", "<@av [" * depth + "]>" * depth):
            client.tell("set", PLAIN, "number", str(depth))
            client.tell("sync")
            require_equal(session.ctl("read", PLAIN, "number"), str(depth), "a later change")
            reader = session.client()
            require_equal(reader.tell("get", PLAIN, "number"), depth, f"beside av of {depth}")
            require_equal(reader.tell("get", PLAIN, "anything"),
                          client.tell("get", PLAIN, "anything"), "the deep value")
            reader.end()


def a_refused_change_flips_back(session):
    session.ctl("write", "org.defaultsd.Quotas", OTHER, "--json", '{"DomainKeys": 0}')
    client = session.client()
    require_equal(client.tell("get", OTHER, "number"), 0, "the default")
    require(client.tell("set", OTHER, "number", "5"), "set")
    require(client.tell("set", PLAIN, "number", "6"), "set")
    client.tell("sync")
    # The first signal is that of the write, and the second that of the refusal.
    client.tell("get", OTHER, "number")
    while client.tell("get", OTHER, "number") != 0:
        pass
    require_equal(client.tell("get", PLAIN, "number"), 6, "another change of the same time")
    require_equal(session.ctl("read", PLAIN, "number"), "6", "another change of the same time")
    require("refused" in client.end(), "a message says that a change was refused")


def without_any_service_nothing_can_be_changed(session):
    """No success is reported for what is not kept."""
    client = session.client(**nowhere(session), PATH="/usr/bin")
    require_equal(client.tell("get", PLAIN, "number"), 0, "the default")
    require_equal(client.tell("writable", PLAIN, "number"), False, "writable")
    require_equal(client.tell("set", PLAIN, "number", "5"), False, "set")
    require_equal(client.tell("get", PLAIN, "number"), 0, "the value after a refused change")
    client.tell("sync")
    messages = client.end()
    for words in ("are not stored", "cannot be changed"):
        require_equal(messages.count(words), 1, f"messages in {messages}")
    session.gsettings("set", PLAIN, "number", "5", status=1, **nowhere(session))


def nowhere(session):
    """The variables of a program that has no bus, as one of cron, and knows no runtime directory."""
    return {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={session.home}/no-bus", "XDG_RUNTIME_DIR": ""}


def without_a_bus_the_running_daemon_is_used(session):
    session.ctl("write", PLAIN, "number", "-int", "5")
    require_equal(session.gsettings("get", PLAIN, "number", **nowhere(session)), "5", "the value")
    session.gsettings("set", PLAIN, "number", "6", **nowhere(session))
    require_equal(session.ctl("read", PLAIN, "number"), "6", "what was set")


def without_a_daemon_a_program_runs_its_own(session):
    session.bus.stop()
    variables = nowhere(session) | {"PATH": f"{session.programs}:/usr/bin:/bin"}
    for number in range(1, 4):
        session.gsettings("set", PLAIN, "number", number, **variables)
        require_equal(session.gsettings("get", PLAIN, "number", **variables), str(number), "the value")
    # Several programs have their turns.
    clients = [session.client(**variables) for _ in range(3)]
    for number, client in enumerate(clients):
        require(client.tell("set", PLAIN, "number", str(number)), "set")
        client.tell("sync")
    session.bus.start()
    require_equal(session.ctl("read", PLAIN, "number"), "2", "what the service has")


def a_forked_child_reads_and_changes_nothing(session):
    client = session.client()
    require(client.tell("set", PLAIN, "number", "5"), "set")
    client.tell("sync")
    answers = client.tell(
        "fork", ["get", PLAIN, "number"], ["set", PLAIN, "number", "6"], ["get", PLAIN, "number"],
        ["get", OTHER, "number"], ["writable", PLAIN, "number"], ["sync"])
    require_equal(answers, [5, False, 5, 0, False, None], "the answers of the child")
    require(client.tell("set", PLAIN, "number", "7"), "set in the parent")
    client.tell("sync")
    require_equal(session.ctl("read", PLAIN, "number"), "7", "the parent's value")


def a_stopped_daemon_blocks_no_program(session):
    client = session.client()
    require_equal(client.tell("get", PLAIN, "number"), 0, "the default")
    daemon = session.daemon()
    os.kill(daemon, signal.SIGSTOP)
    try:
        slowest = max(client.tell("timed", "get", PLAIN, "number")[0] for _ in range(100))
        seconds, is_made = client.tell("timed", "set", PLAIN, "number", "5")
        require(is_made, "set")
        require(max(slowest, seconds) < 5, f"a read took {slowest} s, a write {seconds} s")
        require_equal(client.tell("get", PLAIN, "number"), 5, "the own value")
    finally:
        os.kill(daemon, signal.SIGCONT)
    client.tell("sync")
    require_equal(session.ctl("read", PLAIN, "number"), "5", "what is stored")


def a_delayed_change_of_several_domains_is_one(session):
    client = session.client()
    client.tell("delay", PLAIN)
    require(client.tell("set", PLAIN, "number", "5"), "set")
    require(client.tell("set", PLAIN, "text", "'five'"), "set")
    require(client.tell("set_in_child", PLAIN, "child", "number", 6), "set in the child")
    require_equal(session.ctl("read", PLAIN, "number", status=None), "", "before apply")
    client.tell("apply", PLAIN)
    client.tell("sync")
    require_equal(session.ctl("read", PLAIN, "text"), "five", "after apply")
    generations = {session.generation(*place) for place in
                   [(PLAIN, "number"), (PLAIN, "text"), (f"{PLAIN}.child", "number")]}
    require_equal(len(generations), 1, "the number of changes")


def paths_of_a_program_are_domains(session):
    client = session.client()
    for path, domain, key in [
            ("/org/gnome/legacy/profiles:/:1-2/", "org.gnome.legacy", "profiles:/:1-2/number"),
            ("/a/", "a", "number"), ("/", "GSettings", "/number"), ("/x:y/z/", "GSettings", "/x:y/z/number"),
            ("/NSGlobalDomain/", "GSettings", "/NSGlobalDomain/number"),
            ("/" + "e123456789/" * 25, ".".join(["e123456789"] * 18), "e123456789/" * 7 + "number")]:
        require(client.tell("set", ANYWHERE, "number", "5", path), f"set at {path}")
        client.tell("sync")
        require_equal(session.ctl("read", domain, key), "5", f"the value of {path}")
        session.ctl("write", domain, key, "-int", "6")
        require_equal(client.tell("get", ANYWHERE, "number", path), 6, f"the value at {path}")
    # A key has 1024 bytes at most.
    long = "/a:/" + "x" * 1100 + "/"
    require_equal(client.tell("set", ANYWHERE, "number", "5", long), False, "set at a long path")
    require_equal(client.tell("get", ANYWHERE, "number", long), 0, "the value at a long path")


def the_bus_does_without_the_socket(session):
    """The program has another runtime directory, in which no daemon listens."""
    variables = on_the_bus(session)
    one, two = (session.client(**variables) for _ in range(2))
    require_equal(two.tell("get", PLAIN, "number"), 0, "the default")
    for number in range(1, 20):
        require(one.tell("set", PLAIN, "number", str(number)), "set")
        one.tell("sync")
        require_equal(one.tell("get", PLAIN, "number"), number, "the own value")
        require_equal(two.tell("get", PLAIN, "number"), number, "what another has set")
    two.wait_for("changed", "number")
    session.kill_daemon()
    session.ctl("write", PLAIN, "number", "-int", "77")
    require_equal(two.tell("get", PLAIN, "number"), 77, "after the daemon's end")
    require_equal(one.tell("get", PLAIN, "number"), 77, "after the daemon's end")
    require_equal(two.end(), "", "messages")


def a_second_bus_uses_the_daemon_of_the_same_database(session):
    """As below dbus-run-session. The second session may have a runtime directory of its own."""
    from privatebus import PrivateBus
    session.ctl("write", PLAIN, "number", "-int", "5")
    for number, variables in enumerate([{}, on_the_bus(session)]):
        with PrivateBus(session.home, session.environment, name=f"second{number}",
                        services=session.home / "services") as bus:
            second = variables | {"DBUS_SESSION_BUS_ADDRESS": bus.address}
            require_equal(session.gsettings("get", PLAIN, "number", **second), str(5 + number), "the value")
            session.gsettings("set", PLAIN, "number", str(6 + number), **second)
            require_equal(session.ctl("read", PLAIN, "number"), str(6 + number), "what was set")
            client = session.client(**second)
            require_equal(client.tell("get", PLAIN, "number"), 6 + number, "the value")
            session.ctl("write", PLAIN, "text", f"word {number}")
            client.wait_for("changed", "text")
            require_equal(client.end(), "", "messages")


def a_daemon_with_another_database_is_not_used(session):
    """The runtime directory is that of this session, and the bus and the home are others."""
    from privatebus import PrivateBus
    session.ctl("write", PLAIN, "number", "-int", "5")
    other = session.home / "other"
    other.mkdir(mode=0o700)
    with PrivateBus(session.home, session.environment, name="second") as bus:
        client = session.client(
            DBUS_SESSION_BUS_ADDRESS=bus.address, XDG_CONFIG_HOME=str(other), PATH="/usr/bin")
        require_equal(client.tell("get", PLAIN, "number"), 0, "a value of another session")
        require_equal(client.tell("set", PLAIN, "number", "6"), False, "set")
        require_equal(session.ctl("read", PLAIN, "number"), "5", "the value of this session")
        client.end()


def only_a_user_who_adopted_it_gets_it(session):
    session.ctl("write", PLAIN, "number", "-int", "5")
    del session.environment["GSETTINGS_BACKEND"]
    require_equal(session.gsettings("get", PLAIN, "number"), "0", "the value before")
    mark = session.home / "config/defaultsd/gsettings"
    mark.parent.mkdir(exist_ok=True)
    mark.touch()
    require_equal(session.gsettings("get", PLAIN, "number"), "5", "the value after")
    require_equal(session.gsettings("get", PLAIN, "number", SNAP="/snap/x"), "0", "in a snap")


def large_values_are_read(session):
    client, text = session.client(), "x" * 200_000
    require(client.tell("set", PLAIN, "text", f"'{text}'"), "set")
    client.tell("sync")
    other = session.client()
    require_equal(len(other.tell("get", PLAIN, "text")), len(text), "the length of a large value")
    session.ctl("write", PLAIN, "text", "small")
    other.wait_for("changed", "text")
    require_equal(other.tell("get", PLAIN, "text"), "small", "the value after a large one")


def what_is_set_in_the_layer_of_this_machine_is_seen(session):
    def of_machine(key):
        return session.ctl("-currentHost", "read", PLAIN, key, status=None)

    session.ctl("write", PLAIN, "number", "-int", "1")
    session.ctl("-currentHost", "write", PLAIN, "number", "-int", "2")
    client, other = session.client(), session.client()
    for reader in (client, other):
        require_equal(reader.tell("get", PLAIN, "number"), 2, "the value of this machine")
    require_equal(client.tell("user", PLAIN, "number"), 2, "the user's value")
    require(client.tell("set", PLAIN, "number", "3"), "set")
    require_equal(client.tell("get", PLAIN, "number"), 3, "the own value")
    client.tell("sync")
    require_equal(of_machine("number"), "3", "what is stored for this machine")
    require_equal(session.ctl("read", PLAIN, "number"), "1", "what is stored for all machines")
    require_equal(client.tell("get", PLAIN, "number"), 3, "the value when it is stored")
    other.wait_for("changed", "number")
    require_equal(other.tell("get", PLAIN, "number"), 3, "what another program has set")
    client.tell("reset", PLAIN, "number")
    require_equal(client.tell("get", PLAIN, "number"), 0, "the value after the reset")
    client.tell("sync")
    require_equal(of_machine("number"), "", "what is stored for this machine after the reset")
    require_equal(session.ctl("read", PLAIN, "number", status=None), "",
                  "what is stored for all machines after the reset")
    require(client.tell("set", PLAIN, "number", "4"), "set")
    client.tell("sync")
    require_equal(session.ctl("read", PLAIN, "number"), "4", "a key that this machine does not have")
    require_equal(of_machine("number"), "", "a key that this machine does not have")


def a_lock_of_all_domains_comes_and_goes(session, **variables):
    client, file = session.client(**variables), session.managed / "NSGlobalDomain.json"
    require(client.tell("writable", PLAIN, "number"), "a key without a lock is writable")
    require(client.tell("set", OTHER, "number", "3"), "set")
    client.tell("sync")
    file.write_text(json.dumps({"text": "theirs", "$locked": ["num*"]}))
    client.wait_for("writable-changed", "number")
    for schema, key, is_writable in [(PLAIN, "number", False), (OTHER, "number", False),
                                     (PLAIN, "text", False), (PLAIN, "small", True)]:
        require_equal(client.tell("writable", schema, key), is_writable, f"{schema} {key} is writable")
    require_equal(client.tell("set", OTHER, "number", "4"), False, "set of a locked key")
    require_equal(client.tell("get", OTHER, "number"), 3, "the value of a locked key")
    require_equal(client.tell("get", PLAIN, "text"), "default", "the value of a key with a lock")
    later = session.client(**variables)
    require_equal(later.tell("writable", PLAIN, "number"), False, "writable in a later program")
    file.unlink()
    # Each schema has its own signals.
    while not all(client.tell("writable", schema, "number") for schema in (PLAIN, OTHER)):
        client.wait_for("writable-changed", "number")


def a_lock_of_all_domains_comes_and_goes_on_the_bus(session):
    a_lock_of_all_domains_comes_and_goes(session, **on_the_bus(session))


def a_page_that_is_cut_ends_no_program(session):
    client = session.client()
    session.ctl("write", PLAIN, "number", "-int", "1")
    require_equal(client.tell("get", PLAIN, "number"), 1, "the value")
    pages = list((session.runtime / "defaultsd").rglob("counters"))
    require_equal(len(pages), 1, "the number of pages")
    for size in (16384, 64, 0):
        os.truncate(pages[0], size)
        require_equal(client.tell("get", PLAIN, "number"), 1, f"the value with a page of {size} bytes")
    for number in range(2, 9):
        session.ctl("write", PLAIN, "number", "-int", number)
        require_equal(client.tell("get", PLAIN, "number"), number, "a value after the cut")


def a_page_that_cannot_be_cut_is_mapped(session):
    """A service manager keeps it, so it is memory that is sealed."""
    client = session.client()
    require_equal(client.tell("get", PLAIN, "number"), 0, "the value")
    manager = ServiceManager(session.home)
    session.replace_daemon(**manager.variables)
    for number in range(1, 9):
        session.ctl("write", PLAIN, "number", "-int", number)
        require_equal(client.tell("get", PLAIN, "number"), number, "a read after the change")
    maps = pathlib.Path(f"/proc/{client.process.pid}/maps").read_text()
    require("defaultsd-counters" in maps, "the page is not mapped")
    manager.end()


def what_is_too_large_is_refused_at_once(session):
    client = session.client()
    require(client.tell("set", PLAIN, "number", "1"), "set")
    require_equal(client.tell("set_repeated", PLAIN, "anything", "n", 300_000), False,
                  "set of more values than a call takes")
    require_equal(client.tell("set_repeated", PLAIN, "anything", "y", 17 << 20), False,
                  "set of more bytes than a value may have")
    require(client.tell("set_repeated", PLAIN, "anything", "y", 15 << 20), "set of 15 MiB")
    client.tell("delay", PLAIN)
    for key, schema in (("anything", PLAIN), ("second", PLAIN), ("third", PLAIN)):
        require(client.tell("set_repeated", schema, key, "y", 15 << 20), "a delayed set")
    client.tell("apply", PLAIN)
    client.tell("revert", PLAIN)
    require(client.tell("set", PLAIN, "number", "2"), "a later set")
    client.tell("apply", PLAIN)
    client.tell("sync")
    require_equal(session.ctl("read", PLAIN, "number"), "2", "a change after those")
    require_equal(session.ctl("read", PLAIN, "second", status=None), "", "a part of a large change")


def a_refused_rule_is_reported(session):
    """A bus has limits for the rules of a program."""
    from privatebus import SESSION_LIMITS, PrivateBus
    session.bus.stop()
    session.bus = PrivateBus(
        session.home, session.environment, services=session.home / "services",
        limits=SESSION_LIMITS | {"max_match_rules_per_connection": 8}).start()
    client = session.client(**on_the_bus(session))
    for number in range(12):
        client.tell("get", ANYWHERE, "number", f"/a/b{number}/")
    # The daemon itself needs rules, too.
    for number in range(12):
        session.ctl("write", f"a.b{number}", "number", "-int", "5")
        require_equal(client.tell("get", ANYWHERE, "number", f"/a/b{number}/"), 5, "a read")
    messages = client.end()
    require("may not be announced" in messages and "match rules" in messages,
            f"a message says that a rule was refused: {messages}")


def a_program_without_a_main_loop_needs_no_thread(session):
    session.ctl("write", PLAIN, "number", "-int", "5")
    words = session.python("""
settings = Gio.Settings(schema_id='org.defaultsd.test.plain')
print(settings['number'], threads(), end=' ')
settings['number'] = 6
Gio.Settings.sync()
print(settings['number'], threads())""")
    require_equal(words.split(), ["5", "0", "6", "1"], "values, and threads of the module")


def a_program_without_a_main_loop_sees_the_changes_of_others(session):
    session.ctl("write", PLAIN, "number", "-int", "5")
    words = session.python(f"""
settings = Gio.Settings(schema_id='org.defaultsd.test.plain')

def write(number):
    subprocess.run(['{session.programs}/defaultsctl', 'write', '{PLAIN}', 'number', '-int', str(number)], check=True)

print(settings['number'], end=' ')
write(6)
print(settings['number'], end=' ')
os.kill({session.daemon()}, 9)
write(7)
print(settings['number'])""")
    require_equal(words.split(), ["5", "6", "7"], "the values")


def the_thread_gets_no_signals(session):
    client = session.client()
    require(client.tell("set", PLAIN, "number", "5"), "set")
    # Then the thread has begun, and has its name.
    client.tell("sync")
    blocked = [
        re.search(r"SigBlk:\s*(\w+)", (task / "status").read_text()).group(1)
        for task in pathlib.Path(f"/proc/{client.process.pid}/task").iterdir()
        if (task / "comm").read_text().strip() == "defaultsd"]
    # All but those that cannot be blocked, and those of the C library.
    require_equal([int(mask, 16) | 3 << 31 for mask in blocked],
                  [(1 << 64) - 1 & ~(1 << 8 | 1 << 18) | 3 << 31], "the signals that are blocked")


def a_connection_made_in_advance_is_used_only_by_its_process(session):
    session.ctl("write", PLAIN, "number", "-int", "5")
    # This loads all modules.
    load = "Gio.Vfs.get_default()\n"
    use = """
settings = Gio.Settings(schema_id='org.defaultsd.test.plain')
print(settings['number'], settings.set_int('number', settings['number'] + 1))
Gio.Settings.sync()
"""
    forked = load + "child = os.fork()\nif child: os.waitpid(child, 0)\n" + use
    require_equal(session.python(forked).split(), ["5", "True", "6", "True"], "a fork")
    closed = load + "os.closerange(3, 100)\nfiles = [open('/dev/zero') for _ in range(9)]\n" + use
    require_equal(session.python(closed).split(), ["7", "True"], "closed files")
    ended = load + f"os.kill({session.daemon()}, 9)\n" + use
    require_equal(session.python(ended).split(), ["8", "True"], "a daemon that has ended")
    require_equal(session.ctl("read", PLAIN, "number"), "9", "what is stored")


CLOSED = """
import socket
everything = []

def take_numbers():
    '''Closes all descriptors, as a program that becomes a service does, and gives their numbers to files and
    sockets of the program.'''
    os.closerange(3, 256)
    files = [os.open(f'{directory}/{number}', os.O_CREAT | os.O_RDWR) for number in range(20)]
    pairs = [socket.socketpair() for _ in range(10)]
    # Python would close the numbers later.
    everything.append(pairs)
    for file in files:
        os.write(file, b'precious')
        os.lseek(file, 0, os.SEEK_SET)
    for pair in pairs:
        pair[0].send(b'word')
    return files, pairs

def check(files, pairs):
    '''Says what was written to them, read from them, or closed.'''
    for file in files:
        if os.lseek(file, 0, os.SEEK_CUR) != 0 or os.pread(file, 99, 0) != b'precious':
            print('file', file, os.lseek(file, 0, os.SEEK_CUR), os.pread(file, 99, 0))
    for one, other in pairs:
        one.setblocking(False)
        if other.recv(99) != b'word':
            print('socket', other.fileno())
        try:
            print('socket', one.fileno(), one.recv(99))
        except BlockingIOError:
            pass
"""


def nothing_is_written_into_files_of_a_program_that_closed_all_descriptors(session):
    """Its thread may be waiting, or may not exist yet."""
    (session.home / "files").mkdir()
    for turn, begin in enumerate(["", "settings['number'] = 1\nGio.Settings.sync()"]):
        words = session.python(f"directory = '{session.home}/files'" + CLOSED + f"""
settings = Gio.Settings(schema_id='{PLAIN}')
other = Gio.Settings(schema_id='{OTHER}')
settings['number']
{begin}
for turn in range({turn * 100}, {turn * 100 + 3}):
    kept = take_numbers()
    settings['number'] = turn
    other['number'] = turn
    Gio.Settings.sync()
    print(settings['number'], other['number'])
    check(*kept)
""")
        require_equal(words.split(), [str(turn * 100 + i // 2) for i in range(6)],
                      "the values, and what happened to files")
        for domain in (PLAIN, OTHER):
            require_equal(session.ctl("read", domain, "number"), str(turn * 100 + 2), "what is stored")


def what_is_synced_is_stored_by_the_next_daemon(session):
    """The bus cannot start a daemon; one is started by hand."""
    writer = session.client()
    require_equal(writer.tell("get", PLAIN, "number"), 0, "the default")
    (session.home / "services" / f"{NAME}.service").unlink()
    session.run("gdbus", "call", "--session", "--dest", BUS, "--object-path", BUS_OBJECT,
                "--method", f"{BUS}.ReloadConfig")
    for turn in range(1, 4):
        require(writer.tell("set", PLAIN, "number", str(turn)), "set")
        writer.tell("sync")
        session.kill_daemon()
        require(writer.tell("set", PLAIN, "number", str(turn * 100)), "set without a daemon")
        writer.post("sync")
        session.start_daemon()
        writer.answer()
        require_equal(session.ctl("read", PLAIN, "number"), str(turn * 100), "what was synced")


def a_sync_that_fails_is_reported(session):
    writer = session.client()
    require(writer.tell("set", PLAIN, "number", "1"), "set")
    writer.tell("sync")
    os.kill(session.daemon(), signal.SIGSTOP)
    try:
        require(writer.tell("set", PLAIN, "number", "2"), "set")
        writer.tell("sync")
    finally:
        os.kill(session.daemon(), signal.SIGCONT)
    messages = writer.end()
    require("not stored yet" in messages, f"a message says so: {messages}")


def a_read_after_a_kill_waits_for_the_next_daemon(session):
    """A change was acknowledged that the program does not have yet, and the next daemon starts slowly."""
    session.ctl("write", PLAIN, "number", "-int", "1")
    activation_file(session.home / "services", f"/bin/sh -c 'sleep 1; exec {' '.join(session.command)}'")
    session.run("gdbus", "call", "--session", "--dest", BUS, "--object-path", BUS_OBJECT,
                "--method", f"{BUS}.ReloadConfig")
    words = session.python(f"""
settings = Gio.Settings(schema_id='{PLAIN}')
print(settings['number'], end=' ')
subprocess.run(['{session.programs}/defaultsctl', 'write', '{PLAIN}', 'number', '-int', '2'], check=True)
os.kill({session.daemon()}, 9)
print(settings['number'])""")
    require_equal(words.split(), ["1", "2"], "the values")


FULL_SERVICE = f"""
import os, sys
from gi.repository import Gio, GLib
rest, loop = int(sys.argv[1]), GLib.MainLoop()
def refuse(bus, message, incoming):
    global rest
    if not incoming or message.get_message_type() != Gio.DBusMessageType.METHOD_CALL:
        return message
    bus.send_message(Gio.DBusMessage.new_method_error_literal(
        message, "org.freedesktop.DBus.Error.LimitsExceeded", "There is no room."),
        Gio.DBusSendMessageFlags.NONE)
    rest -= 1
    if rest == 0:
        GLib.idle_add(loop.quit)
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
bus.add_filter(refuse)
Gio.bus_own_name_on_connection(
    bus, "{NAME}", Gio.BusNameOwnerFlags.NONE, lambda *_: print("ready", flush=True), None)
loop.run()
bus.flush_sync()
# GLib's thread may still call the filter, and must not find an interpreter that ends.
os._exit(0)
"""


@contextlib.contextmanager
def a_full_service(session, refusals):
    """A service in the place of the daemon that has no room for some calls. The daemon comes after it."""
    session.kill_daemon()
    full = subprocess.Popen([sys.executable, "-c", FULL_SERVICE, str(refusals)],
                            env=session.environment, stdout=subprocess.PIPE, text=True)
    require_equal(full.stdout.readline(), "ready\n", "the service without room")
    yield
    require_equal(full.wait(), 0, "the end of the service without room")
    full.stdout.close()


def a_service_without_room_gives_no_defaults(session):
    session.ctl("write", PLAIN, "number", "-int", "7")
    with a_full_service(session, 4):
        require_equal(session.client(**on_the_bus(session)).tell("get", PLAIN, "number"), 7, "the value")


def a_change_waits_for_room(session):
    writer = session.client(**on_the_bus(session))
    require(writer.tell("set", PLAIN, "number", "1"), "set")
    writer.tell("sync")
    with a_full_service(session, 3):
        require(writer.tell("set", PLAIN, "number", "2"), "set")
        writer.tell("sync")
    require_equal(session.ctl("read", PLAIN, "number"), "2", "what is stored")
    require_equal(writer.tell("get", PLAIN, "number"), 2, "the own value")


TRIALS = [
    a_service_without_room_gives_no_defaults, a_change_waits_for_room,
    nothing_is_written_into_files_of_a_program_that_closed_all_descriptors,
    what_is_synced_is_stored_by_the_next_daemon, a_sync_that_fails_is_reported,
    a_read_after_a_kill_waits_for_the_next_daemon,
    values_are_seen_by_every_program, a_read_is_never_older_than_an_acknowledged_change,
    a_killed_daemon_is_replaced, a_daemon_is_replaced_again_and_again_on_the_bus,
    a_daemon_is_replaced_by_another, a_bus_that_ends_takes_nothing, a_lock_comes_and_goes,
    a_lock_of_all_domains_comes_and_goes, a_lock_of_all_domains_comes_and_goes_on_the_bus,
    what_is_set_in_the_layer_of_this_machine_is_seen, a_page_that_is_cut_ends_no_program,
    a_page_that_cannot_be_cut_is_mapped, what_is_too_large_is_refused_at_once,
    a_refused_rule_is_reported, a_program_without_a_main_loop_needs_no_thread,
    a_program_without_a_main_loop_sees_the_changes_of_others,
    the_thread_gets_no_signals, a_connection_made_in_advance_is_used_only_by_its_process,
    values_of_wrong_types_are_defaults, a_hostile_value_does_not_hide_its_neighbours,
    deep_values_are_refused_at_once, a_refused_change_flips_back, without_any_service_nothing_can_be_changed,
    without_a_bus_the_running_daemon_is_used, without_a_daemon_a_program_runs_its_own,
    a_forked_child_reads_and_changes_nothing, a_stopped_daemon_blocks_no_program,
    a_delayed_change_of_several_domains_is_one, paths_of_a_program_are_domains,
    the_bus_does_without_the_socket, a_second_bus_uses_the_daemon_of_the_same_database,
    a_daemon_with_another_database_is_not_used,
    only_a_user_who_adopted_it_gets_it, large_values_are_read,
]
