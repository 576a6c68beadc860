#!/usr/bin/python3
"""The preferences of a music player: a window of GTK 4 in Python, with PyGObject.

    ./player-gtk.py & ./player-gtk.py

On Debian this needs gir1.2-gtk-4.0, python3-gi and python3-defaults. A switch that is moved in one window moves in
the other one, and in the examples of other toolkits and languages. A terminal moves it, too:

    defaultsctl write org.example.Player Shuffle -bool true
"""

import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402

from defaults import DefaultsError, Domain  # noqa: E402

PLAYER = "org.example.Player"


class Preferences(Gtk.ApplicationWindow):
    def __init__(self, application):
        super().__init__(application=application, title="Player", default_width=360)
        self.shuffle = Gtk.Switch(halign=Gtk.Align.START)
        self.volume = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 1, 0.05)
        self.volume.set_hexpand(True)
        self.name = Gtk.Entry()
        self.set_child(self.grid({"_Shuffle": self.shuffle, "_Volume": self.volume, "_Name": self.name}))
        self.is_showing = False
        self.shuffle.connect("state-set", lambda _, is_on: self.store("Shuffle", is_on))
        self.volume.connect("value-changed", lambda *_: self.store("Volume", self.volume.get_value()))
        self.name.connect("changed", lambda *_: self.store("Name", self.name.get_text()))

        self.player = Domain(PLAYER)
        self.changes = self.player.changes()
        self.source = GLib.unix_fd_add_full(
            GLib.PRIORITY_DEFAULT, self.changes.fileno(), GLib.IOCondition.IN, self.changed)
        self.connect("destroy", self.closed)
        # The first read waits for the service, for two seconds at most. The window is not there yet.
        self.show_values()

    @staticmethod
    def grid(rows):
        grid = Gtk.Grid(row_spacing=12, column_spacing=24, margin_start=18, margin_end=18, margin_top=18,
                        margin_bottom=18)
        for row, (text, widget) in enumerate(rows.items()):
            label = Gtk.Label(label=text, use_underline=True, mnemonic_widget=widget, halign=Gtk.Align.START)
            grid.attach(label, 0, row, 1, 1)
            grid.attach(widget, 1, row, 1, 1)
        return grid

    def show_values(self):
        """Shows all values. They come from the memory of the process, so this costs little."""
        # What is shown is not stored: a value of the administrator would become one of the user's own.
        self.is_showing = True
        self.shuffle.set_active(self.player.get("Shuffle", False))
        self.volume.set_value(self.player.get("Volume", 0.5))
        # A text that is set again would move the cursor of the user who types it.
        if self.name.get_text() != (name := self.player.get("Name", "Living room")):
            self.name.set_text(name)
        self.is_showing = False

        # The service refuses changes of what the administrator has locked.
        self.shuffle.set_sensitive(not self.player.is_locked("Shuffle"))
        self.volume.set_sensitive(not self.player.is_locked("Volume"))
        self.name.set_sensitive(not self.player.is_locked("Name"))

    def store(self, key, value):
        """Stores what the user has done. The result is whether it is refused, because the key was locked meanwhile.

        This does not wait for the service, not even while a slider is dragged.
        """
        if self.is_showing:
            return False
        try:
            self.player[key] = value
            return False
        except DefaultsError:
            self.show_values()
            return True

    def changed(self, *_):
        """The descriptor is readable: some process has changed something."""
        # If the service has refused a change of this window already, there is none to take, and the old value is back.
        self.changes.take()
        self.show_values()
        return GLib.SOURCE_CONTINUE

    def closed(self, _):
        # The main loop must not wait for a descriptor that is closed. What the user has changed is still sent.
        GLib.source_remove(self.source)
        self.changes.close()
        self.player.close()


# A program for users would have one window. This one may run twice, so that you see both move.
application = Gtk.Application(application_id=PLAYER, flags=Gio.ApplicationFlags.NON_UNIQUE)
application.connect("activate", lambda application: Preferences(application).present())
sys.exit(application.run(sys.argv))
