"""An app of the demo: keeps its current user, an Account, in the defaults service.

usage: account.py store     stores the account, as D-Bus values
       account.py objects   reads the archive back with plistlib and prints its objects
"""

import plistlib
import sys

from gi.repository import Gio, GLib

DOMAIN, KEY = "org.example.App", "CurrentUser"


def service():
    return Gio.DBusProxy.new_for_bus_sync(
        Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, None, "org.defaultsd.Defaults1",
        "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1", None)


def store():
    account = GLib.Variant("a{sv}", {
        "$class": GLib.Variant("s", "Account"),
        "username": GLib.Variant("s", "ada"),
    })
    generation = service().SetValue("(ssv)", DOMAIN, KEY, account)
    print(f"SetValue {DOMAIN} {KEY} <Account ada>: acknowledged as generation {generation}")


def objects():
    archive, generation = service().Get("(ss)", DOMAIN, KEY)
    contents = plistlib.loads(bytes(archive))
    print(f"{len(bytes(archive))} bytes of generation {generation}, $objects:")
    for uid, item in enumerate(contents["$objects"]):
        print(f"    {uid}: {item!r}")
    root = contents["$objects"][contents["$top"]["root"].data]
    username = contents["$objects"][root["username"].data]
    class_name = contents["$objects"][root["$class"].data]["$classname"]
    if (class_name, username) != ("Account", "ada"):
        sys.exit(f"FAILED: the archive holds a {class_name} of {username}")


{"store": store, "objects": objects}[sys.argv[1]]()
