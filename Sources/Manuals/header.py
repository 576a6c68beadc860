"""Pages of the C library, made of its header.

The first comment of the header is libdefaults(3). Each comment that begins with `@page NAME: WORDS` begins
a page of the functions that follow, up to the next one.
"""

import pathlib
import re
import textwrap
from collections.abc import Callable

HEADER = pathlib.Path(__file__).resolve().parent.parent / "CDefaults/defaults.h"
COMMENT = re.compile(r"/\*(.*?)\*/\n(.*?)(?=/\*|\Z)", re.DOTALL)
LIBRARY = "libdefaults"
DATE = "November 24, 2026"

Prose = Callable[[str], list[str]]


class Page:
    """A page with its text, and its parts: comments, each with what it describes."""

    def __init__(self, name: str, words: str, text: str):
        self.name, self.words, self.text = name, words, text
        self.parts: list[tuple[str, str]] = []

    @property
    def functions(self) -> list[str]:
        return [found[1] for _, code in self.parts
                if (found := re.match(r"(?!typedef)[^(]*?(defaults_\w+)\(", code))]


def pages() -> list[Page]:
    made: list[Page] = []
    # What follows a value of an enumeration is a comment within a declaration.
    text = re.sub(r"(?<=\S) +/\* (.*?) \*/(?=\n)", r" // \1", HEADER.read_text())
    for comment, code in COMMENT.findall(text):
        words = plain(comment)
        code = re.sub(r"^(#.*|extern.*|\})\n", "", code, flags=re.MULTILINE).strip()
        if not made:
            title, _, rest = words.partition("\n\n")
            made.append(Page(LIBRARY, title.split(": ", 1)[1].rstrip("."), rest))
        elif page := re.match(r"@page (\w+): (.*?)\n\n(.*)", words, re.DOTALL):
            made.append(Page(*page.groups()))
        elif code:
            made[-1].parts.append((words, code))
    return made


def plain(comment: str) -> str:
    """The text of a comment, without the stars."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.split("\n")]
    return textwrap.dedent("\n".join(lines)).strip()


def names() -> list[str]:
    return [f"{page.name}.3" for page in pages()]


def made(name: str, escaped: Callable[[str], str], paragraphs: Prose) -> str:
    """A page in mdoc(7)."""
    everything = pages()
    page = next(each for each in everything if f"{each.name}.3" == name)
    lines = [f".Dd {DATE}", f".Dt {page.name.upper()} 3", ".Os defaultsd", ".Sh NAME"]
    lines += [f".Nm {each} ," for each in (page.functions or [page.name])]
    lines[-1] = lines[-1].removesuffix(" ,")
    lines += [f".Nd {escaped(page.words)}", ".Sh LIBRARY", "The C library of defaultsd",
              ".Pq libdefaults, \\-ldefaults", ".Sh SYNOPSIS", ".In defaults.h"]
    for _, code in page.parts:
        lines += [".Bd -literal", escaped(re.sub(r" // .*", "", code)), ".Ed"]
    lines += [".Sh DESCRIPTION", *paragraphs(page.text)]
    for words, code in page.parts:
        lines += [f".Ss {heading(code)}", *paragraphs(words), *values(code, escaped)]
    lines += [".Sh SEE ALSO"]
    others = sorted(each.name for each in everything if each is not page)
    lines += [f".Xr {other} 3 ," for other in others]
    lines += [".Xr defaultsd\\-values 5 ,", ".Xr defaultsd 8"]
    return "\n".join(without_leading_space(lines)) + "\n"


def without_leading_space(lines: list[str]) -> list[str]:
    """Lines in which no paragraph begins right after a heading."""
    made: list[str] = []
    for line in lines:
        is_first = bool(made) and made[-1].startswith((".Sh", ".Ss"))
        made.append(line.removeprefix(".Pp\n") if is_first else line)
    return made


def heading(code: str) -> str:
    if found := re.match(r"typedef [^{;]*?\(\*(\w+)\)", code):
        return found[1]
    if code.startswith("typedef"):
        return re.findall(r"(\w+);", code)[-1]
    return re.match(r"[^(]*?(defaults_\w+)\(", code)[1] + "()"


def values(code: str, escaped: Callable[[str], str]) -> list[str]:
    """The values of an enumeration with what they mean."""
    found = re.findall(r"^ +(DEFAULTS_\w+) = \d+,?(?: +// (.*))?$", code, re.MULTILINE)
    if not found:
        return []
    lines = [".Bl -tag -width indent"]
    for value, meaning in found:
        lines += [f".It Dv {value}", escaped(meaning or "")]
    return [*(line for line in lines if line), ".El"]
