"""The proof of one program on one side: it is started, its settings are changed, and it is started again."""

import io
import os
import struct
import zipfile
import zlib

from session import CLOCK, HOME

FILES = f"{HOME}/files"


class Trial:
    """A program in a session."""

    def __init__(self, session, program):
        self.session, self.program = session, program
        self.process = None

    def open(self):
        """Starts the program and waits for its window."""
        words = self.program.command.format(files=FILES).split()
        self.process = self.session.start(*words, **(CLOCK if self.program.clock else {}))
        self.window = self.session.screen.wait_for_window(self.program.window)
        if self.program.first_keys:
            self.picture(None)
            self.session.screen.press(*self.program.first_keys)

    def close(self):
        """Has the user close the window: the program may store its size then."""
        if self.program.has_frame:
            self.session.run("wmctrl", "-i", "-c", self.window)
        if self.program.is_resident:
            self.session.screen.wait_for_window(self.program.window, is_there=False)
        if self.program.is_resident or not self.program.has_frame:
            self.process.terminate()
        self.session.end(self.process)
        self.session.running.remove(self.process)

    def picture(self, step):
        self.session.screen.picture(step, self.program.looks)

    def work(self):
        """The user works with the program, which stores settings by itself."""
        if self.program.keys:
            self.session.screen.press(*self.program.keys)
            self.picture("used")

    def run(self):
        """All of it: what is kept afterwards."""
        session = self.session
        documents(session)
        session.settings.adopt()
        session.start_window_manager(self.program.manager)
        session.settings.change(self.program.before)
        self.open()
        self.picture("plain")
        if not self.program.while_ended:
            session.settings.change(self.program.settings)
            self.picture("changed")
        self.work()
        self.close()
        if self.program.while_ended:
            session.settings.change(self.program.settings)
        session.settings.wait_for_files()
        self.open()
        self.picture("again")
        self.close()
        return session.settings.kept(self.program.places)


def documents(session):
    """Files that programs open. They are the same each time, and so are their dates."""
    text = "\n".join(f"Line {number} of a text; if (number > {number}) return; # a comment" for number in range(1, 9))
    session.write(f"{FILES}/text.txt", text + "\n")
    session.write(f"{FILES}/program.py", f"def main():\n    # A comment\n    return \"{'text ' * 30}\"\n")
    session.write(f"{FILES}/folder/.hidden", "")
    session.write(f"{FILES}/folder/visible.txt", "1\n")
    session.write(f"{FILES}/document.pdf", pdf())
    write_bytes(session, "red.png", png(200, 30, 30))
    write_bytes(session, "blue.png", png(30, 30, 200))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr(zipfile.ZipInfo("inside/one.txt", (2026, 1, 1, 0, 0, 0)), "1" * 1000)
        files.writestr(zipfile.ZipInfo("two.txt", (2026, 1, 1, 0, 0, 0)), "2" * 500)
    write_bytes(session, "archive.zip", archive.getvalue())
    for place in [*session.inside(FILES).rglob("*"), session.inside(FILES)]:
        os.utime(place, (1767225600, 1767225600))


def write_bytes(session, name, content):
    place = session.inside(f"{FILES}/{name}")
    place.write_bytes(content)
    os.chown(place, 1000, 1000)


def png(*colour):
    """A picture of one colour."""
    rows = b"".join(b"\0" + bytes(colour) * 160 for _ in range(120))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 160, 120, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pdf():
    """Two pages with a line of text."""
    content = "BT /F1 24 Tf 72 700 Td (A page of a document) Tj ET"
    page = ("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R"
            " /Resources << /Font << /F1 6 0 R >> >> >>")
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>", page, page,
               f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    text, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(text))
        text += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (f"{text}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n")
