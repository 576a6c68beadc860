"""The daemon's own socket, for programs that try the daemon."""

import pathlib

from gi.repository import Gio

from privatebus import NAME


class DirectConnection:
    """A connection to the daemon that listens in a runtime directory; it ends with that daemon.

    Raises GLib.Error where none listens.
    """

    def __init__(self, runtime: pathlib.Path):
        self.gio = Gio.DBusConnection.new_for_address_sync(
            f"unix:path={runtime}/defaultsd/direct",
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
        self.gio.set_exit_on_close(False)
        self.has_ended = False
        """Whether the daemon has said that it carries out none of the calls without an answer."""
        self.gio.signal_subscribe(
            None, NAME, "Ending", None, None, Gio.DBusSignalFlags.NONE, self._note_end)

    @property
    def is_closed(self) -> bool:
        return self.gio.is_closed()

    def close(self) -> None:
        if not self.is_closed:
            self.gio.close_sync()

    def _note_end(self, *_) -> None:
        self.has_ended = True
