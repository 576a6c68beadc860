"""The screen of a session: windows, keys and pictures."""

import os
import subprocess
import time

from failure import LOOK, PATIENCE, Failure, require

SIZE = "1024x768x24"
CALM = 4
"""A picture is finished after this number of equal looks in a row, if no program has worked meanwhile."""


class Screen:
    """A screen in memory, which is a file."""

    def __init__(self, session):
        self.session = session
        self._start()

    def _start(self):
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        self.session.start(
            "Xvfb", "-displayfd", writing, "-screen", 0, SIZE, "-fbdir", "/tmp/screen", "-nocursor", "-dpi", 96,
            "-nolisten", "tcp", "-noreset", pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        require(number, "there is no screen")
        self.session.environment["DISPLAY"] = f":{number}"
        self.file = self.session.inside("/tmp/screen/Xvfb_screen0")
        # No window and no panel shows a tooltip.
        self.session.run("xdotool", "mousemove", 1023, 300)

    def wait_for_window(self, title, is_there=True):
        """Waits for a window that is seen: its number."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = self.session.run("xdotool", "search", "--onlyvisible", "--name", title, status=None).split()
            if bool(found) == is_there:
                return found[-1] if found else None
            require(not is_there or not self._failed(), f"{self._failed()} failed")
            time.sleep(LOOK)
        windows = self.session.run("wmctrl", "-l", status=None).splitlines()
        raise Failure(f"no window '{title}' {'comes' if is_there else 'goes'}; there are {windows}")

    def _failed(self):
        """The programs that have ended with an error."""
        return [f"{process.words} ({process.returncode})" for process in self.session.running if process.poll()]

    def _work(self):
        """How long all programs have worked, in ticks of the clock."""
        total = 0
        for place in (self.session.root / "proc").iterdir():
            if place.name.isdigit() and place.name != str(os.getpid()):
                try:
                    fields = (place / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                total += int(fields[11]) + int(fields[12])
        return total

    def _settled(self, wanted, looks):
        """The picture when it does not change any more. One that is not wanted has more time to change."""
        last, work, calm = b"", -1, 0
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            picture, worked = self.file.read_bytes(), self._work()
            calm = calm + 1 if picture == last and worked - work <= 1 else 0
            if calm >= (looks if wanted in (None, picture) else 10 * looks):
                return picture
            last, work = picture, worked
            time.sleep(LOOK)
        self.session.notes.append("the picture did not come to rest")
        return last

    def picture(self, step, looks=CALM):
        """Keeps the picture of the screen after a number of equal looks in a row.

        Without the name of a step, it only waits for that.
        """
        place = self.session.reference / f"{step}.xwd"
        picture = self._settled(place.read_bytes() if self.session.is_ours and place.exists() else None, looks)
        if step:
            self.keep(step, picture)

    def keep(self, step, picture=None):
        """Keeps a picture in the report: that of the screen as it is, unless another one is given."""
        picture = picture or self.file.read_bytes()
        if not self.session.is_ours:
            (self.session.reference / f"{step}.xwd").write_bytes(picture)
        (self.session.root / "tmp/picture.xwd").write_bytes(picture)
        place = f"/report/{self.session.report.name}/{self.session.side}-{step}.png"
        subprocess.run(["chroot", self.session.root, "convert", "xwd:/tmp/picture.xwd", place], check=True)

    def press(self, *keys):
        for key in keys:
            self.session.run("xdotool", "key", "--clearmodifiers", key)
