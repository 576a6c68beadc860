"""A screen in memory: its picture, the windows on it, and what a user does with mouse and keyboard."""

import os
import pathlib
import struct
import subprocess
import tempfile
import time
import zlib

from build import Missing
from privatebus import PATIENCE
from session import Failure, require

LOOK = 0.05
"""Seconds between two looks at what is waited for."""
CALM = 4
"""A picture is finished after this number of equal looks in a row."""
ROUNDING = 2
"""Toolkits draw a gradient again in part, and then round its colours in another way."""
SIZE = (1024, 480)


def wait_until(condition, words, patience=PATIENCE):
    """Looks until a condition is true: what it has returned."""
    until = time.monotonic() + patience
    while not (result := condition()):
        require(time.monotonic() < until, f"{words}: this does not come")
        time.sleep(LOOK)
    return result


class Area:
    """A rectangle, in pixels."""

    def __init__(self, left: int, top: int, width: int, height: int):
        self.left, self.top, self.width, self.height = left, top, width, height

    @property
    def centre(self) -> tuple[int, int]:
        return self.left + self.width // 2, self.top + self.height // 2


class Picture:
    """Rows of pixels with four bytes each: blue, green, red, and one that is not used.

    Two are equal if they look the same.
    """

    def __init__(self, rows: list[bytes]):
        self.rows = rows

    def __eq__(self, other) -> bool:
        return (isinstance(other, Picture) and len(self.rows) == len(other.rows)
                and not any(self._columns(other, row) for row in range(len(self.rows))))

    def _columns(self, other: "Picture", row: int) -> list[int]:
        """The pixels of a row that differ."""
        mine, its = self.rows[row], other.rows[row]
        if mine == its:
            return []
        return [place // 4 for place in range(len(mine)) if abs(mine[place] - its[place]) > ROUNDING]

    def cut(self, area: Area) -> "Picture":
        rows = self.rows[area.top:area.top + area.height]
        return Picture([row[4 * area.left:4 * (area.left + area.width)] for row in rows])

    def difference(self, other: "Picture") -> Area:
        """The smallest area that has all different pixels."""
        differing = {row: columns for row in range(len(self.rows)) if (columns := self._columns(other, row))}
        require(differing, "the pictures are the same")
        columns = [column for columns in differing.values() for column in columns]
        left, top = min(columns), min(differing)
        return Area(left, top, max(columns) - left + 1, max(differing) - top + 1)

    def write_png(self, file: pathlib.Path) -> None:
        def chunk(kind: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        pixels = bytearray()
        for row in self.rows:
            colours = bytearray(len(row) // 4 * 3)
            colours[0::3], colours[1::3], colours[2::3] = row[2::4], row[1::4], row[0::4]
            pixels += b"\0" + colours
        size = struct.pack(">IIBBBBB", len(self.rows[0]) // 4, len(self.rows), 8, 2, 0, 0, 0)
        file.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size)
                         + chunk(b"IDAT", zlib.compress(bytes(pixels))) + chunk(b"IEND", b""))


class Screen:
    """Its picture is a file, which the X server keeps up to date."""

    def __init__(self, directory: pathlib.Path, environment: dict[str, str], patience: float):
        self.environment, self.patience = environment, patience
        reading, writing = os.pipe()
        with tempfile.TemporaryFile("w+") as log:
            # It ends with this program, however that ends.
            self.server = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "Xvfb", "-displayfd", str(writing), "-screen", "0",
                 f"{SIZE[0]}x{SIZE[1]}x24", "-fbdir", directory, "-nocursor", "-dpi", "96", "-nolisten", "tcp",
                 "-noreset"], pass_fds=[writing], env=environment, stderr=log)
            os.close(writing)
            with os.fdopen(reading) as pipe:
                number = pipe.readline().strip()
            if not number:
                self.server.wait()
                log.seek(0)
                raise Missing(f"Xvfb does not start here: {log.read().strip()}")
        self.environment["DISPLAY"] = f":{number}"
        self.file = directory / "Xvfb_screen0"
        self.leave()

    def end(self) -> None:
        self.server.terminate()
        self.server.wait()

    def picture(self) -> Picture:
        """What the screen shows, from a file in the format of xwd."""
        data = self.file.read_bytes()
        words = struct.unpack_from(">25I", data)
        start, width, height, length = words[0] + 12 * words[19], words[4], words[5], words[12]
        places = range(start, start + height * length, length)
        return Picture([data[place:place + 4 * width] for place in places])

    def xdotool(self, *words, status=0) -> str:
        done = subprocess.run(["xdotool", *map(str, words)], env=self.environment, capture_output=True, text=True)
        require(status is None or done.returncode == status, f"xdotool {words}: {done.stderr}")
        return done.stdout

    def click(self, place: tuple[int, int]) -> None:
        """Clicks, and takes the pointer away, so that what was clicked does not look touched."""
        self.xdotool("mousemove", *place, "click", 1)
        self.leave()

    def leave(self) -> None:
        self.xdotool("mousemove", SIZE[0] - 1, SIZE[1] - 1)


class Window:
    """The window of a program that runs."""

    def __init__(self, screen: Screen, name: str, process: subprocess.Popen, left: int):
        self.screen, self.name, self.process = screen, name, process
        self.number = self.wait_until(self._found, f"the window of {name}")
        # No window manager gives the windows their places.
        screen.xdotool("windowmove", self.number, left, 0)
        self.area = self.wait_until(lambda: self._area(left), f"{name} at its place")

    def _found(self) -> str:
        search = ("search", "--all", "--onlyvisible", "--pid", self.process.pid, "--name", "^Player$")
        return self.screen.xdotool(*search, status=None).strip()

    def _area(self, left: int) -> Area | None:
        lines = self.screen.xdotool("getwindowgeometry", "--shell", self.number).split()
        values = {name: int(value) for name, value in (line.split("=") for line in lines)}
        if (values["X"], values["Y"]) != (left, 0):
            return None
        return Area(left, 0, values["WIDTH"], values["HEIGHT"])

    def wait_until(self, condition, words):
        def looked():
            if self.process.poll() is not None:
                raise Failure(f"{self.name} has ended with {self.process.returncode}")
            return condition()

        return wait_until(looked, words, self.screen.patience)

    def picture(self, part: Area | None = None) -> Picture:
        """What the window shows, or a part of it."""
        whole = self.screen.picture().cut(self.area)
        return whole.cut(part) if part else whole

    def wait_for(self, picture: Picture, part: Area, words: str) -> None:
        self.wait_until(lambda: self.picture(part) == picture, f"{self.name}: {words}")

    def settled(self, last: Picture) -> Picture:
        """The picture after a change, when it is another one and does not change any more."""
        looks: list[Picture] = []

        def is_calm() -> bool:
            looks.append(self.picture())
            return looks[-1] != last and len(looks) >= CALM and all(look == looks[-1] for look in looks[-CALM:])

        self.wait_until(is_calm, f"{self.name}: another picture")
        return looks[-1]

    def looks(self, *changes) -> list[Picture]:
        """The pictures after some changes, which lead in a circle.

        They are made until all pictures come again. A program that has to wait for a busy machine looks calm, too.
        """
        known: list[Picture] = []
        while True:
            pictures, last = [], self.picture()
            for change in changes:
                change()
                pictures.append(last := self.settled(last))
            if pictures == known:
                return known
            known = pictures

    def place(self, part: Area) -> tuple[int, int]:
        """The centre of a part, on the screen."""
        across, down = part.centre
        return self.area.left + across, self.area.top + down
