"""A handle of the library, which ends with its last user."""

import weakref
from typing import Any

from ._declarations import ffi
from ._errors import last_error
from ._library import encoded, lib


class Handle:
    """A defaults_t."""

    def __init__(self, domain: str, arguments: list[str] | None = None):
        self.pointer: Any = self._opened(domain, arguments)
        self._finalizer = weakref.finalize(self, lib.defaults_close, self.pointer)
        # The library sends what waits at the end of the process itself.
        self._finalizer.atexit = False

    @staticmethod
    def _opened(domain: str, arguments: list[str] | None) -> Any:
        if arguments is None:
            pointer = lib.defaults_open(encoded(domain))
        else:
            words = [ffi.new("char[]", encoded(word)) for word in arguments]
            pointer = lib.defaults_open_with_arguments(encoded(domain), len(words), words)
        if not pointer:
            raise last_error() or MemoryError()
        return pointer

    def close(self) -> None:
        self._finalizer()
        self.pointer = None

    @property
    def open_pointer(self) -> Any:
        if self.pointer is None:
            raise ValueError("The domain is closed.")
        return self.pointer
