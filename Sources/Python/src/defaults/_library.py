"""The strings, bytes and times that cross over to the library for C, and back."""

import math
from typing import Any

from ._declarations import ffi
from ._errors import invalid, wrong_type
from ._loaded import lib


def encoded(text: str) -> bytes:
    """A string as C has it.

    Raises InvalidArgumentError for text with NUL, which C would cut, and for half of a surrogate pair.
    """
    if not isinstance(text, str):
        raise wrong_type(f"A str is needed here, and not a value of the type {type(text).__name__}.")
    try:
        made = text.encode()
    except UnicodeEncodeError:
        # Python's own error has the text, which may be a value.
        raise invalid("The text contains half of a surrogate pair.") from None
    return _without_nul(made, "text")


def encoded_word(word: str) -> bytes:
    """A word of the command line as it was typed, in any encoding: sys.argv has surrogates for other bytes."""
    try:
        made = word.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise invalid("The word contains half of a surrogate pair.") from None
    return _without_nul(made, "word")


def _without_nul(made: bytes, what: str) -> bytes:
    if b"\0" in made:
        raise invalid(f"The {what} contains NUL.")
    return made


def milliseconds(seconds: float) -> int:
    """A time for the library, rounded up; the longest one if it is longer.

    Raises InvalidArgumentError for what is not a number.
    """
    if math.isnan(seconds):
        raise invalid("The timeout is not a number.")
    most = (1 << 32) - 1
    return math.ceil(max(0, min(seconds * 1000, most)))


def taken_text(memory: Any) -> str:
    """A string that the library has made, which is freed."""
    try:
        made: bytes = ffi.string(memory)
        return made.decode()
    finally:
        lib.defaults_free(memory)


def taken_bytes(memory: Any, size: int) -> bytes:
    """Bytes that the library has made, which are freed."""
    try:
        return bytes(ffi.buffer(memory, size))
    finally:
        lib.defaults_free(memory)
