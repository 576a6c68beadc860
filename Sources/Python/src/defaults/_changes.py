"""Changes for asyncio, and for every loop that waits for a descriptor."""

import asyncio
import collections
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

from ._declarations import ffi
from ._errors import check, last_error
from ._handle import Handle
from ._library import encoded
from ._loaded import NULL, lib


_MOST_IN_A_ROW = 64


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of the value of a key."""

    #: The key.
    key: str
    #: Whether this process has made the change.
    is_from_this_process: bool


class Changes(AsyncIterator[Change]):
    """The changes of a domain from the moment when this was made, for one consumer.

    It ends with close(), with its block, or with its last reference.
    """

    def __init__(self, domain: str, key: str | None):
        # A handle of its own has a descriptor of its own.
        self._handle = Handle(domain)
        self._waiting: collections.deque[Change] = collections.deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: asyncio.Future[None] | None = None
        self._taken = 0
        waiting = self._waiting

        def changed(_: Any, name: Any, origin: int, __: Any) -> None:
            waiting.append(Change(
                ffi.string(name).decode(), bool(origin & lib.DEFAULTS_ORIGIN_THIS_PROCESS)))

        # The library calls it as long as the handle is open.
        self._changed = ffi.callback(
            "void(defaults_t *, const char *, unsigned, void *)", changed)
        name = NULL if key is None else encoded(key)
        if not lib.defaults_watch(self._handle.open_pointer, name, self._changed, NULL, NULL):
            raise last_error() or MemoryError()

    def fileno(self) -> int:
        """The descriptor that is readable while there are changes, for other loops than that of asyncio."""
        return int(lib.defaults_fd(self._handle.open_pointer))

    def take(self) -> list[Change]:
        """The changes so far; this does not wait."""
        check(lib.defaults_dispatch(self._handle.open_pointer))
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def __aiter__(self) -> "Changes":
        return self

    async def __anext__(self) -> Change:
        self._taken += 1
        if self._taken % _MOST_IN_A_ROW == 0:
            # Other tasks have their turn, however many changes come.
            await asyncio.sleep(0)
        while not self._waiting:
            if self._handle.pointer is None:
                raise StopAsyncIteration
            check(lib.defaults_dispatch(self._handle.open_pointer))
            if not self._waiting:
                await self._wait()
        return self._waiting.popleft()

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        if self._ready is not None:
            raise RuntimeError("Two tasks wait for the same changes.")
        self._loop, self._ready = loop, loop.create_future()
        descriptor = self.fileno()
        loop.add_reader(descriptor, self._wake)
        try:
            await self._ready
        finally:
            # After close() the number of the descriptor may be that of another one.
            if self._loop is not None:
                loop.remove_reader(descriptor)
            self._loop = self._ready = None

    def _wake(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    def close(self) -> None:
        """Ends it; a task that waits for the next change ends, too."""
        if self._handle.pointer is None:
            return
        loop, self._loop = self._loop, None
        try:
            # The tasks of a closed loop are gone.
            if loop is not None and not loop.is_closed():
                loop.remove_reader(self.fileno())
                self._wake()
        finally:
            self._handle.close()

    async def aclose(self) -> None:
        """The same as close()."""
        self.close()

    def __enter__(self) -> "Changes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
