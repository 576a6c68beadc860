"""Python's values as D-Bus carries them, and back."""

import functools

from gi.repository import GLib


def packed(signature: str, arguments: tuple) -> GLib.Variant:
    """The body of a call: bytes stand for `ay`, dictionaries or pairs for `a{..}`, and a
    GLib.Variant for what `v` holds."""
    return _packed(signature, arguments)


def _packed(kind: str, value: object) -> GLib.Variant:
    if kind == "ay":
        return GLib.Variant.new_from_bytes(GLib.VariantType(kind), GLib.Bytes.new(value), True)
    if kind == "v":
        return GLib.Variant.new_variant(value)
    if kind[0] == "a":
        builder = GLib.VariantBuilder.new(GLib.VariantType(kind))
        for element in value.items() if isinstance(value, dict) else value:
            builder.add_value(_packed(kind[1:], element))
        return builder.end()
    if kind[0] in "({":
        members = [_packed(*pair) for pair in zip(_members(kind[1:-1]), value, strict=True)]
        make = GLib.Variant.new_tuple if kind[0] == "(" else GLib.Variant.new_dict_entry
        return make(*members)
    return GLib.Variant(kind, value)


@functools.lru_cache
def _members(signature: str) -> tuple[str, ...]:
    """The complete types that a signature consists of."""
    members, start, depth = [], 0, 0
    for place, code in enumerate(signature):
        depth += (code in "({") - (code in ")}")
        if depth == 0 and code != "a":
            members.append(signature[start:place + 1])
            start = place + 1
    return tuple(members)


def plain(part: GLib.Variant) -> object:
    """A body as tuples, lists and dictionaries, archives as bytes."""
    kind = part.get_type_string()
    if kind == "ay":
        return part.get_data_as_bytes().get_data() or b""
    if kind == "v":
        return plain(part.get_variant())
    if kind[0] in "({a":
        children = [plain(part.get_child_value(place)) for place in range(part.n_children())]
        if kind.startswith("a{"):
            return dict(children)
        return children if kind[0] == "a" else tuple(children)
    return part.unpack()
