"""The settings of a user: how they are changed, and what is kept of them."""

import signal
import time

from failure import LOOK, require

CHANNELS = ".config/xfce4/xfconf/xfce-perchannel-xml"
NAMES = ("org.defaultsd.Defaults1", "ca.desrt.dconf", "org.xfce.Xfconf")
"""The names of all services of settings on the bus."""


class Settings:
    """`vendor` are the properties of Xfconf that packages have set."""

    def __init__(self, session):
        self.session = session
        self.files = session.inside(f"{session.home}/{CHANNELS}")
        self.changed: set[str] = set()
        self.vendor = set(self.channels())

    def adopt(self):
        """Has defaultsd serve the programs, if this is our side."""
        if self.session.is_ours:
            self.session.run("defaultsctl", "adopt")

    def change(self, settings):
        """Sets each as a user does."""
        for setting in settings:
            is_by_us = self.session.is_ours and setting.ours
            self.session.run(*(("defaultsctl", *setting.ours) if is_by_us else setting.command))
            if setting.channel:
                self.changed.add(setting.channel)

    def wait_for_files(self):
        """xfconfd lists a channel when its file has been written, some seconds after the change."""
        while not (self.session.is_ours
                   or all((self.files / f"{channel}.xml").exists() for channel in self.changed)):
            time.sleep(LOOK)

    def kept(self, places):
        """What programs read, and what the services of the peer keep: ours after a release."""
        if not self.session.is_ours:
            # It writes all files then, and lists their channels.
            self.session.kill(self.session.owner("org.xfce.Xfconf"), signal.SIGTERM)
        kept = {"read": self._read(places), "channels": self.channels(), "vendor": sorted(self.vendor)}
        self._check_owners()
        if self.session.is_ours:
            shown = self._database()
            self.session.run("defaultsctl", "release")
            for before, after in ((kept["channels"], self.channels()), (shown, self._database())):
                require(before == after, f"after the release: {sorted(set(before) ^ set(after))}")
        kept["stored"] = self._database()
        return kept

    def channels(self):
        """All properties of Xfconf, as its own tool prints them."""
        lines = []
        for channel in sorted(self.session.run("xfconf-query", "-l").split("\n")[1:]):
            name = channel.strip()
            text = self.session.run("xfconf-query", "-c", name, "-lv", status=None)
            lines += [f"{name} {' '.join(line.split())}" for line in text.splitlines() if line.strip()]
        return lines

    def _read(self, places):
        """All values that programs of GSettings read, as GLib's own tool prints them.

        `places` are relocatable schemas with their paths, as SCHEMA:PATH.
        """
        lines = self.session.run("gsettings", "list-recursively").splitlines()
        for place in places:
            found = self.session.run("gsettings", "list-recursively", place).splitlines()
            lines += [f"{place} {line}" for line in found]
        return sorted(lines)

    def _database(self):
        """What is in dconf's database, as its own tool prints it."""
        lines, section = [], ""
        for line in self.session.run("dconf", "dump", "/").splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif line:
                lines.append(f"/{section}/{line}".replace("//", "/"))
        return sorted(lines)

    def _check_owners(self):
        """The other side's services have nothing to do with it."""
        wanted = {"defaultsd"} if self.session.is_ours else {"dconf-service", "xfconfd"}
        for name in NAMES:
            number = self.session.owner(name)
            if number:
                found = (self.session.root / f"proc/{number}/comm").read_text().strip()
                require(found in wanted, f"{found} serves {name} on the side {self.session.side}")
