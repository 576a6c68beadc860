"""Values of Python as JSON, in the form that defaultsd-values(5) describes, and back."""

import base64
import collections.abc
import dataclasses
import datetime
import enum
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, Union

from ._errors import WrongTypeError, invalid, no_value, too_deep, wrong_type
from ._library import taken_text

Value: TypeAlias = Union[
    None, bool, int, float, str, bytes, datetime.datetime, Sequence["Value"], Mapping[str, "Value"]]
"""What can be stored, beside dataclasses."""

Object = TypeVar("Object")

_EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
_REALS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(value: object) -> str:
    """The JSON of a value.

    Raises WrongTypeError for a value of a type that cannot be stored, InvalidArgumentError for another one that
    cannot, and LimitError for one that is nested too deep.
    """
    try:
        form = _form(value)
    except RecursionError:
        raise too_deep() from None
    try:
        return json.dumps(form, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise too_deep() from None
    except ValueError as error:
        # An integer of thousands of digits, which Python does not write.
        raise invalid(f"The value cannot be stored: {error}.") from None


def from_json(text: str) -> Any:
    try:
        return json.loads(text, object_hook=_value)
    except RecursionError:
        raise too_deep() from None


def taken_value(memory: Any, key: str) -> Any:
    """The value in JSON that the library has made for a key. Raises the error of the read if it is NULL."""
    if not memory:
        raise no_value(key)
    return from_json(taken_text(memory))


def _form(value: object) -> object:
    """The value in terms of JSON."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"$real": _real_name(value)}
        case bytes() | bytearray() | memoryview():
            return {"$data": base64.b64encode(bytes(value)).decode()}
        case datetime.datetime():
            return {"$class": "NSDate", "NS.time": (_aware(value) - _EPOCH).total_seconds()}
        case Mapping():
            return {_key(key): _form(part) for key, part in value.items()}
        case list() | tuple():
            return [_form(part) for part in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"$class": class_name(type(value))} | {
            field.name: _form(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise wrong_type(f"A value of the type {type(value).__name__} cannot be stored.")


def _real_name(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _aware(date: datetime.datetime) -> datetime.datetime:
    """A date without a time zone is of the local one, as everywhere in Python."""
    try:
        return date.astimezone(datetime.timezone.utc)
    except (OverflowError, ValueError):
        raise invalid("The date is outside the years 1 to 9999 in UTC.") from None


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise wrong_type(
            f"A dictionary has a key of the type {type(key).__name__}; only str can be stored.")
    return key


def _value(form: dict[str, Any]) -> Any:
    """The value of a dictionary of JSON, whose parts are values already."""
    match form:
        case {"$data": str(text), **rest} | {"$bytes": str(text), **rest} if not rest:
            return base64.b64decode(text)
        case ({"$date": float(seconds), **rest}
              | {"$class": "NSDate", "NS.time": float(seconds), **rest}) if not rest:
            return _date(seconds) or form
        case {"$class": "NSDate", "NS.time": int(seconds), **rest} if (
                not rest and not isinstance(seconds, bool)):
            # Some archivers write whole seconds as an integer.
            return _date(seconds) or form
        case {"$real": str(name), **rest} if not rest and name in _REALS:
            return _REALS[name]
        case {"$class": "NSNumber", "$value": number, **rest} if not rest:
            return number
    return form


def _date(seconds: float) -> datetime.datetime | None:
    """The date; None if Python has no such year."""
    try:
        return _EPOCH + datetime.timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


# Dataclasses

# What a list or a dictionary may be declared as.
_SEQUENCES = {list, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Collection,
              collections.abc.Iterable}
_MAPPINGS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}

def class_name(kind: type) -> str:
    """The name of the class of a dataclass in archives: its own, or its attribute defaults_class."""
    return str(getattr(kind, "defaults_class", kind.__name__))


def to_object(value: object, kind: type[Object]) -> Object:
    """The value as one of a type: a dataclass with the fields of an object or a dictionary.

    A field that the value lacks has the default of the dataclass.

    Raises WrongTypeError for a value of another type.
    """
    made = _converted(value, kind)
    return typing.cast(Object, made)


def _converted(value: Any, kind: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        return _one_of(value, arguments)
    if dataclasses.is_dataclass(kind):
        return _dataclass(value, kind)
    if origin in _SEQUENCES and isinstance(value, list):
        return [_converted(part, arguments[0]) for part in value]
    if tuple in (origin, kind) and isinstance(value, list):
        return _tuple(value, arguments or (Any, ...))
    if origin in _MAPPINGS and isinstance(value, dict):
        return {key: _converted(part, arguments[1]) for key, part in value.items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _member(value, kind)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is bytearray and isinstance(value, bytes):
        return bytearray(value)
    if kind is None and value is None:
        return None
    plain = origin or kind
    if isinstance(plain, type) and isinstance(value, plain) and (plain is bool) >= isinstance(value, bool):
        return value
    raise _mismatch(value, kind)


def _mismatch(value: Any, *kinds: Any) -> WrongTypeError:
    return wrong_type(
        f"The value is of the type {type(value).__name__}, and not {' or '.join(map(_spelled, kinds))}.")


def _spelled(kind: Any) -> str:
    """A type as a program spells it."""
    if kind in (None, type(None)):
        return "None"
    is_plain = typing.get_origin(kind) is None and isinstance(kind, type)
    return str(kind.__name__) if is_plain else str(kind).replace("typing.", "")


def _tuple(value: list[Any], kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    if kinds[1:] == (...,):
        return tuple(_converted(part, kinds[0]) for part in value)
    if kinds == ((),):
        # Python 3.10 says so of tuple[()].
        kinds = ()
    if len(value) != len(kinds):
        raise wrong_type(f"The value has another number of elements: {len(value)} instead of {len(kinds)}.")
    return tuple(_converted(part, kind) for part, kind in zip(value, kinds))


def _member(value: Any, kind: type[enum.Enum]) -> enum.Enum:
    try:
        return kind(value)
    except ValueError:
        # The text of an error contains no value.
        raise wrong_type(f"The value is none of {kind.__name__}.") from None


def _one_of(value: Any, kinds: tuple[Any, ...]) -> Any:
    # An int is not to become a float where it may be an int.
    if type(value) in kinds:
        return value
    for kind in kinds:
        try:
            return _converted(value, kind if kind is not type(None) else None)
        except TypeError:
            continue
    raise _mismatch(value, *kinds)


def _dataclass(value: Any, kind: Any) -> Any:
    if not isinstance(value, dict):
        raise _mismatch(value, kind)
    if value.get("$class", class_name(kind)) != class_name(kind):
        raise wrong_type(f"The object is of the class {value['$class']}, and not {class_name(kind)}.")
    missing = [field.name for field in dataclasses.fields(kind)
               if field.init and field.name not in value and _is_required(field)]
    if missing:
        raise wrong_type(f"The object lacks fields of {class_name(kind)}: {', '.join(missing)}.")
    hints = typing.get_type_hints(kind)
    fields = {field.name: _converted(value[field.name], hints[field.name])
              for field in dataclasses.fields(kind) if field.init and field.name in value}
    return kind(**fields)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
