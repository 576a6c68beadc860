"""The errors of the library as exceptions."""

from ._declarations import ffi
from ._loaded import lib


class DefaultsError(Exception):
    """Why a call failed. The text never contains a stored value."""

    #: The code of the library for C: a DEFAULTS_ERROR_….
    code: int

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


class InvalidArgumentError(DefaultsError, ValueError):
    """An invalid name of a domain or a key, or an invalid value."""


class NoValueError(DefaultsError, KeyError):
    """There is no value for the key."""

    def __str__(self) -> str:
        # That of KeyError would put the sentence in quotes.
        return str(self.args[0])


class WrongTypeError(DefaultsError, TypeError):
    """The stored value is not of the requested type, or a value is of a type that cannot be stored."""


class LockedError(DefaultsError):
    """The administrator has locked the key, or programs cannot write to the layer."""


class ConflictError(DefaultsError):
    """Another process has changed the key meanwhile."""


class LimitError(DefaultsError):
    """A value is too large, a quota is used up, or too many changes wait."""


class UnreachableError(DefaultsError):
    """There is no service, or it did not answer in time."""


class NotDurableError(DefaultsError):
    """The change was made but is not on disk yet."""


class StorageError(DefaultsError):
    """The disk failed, and nothing was changed."""


class ForkedError(DefaultsError):
    """The process was forked after it had opened a domain."""


_KINDS: dict[int, type[DefaultsError]] = {
    lib.DEFAULTS_ERROR_ARGUMENT: InvalidArgumentError,
    lib.DEFAULTS_ERROR_NAME: InvalidArgumentError,
    lib.DEFAULTS_ERROR_VALUE: InvalidArgumentError,
    lib.DEFAULTS_ERROR_NOT_FOUND: NoValueError,
    lib.DEFAULTS_ERROR_TYPE: WrongTypeError,
    lib.DEFAULTS_ERROR_LOCKED: LockedError,
    lib.DEFAULTS_ERROR_NOT_WRITABLE: LockedError,
    lib.DEFAULTS_ERROR_CONFLICT: ConflictError,
    lib.DEFAULTS_ERROR_TOO_LARGE: LimitError,
    lib.DEFAULTS_ERROR_LIMIT: LimitError,
    lib.DEFAULTS_ERROR_TOO_MANY_CHANGES: LimitError,
    lib.DEFAULTS_ERROR_UNREACHABLE: UnreachableError,
    lib.DEFAULTS_ERROR_NOT_DURABLE: NotDurableError,
    lib.DEFAULTS_ERROR_STORAGE: StorageError,
    lib.DEFAULTS_ERROR_FORKED: ForkedError,
}

NOT_FOUND: int = lib.DEFAULTS_ERROR_NOT_FOUND
WRONG_TYPE: int = lib.DEFAULTS_ERROR_TYPE


def last_error() -> DefaultsError | None:
    """The error of the last call of this thread; None if it has succeeded."""
    code: int = lib.defaults_last_error()
    return made_error(code, message()) if code else None


def no_value(key: str) -> DefaultsError:
    """The error of the last read, which has returned no value."""
    error = last_error()
    if error is not None and error.code != NOT_FOUND:
        return error
    return NoValueError(NOT_FOUND, f"There is no value for the key {key!r}.")


def invalid(words: str) -> InvalidArgumentError:
    """The error for an argument that the library cannot have."""
    return InvalidArgumentError(lib.DEFAULTS_ERROR_ARGUMENT, words)


def wrong_type(words: str) -> WrongTypeError:
    """The error for a value of a type that is not the right one."""
    return WrongTypeError(WRONG_TYPE, words)


def too_deep() -> LimitError:
    """The error for a value whose parts are nested deeper than Python can follow, or that contains itself."""
    return LimitError(lib.DEFAULTS_ERROR_TOO_LARGE, "The value is nested too deep.")


def message() -> str:
    text: bytes = ffi.string(lib.defaults_error_message())
    return text.decode()


def made_error(code: int, words: str) -> DefaultsError:
    return _KINDS.get(code, DefaultsError)(code, words)


def check(code: int) -> None:
    """Raises the error of a function that returns a code."""
    if code:
        raise made_error(code, message())
