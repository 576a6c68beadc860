"""A handle of the library, which ends with its last user."""

from typing import Any

from ._declarations import ffi
from ._errors import invalid, last_error
from ._library import encoded, encoded_word
from ._loaded import lib


class Handle:
    """A defaults_t, which the library closes when nobody refers to the pointer any more.

    A call refers to its arguments, so close() in one thread does not free what a call of another one uses.
    """

    def __init__(self, domain: str, arguments: list[str] | None = None):
        self.pointer: Any = ffi.gc(self._opened(domain, arguments), lib.defaults_close)

    @staticmethod
    def _opened(domain: str, arguments: list[str] | None) -> Any:
        if arguments is None:
            pointer = lib.defaults_open(encoded(domain))
        else:
            words = [ffi.new("char[]", encoded_word(word)) for word in arguments]
            pointer = lib.defaults_open_with_arguments(encoded(domain), len(words), words)
        if not pointer:
            raise last_error() or MemoryError()
        return pointer

    def close(self) -> None:
        self.pointer = None

    @property
    def open_pointer(self) -> Any:
        # Read once: another thread may close the domain.
        pointer = self.pointer
        if pointer is None:
            raise invalid("The domain is closed.")
        return pointer
