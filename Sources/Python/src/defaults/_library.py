"""The library for C, and the strings and bytes that cross over to it."""

import math
import os
from typing import Any

from ._declarations import ffi

#: The file of the library; programs in a development tree set DEFAULTS_LIBRARY.
lib: Any = ffi.dlopen(os.environ.get("DEFAULTS_LIBRARY", "libdefaults.so.1"))

NULL: Any = ffi.NULL


def encoded(text: str) -> bytes:
    """A string as C has it.

    Raises ValueError for text with NUL, which C would cut, and for half of a surrogate pair.
    """
    made = text.encode()
    if b"\0" in made:
        raise ValueError("The text contains NUL.")
    return made


def encoded_word(word: str) -> bytes:
    """A word of the command line as it was typed, in any encoding: sys.argv has surrogates for other bytes."""
    made = word.encode(errors="surrogateescape")
    if b"\0" in made:
        raise ValueError("The word contains NUL.")
    return made


def milliseconds(seconds: float) -> int:
    """A time for the library, rounded up; the longest one if it is longer.

    Raises ValueError for what is not a number.
    """
    if math.isnan(seconds):
        raise ValueError("The timeout is not a number.")
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
