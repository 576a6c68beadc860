"""Changes of several keys that are made together."""

import types
from typing import Any, Literal, TypeVar, overload

from ._declarations import ffi
from ._errors import check, invalid, last_error
from ._handle import Handle
from ._layers import Layer
from ._library import encoded, milliseconds, taken_text
from ._loaded import NULL, lib
from ._values import taken_value, to_json, to_object

Object = TypeVar("Object")
Default = TypeVar("Default")


class Transaction:
    """A change that Domain.change() begins. It belongs to one thread."""

    #: The generation of the change, after it was made and waited for.
    generation: int | None = None

    def __init__(self, handle: Handle, layer: Layer, timeout: float):
        self._milliseconds = milliseconds(timeout)
        pointer = lib.defaults_begin(handle.open_pointer, layer)
        if not pointer:
            raise last_error() or MemoryError()
        self._pointer: Any = ffi.gc(pointer, lib.defaults_cancel)

    def __enter__(self) -> "Transaction":
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> Literal[False]:
        if self._pointer is None:
            # The block has ended the change itself.
            return False
        if kind is None:
            self.commit()
        else:
            self.cancel()
        return False

    def commit(self) -> None:
        """Makes the change."""
        pointer = self._ended()
        generation = ffi.new("uint64_t *")
        check(lib.defaults_commit(pointer, self._milliseconds, generation))
        self.generation = generation[0] or None

    def cancel(self) -> None:
        """Drops the change."""
        lib.defaults_cancel(self._ended())

    def _open(self) -> Any:
        if self._pointer is None:
            raise invalid("The change has ended.")
        return self._pointer

    def _ended(self) -> Any:
        """The pointer, which the library frees now."""
        pointer = self._open()
        ffi.gc(pointer, None)
        self._pointer = None
        return pointer

    def __getitem__(self, key: str) -> Any:
        return taken_value(lib.defaults_change_copy_json(self._open(), encoded(key)), key)

    @overload
    def get(self, key: str, /) -> Any | None: ...
    @overload
    def get(self, key: str, default: bool, /) -> bool: ...
    @overload
    def get(self, key: str, default: int, /) -> int: ...
    @overload
    def get(self, key: str, default: float, /) -> float: ...
    @overload
    def get(self, key: str, default: str, /) -> str: ...
    @overload
    def get(self, key: str, default: Default, /) -> Any | Default: ...

    def get(self, key: str, default: Any = None, /) -> Any:
        """The value of a key for this change, or the default.

        If the default is a bool, int, float or str and the value is of another type, this raises
        WrongTypeError: the change would replace a value that was not read.
        """
        pointer, kind = self._open(), type(default)
        if kind is bool:
            return self._read(lib.defaults_change_get_bool(pointer, encoded(key), default))
        if kind is float:
            return self._read(lib.defaults_change_get_double(pointer, encoded(key), default))
        if kind is int and -1 << 63 <= default < 1 << 63:
            return self._read(lib.defaults_change_get_int64(pointer, encoded(key), default))
        try:
            value = self[key]
        except KeyError:
            return default
        if kind is str and not isinstance(value, str):
            # JSON has shown it, because a text may contain NUL. This one is the error, which the change keeps.
            memory = self._read(lib.defaults_change_get_string(pointer, encoded(key), NULL))
            return taken_text(memory) if memory else default
        return value

    @staticmethod
    def _read(value: Any) -> Any:
        if error := last_error():
            raise error
        return value

    def get_as(self, key: str, kind: type[Object]) -> Object:
        """The value of a key for this change, as Domain.get_as() returns it."""
        return to_object(self[key], kind)

    def __setitem__(self, key: str, value: Any) -> None:
        pointer, name = self._open(), encoded(key)
        if type(value) is bytes:
            check(lib.defaults_change_set_bytes(pointer, name, value, len(value)))
        else:
            check(lib.defaults_change_set_json(pointer, name, encoded(to_json(value))))

    def __delitem__(self, key: str) -> None:
        check(lib.defaults_change_remove(self._open(), encoded(key)))

    def expect(self, key: str, generation: int) -> None:
        """Expects that the last change of a key has a generation; 0 if the layer may not have the key."""
        check(lib.defaults_change_expect(self._open(), encoded(key), generation))
