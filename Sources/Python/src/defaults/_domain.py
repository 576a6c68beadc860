"""A domain as a mapping of keys to values."""

from collections.abc import Iterator, MutableMapping
from typing import Any, TypeVar, overload

from ._changes import Changes
from ._declarations import ffi
from ._errors import NOT_FOUND, WRONG_TYPE, DefaultsError, NoValueError, check, invalid, last_error, no_value
from ._handle import Handle
from ._layers import Layer, State
from ._library import encoded, milliseconds, taken_bytes, taken_text
from ._loaded import NULL, lib
from ._transaction import Transaction
from ._values import taken_value, to_json, to_object

# Bound here, because the library looks them up at each use.
_get_bool: Any = lib.defaults_get_bool
_get_double: Any = lib.defaults_get_double
_get_int64: Any = lib.defaults_get_int64
_MOST_NAMES = 1024
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

Object = TypeVar("Object")
Default = TypeVar("Default")


class Domain(MutableMapping[str, Any]):
    """The defaults of a domain.

    A read takes the value from the memory of the process, and a write takes effect at once. All threads may
    use a domain. Its keys are those of all layers; setting and deleting change the user's own values.
    """

    def __init__(self, name: str, *, arguments: list[str] | None = None):
        """Opens a domain.

        name: an application ID such as "org.example.Game", or "NSGlobalDomain".
        arguments: the command line, such as sys.argv: `-PlaySound NO` sets a key for this run.
        """
        self.name = name
        self._handle = Handle(name, arguments)
        # The names of keys as C has them, which reads need again and again.
        self._names: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"Domain({self.name!r})"

    def close(self) -> None:
        """Closes the domain. What it has changed is still sent."""
        self._handle.close()

    def load(self) -> None:
        """Reads the domain, so that no later read waits.

        This waits for two seconds at most, for thirty while the bus starts the service, or for six if this
        process runs defaultsd for itself.
        """
        check(lib.defaults_load(self._handle.open_pointer))

    @property
    def state(self) -> State:
        """How the service is reached."""
        return State(lib.defaults_state(self._handle.open_pointer))

    # Reading

    def __getitem__(self, key: str) -> Any:
        return taken_value(lib.defaults_copy_json(self._handle.open_pointer, encoded(key)), key)

    # That of a mapping does not say that the type of the result is that of the default.
    @overload  # type: ignore[override]
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
    def get(self, key: str, default: bytes, /) -> bytes: ...
    @overload
    def get(self, key: str, default: Default, /) -> Any | Default: ...

    def get(self, key: str, default: Any = None, /) -> Any:
        """The value of a key, or the default, also if the service has never answered: see `state`.

        `domain[key]` raises UnreachableError then. If the default is a bool, int, float, str or bytes, the result is of the same type: a value of
        another type is the default, too.
        """
        pointer, kind = self._handle.pointer, type(default)
        if pointer is None:
            raise invalid("The domain is closed.")
        name = self._names.get(key) or self._kept_name(key)
        if kind is bool:
            return _get_bool(pointer, name, default)
        if kind is float:
            return _get_double(pointer, name, default)
        if kind is int and _LEAST <= default <= _MOST:
            return _get_int64(pointer, name, default)
        if kind is str:
            memory = lib.defaults_get_string(pointer, name, NULL)
            return taken_text(memory) if memory else self._text_with_nul(key, default)
        if kind is bytes:
            size = ffi.new("size_t *")
            memory = lib.defaults_get_bytes(pointer, name, size)
            return taken_bytes(memory, size[0]) if memory else default
        try:
            return self[key]
        except KeyError:
            return default

    def _text_with_nul(self, key: str, default: str) -> str:
        """A text that no string of C can be, or the default."""
        if lib.defaults_last_error() != WRONG_TYPE:
            return default
        try:
            value = self[key]
        except (KeyError, DefaultsError):
            return default
        return value if isinstance(value, str) else default

    def _kept_name(self, key: str) -> bytes:
        name = encoded(key)
        if len(self._names) < _MOST_NAMES:
            self._names[key] = name
        return name

    def get_as(self, key: str, kind: type[Object]) -> Object:
        """The value of a key as a dataclass, or as a type such as list[str].

        A field that the stored object lacks has the default of the dataclass. The class in the archive has the
        name of the dataclass, or of its attribute `defaults_class`.

        Raises NoValueError if there is no value, and WrongTypeError if it is not of the type.
        """
        return to_object(self[key], kind)

    def archive(self, key: str) -> bytes:
        """The keyed archive of a value, in the format of NSKeyedArchiver."""
        size = ffi.new("size_t *")
        memory = lib.defaults_copy_archive(self._handle.open_pointer, encoded(key), size)
        if not memory:
            raise no_value(key)
        return taken_bytes(memory, size[0])

    def value_in(self, layer: Layer, key: str) -> Any:
        """The value that one layer has for a key. Raises NoValueError if it has none."""
        pointer = self._handle.open_pointer
        return taken_value(lib.defaults_copy_json_in(pointer, layer, encoded(key)), key)

    def layer(self, key: str) -> Layer | None:
        """The layer that the value of a key comes from; None if there is no value."""
        number = lib.defaults_layer(self._handle.open_pointer, encoded(key))
        if number:
            return Layer(number)
        if error := last_error():
            raise error
        return None

    def is_locked(self, key: str) -> bool:
        """Whether the administrator has locked a key."""
        return bool(lib.defaults_is_locked(self._handle.open_pointer, encoded(key)))

    def keys_in(self, layer: Layer | None = None) -> list[str]:
        """The keys of a layer, or of all layers except the command line, sorted by code point."""
        count = ffi.new("size_t *")
        array = lib.defaults_copy_keys(self._handle.open_pointer, layer or 0, count)
        if not array:
            raise last_error() or MemoryError()
        try:
            return [ffi.string(array[place]).decode() for place in range(count[0])]
        finally:
            lib.defaults_free(array)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.layer(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys_in())

    def __len__(self) -> int:
        return len(self.keys_in())

    # Writing

    def __setitem__(self, key: str, value: Any) -> None:
        """Sets the user's own value, at once here and in the background at the service."""
        pointer, name = self._handle.open_pointer, encoded(key)
        kind = type(value)
        if kind is bool:
            check(lib.defaults_set_bool(pointer, name, value))
        elif kind is int and -1 << 63 <= value < 1 << 63:
            check(lib.defaults_set_int64(pointer, name, value))
        elif kind is float:
            check(lib.defaults_set_double(pointer, name, value))
        elif kind is bytes:
            check(lib.defaults_set_bytes(pointer, name, value, len(value)))
        elif kind is str and "\0" not in value:
            check(lib.defaults_set_string(pointer, name, encoded(value)))
        else:
            check(lib.defaults_set_json(pointer, name, encoded(to_json(value))))

    def __delitem__(self, key: str) -> None:
        """Removes the user's own value. Raises NoValueError if there is none."""
        self.value_in(Layer.DOMAIN, key)
        check(lib.defaults_remove(self._handle.open_pointer, encoded(key)))

    def clear(self) -> None:
        """Removes all of the user's own values, one by one."""
        for key in self.keys_in(Layer.DOMAIN):
            check(lib.defaults_remove(self._handle.open_pointer, encoded(key)))

    def pop(self, key: str, *default: Any) -> Any:
        """Removes the user's own value, and returns it. Without one it returns the default, or raises NoValueError."""
        if len(default) > 1:
            raise TypeError("pop() takes a key and one default.")
        try:
            value = self.value_in(Layer.DOMAIN, key)
        except KeyError:
            if default:
                return default[0]
            raise
        check(lib.defaults_remove(self._handle.open_pointer, encoded(key)))
        return value

    def popitem(self) -> tuple[str, Any]:
        """Removes the last of the user's own values, and returns its key and the value."""
        if keys := self.keys_in(Layer.DOMAIN):
            return keys[-1], self.pop(keys[-1])
        raise NoValueError(NOT_FOUND, "The user has no values of their own in the domain.")

    def set_archive(self, key: str, archive: bytes) -> None:
        """Stores a keyed archive."""
        check(lib.defaults_set_archive(
            self._handle.open_pointer, encoded(key), archive, len(archive)))

    def change(self, layer: Layer = Layer.DOMAIN, *, timeout: float = 30) -> Transaction:
        """Changes several keys as one change, which is made at the end of the block.

            with game.change() as change:
                change["HighScore"] = max(change.get("HighScore", 0), score)

        What the change reads comes from the service. If another process changes it meanwhile, the end of
        the block raises ConflictError, and nothing is changed. An exception in the block cancels the change.

        timeout: how many seconds to wait for the service; 0 to send the change in the background.
        """
        return Transaction(self._handle, layer, timeout)

    def flush(self, timeout: float = 30) -> None:
        """Waits until the service has answered the changes of this process.

        Raises the error of the first change that was refused since the last call, such as LockedError. So if
        it returns, the changes since then are kept. Raises UnreachableError after the time, or at once if no
        service is installed.
        """
        check(lib.defaults_flush(self._handle.open_pointer, milliseconds(timeout)))

    def synchronize(self, timeout: float = 30) -> None:
        """Waits until every change that was acknowledged so far is on disk. Raises what flush() raises."""
        check(lib.defaults_synchronize(self._handle.open_pointer, milliseconds(timeout)))

    # Following

    def changes(self, key: str | None = None) -> Changes:
        """The changes of a key, or of all keys, by any process, from now on.

            async for change in game.changes("Volume"):
                show(game.get("Volume", 0.5))

        One change of each key waits at most, so a slow program gets the newest.
        """
        return Changes(self.name, key)
