"""The proof of a whole desktop on one side: it is started, changed while our daemon is killed and replaced, ended and
started again."""

import time

from failure import LOOK
from program import FILES, documents
from session import CLOCK

NAME = "org.defaultsd.Defaults1"


class Trial:
    """A desktop in a session."""

    def __init__(self, session, desktop):
        self.session, self.desktop = session, desktop
        self.processes = []

    def begin(self):
        """Starts the desktop and waits for its windows."""
        for command in self.desktop.commands:
            self.processes.append(self.session.start(*command.split(), **CLOCK, **dict(self.desktop.variables)))
        for window in self.desktop.windows:
            self.session.screen.wait_for_window(window)

    def open_window(self):
        """Opens a window, which shows its frame and its fonts."""
        words = self.desktop.program.format(files=FILES).split()
        self.processes.append(self.session.start(*words))
        self.window = self.session.screen.wait_for_window(self.desktop.program_window)

    def use_dialog(self):
        """Changes a setting in a dialog, and closes it."""
        session = self.session
        if self.desktop.dialog:
            process = session.start(*self.desktop.dialog.split())
            window = session.screen.wait_for_window(self.desktop.dialog_window)
            session.screen.picture("dialog")
            session.screen.press(*self.desktop.dialog_keys)
            session.screen.picture("used")
            session.run("wmctrl", "-i", "-c", window)
            session.end(process)
            session.running.remove(process)

    def finish(self):
        """Closes the window, and ends the desktop as its user does."""
        self.session.run("wmctrl", "-i", "-c", self.window)
        self.session.end(self.processes[-1])
        if self.desktop.end:
            self.session.run(*self.desktop.end.split())
        else:
            for process in reversed(self.processes[:-1]):
                process.terminate()
        for process in self.processes:
            self.session.end(process)
            self.session.running.remove(process)
        self.processes = []
        for window in self.desktop.windows:
            self.session.screen.wait_for_window(window, is_there=False)

    def kill_daemon(self):
        """Kills our daemon. The bus starts the next one at the next call."""
        if self.session.is_ours:
            self.session.kill(self.session.owner(NAME))

    def replace_daemon(self):
        """Has another of our daemons take the place of the one that runs."""
        if self.session.is_ours:
            next_one = self.session.start("defaultsd", "--replace")
            while self.session.owner(NAME) != next_one.pid:
                time.sleep(LOOK)

    def run(self):
        """All of it: what is kept afterwards."""
        session = self.session
        documents(session)
        session.settings.adopt()
        session.settings.change(self.desktop.before)
        self.begin()
        session.screen.picture("plain")
        first, second, third = self.desktop.settings
        session.settings.change(first)
        self.open_window()
        session.screen.picture("changed")
        self.kill_daemon()
        session.settings.change(second)
        session.screen.picture("killed")
        self.replace_daemon()
        session.settings.change(third)
        session.screen.picture("replaced")
        self.use_dialog()
        self.finish()
        session.settings.wait_for_files()
        self.begin()
        self.open_window()
        session.screen.picture("again")
        self.finish()
        return session.settings.kept(self.desktop.places)
