"""A value of a step: a tree as an archive and in the value form."""

import functools
import json
from dataclasses import dataclass

from gi.repository import GLib

from archives import FORM, PLAIN, Tree, archive, graph, tag_of, text_of


@dataclass(frozen=True)
class Value:
    """What a key holds."""

    archive: bytes
    """Its archive; by another writer it may be other bytes of the same graph."""
    graph: str
    """What two archives of the same value have in common; see `archives.graph`."""
    form: str | None
    """Its value form as text, see `form_of`; None where D-Bus cannot carry it."""
    is_exact: bool
    """Whether the service was given these very bytes."""

    @property
    def size(self) -> int:
        return len(self.archive)


def value(description: dict, as_archive: bool) -> Value:
    """The value that a step describes: `{"tree": …, "spelling": 0}`, the latter for archives."""
    return _value(json.dumps(description), as_archive)


@functools.lru_cache(maxsize=4096)
def _value(description: str, as_archive: bool) -> Value:
    parts = json.loads(description)
    tree = parts["tree"]
    data = archive(tree, parts.get("spelling", PLAIN) if as_archive else FORM)
    form = form_of(variant(tree)) if is_representable(tree) else None
    return Value(data, graph(data), form, as_archive)


def is_representable(tree: Tree) -> bool:
    """Whether D-Bus can carry it: no text in it has a NUL."""
    return "\\u0000" not in json.dumps(tree)


def variant(tree: Tree) -> GLib.Variant:
    """The value form of a tree."""
    text = text_of(tree)
    if text is not None:
        return GLib.Variant("s", text)
    match tree:
        case None:
            return _dictionary({"$class": GLib.Variant("s", "$null")})
        case bool():
            return GLib.Variant("b", tree)
        case int():
            return GLib.Variant("x" if tree < 1 << 63 else "t", tree)
        case float():
            return GLib.Variant("d", tree)
        case list():
            return _array(tree)
    match tag_of(tree):
        case "$data":
            return GLib.Variant("ay", bytes.fromhex(tree["$data"]))
        case "$date":
            return _object("NSDate", {"NS.time": GLib.Variant("d", tree["$date"])})
        case "$set":
            return _object("NSSet", {"NS.objects": _array(tree["$set"])})
        case "$object":
            return _object(
                tree["$object"], {name: variant(field) for name, field in tree["fields"].items()})
        case "$twice":
            return _array([tree["$twice"]] * 2)
    return _dictionary({key: variant(entry) for key, entry in tree.items()})


def _array(trees: list[Tree]) -> GLib.Variant:
    return GLib.Variant("av", [variant(tree) for tree in trees])


def _dictionary(entries: dict[str, GLib.Variant]) -> GLib.Variant:
    return GLib.Variant("a{sv}", entries)


def _object(name: str, fields: dict[str, GLib.Variant]) -> GLib.Variant:
    return _dictionary({"$class": GLib.Variant("s", name)} | fields)


def bytes_of(part: GLib.Variant) -> bytes:
    """The bytes of an `ay`."""
    return part.get_data_as_bytes().get_data() or b""


def form_of(answer: GLib.Variant) -> str:
    """A text that shows every type and bit of a value, whatever the order of its dictionaries."""
    return json.dumps(_shown(answer), sort_keys=True)


def _shown(part: GLib.Variant) -> object:
    match part.get_type_string():
        case "v":
            return _shown(part.get_variant())
        case "ay":
            return {"$data": bytes_of(part).hex()}
        case "av":
            return [_shown(part.get_child_value(place)) for place in range(part.n_children())]
        case "a{sv}":
            return {key: _shown(part.lookup_value(key)) for key in part.keys()}
        case "b" | "x" | "d" | "s":
            return part.unpack()
        case other:
            # The value form has no other type, but for whole numbers that need all 64 bits.
            return [other, part.unpack()]
