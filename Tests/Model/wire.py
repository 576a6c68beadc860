"""A call as D-Bus carries it, and an answer as Python compares it."""

from gi.repository import GLib

from refusals import Call
from values import bytes_of, form_of, value, variant

ARGUMENTS = {
    "Get": ("domain", "key"), "GetValue": ("domain", "key"), "ListDomains": (),
    "ListKeys": ("domain",), "GetAll": ("domain",), "GetAllValues": ("domain",),
    "GetChanges": ("domain", "since"), "Attach": ("domains",),
    "Set": ("domain", "key", "archive"), "SetValue": ("domain", "key", "value"),
    "Remove": ("domain", "key"), "Rename": ("domain", "key", "new_key"),
    "RemoveDomain": ("domain",),
    "Apply": ("domain", "archives", "remove", "expected", "options"),
    "ApplyValues": ("domain", "values", "remove", "expected", "options"),
    "Synchronize": (),
}


OPTION_TYPES = {bool: "b", int: "t", str: "s"}


def arguments(call: Call) -> GLib.Variant:
    """The body of the message that makes a call."""
    if "raw" in call:
        return GLib.Variant.parse(None, call["raw"], None, None)
    return GLib.Variant.new_tuple(*[_argument(call, name) for name in ARGUMENTS[call["method"]]])


def _argument(call: Call, name: str) -> GLib.Variant:
    match name:
        case "domain" | "key" | "new_key":
            return GLib.Variant("s", call[name])
        case "since":
            return GLib.Variant("t", call[name])
        case "remove" | "domains":
            return GLib.Variant("as", call[name])
        case "archive":
            return _archive(call["value"])
        case "value":
            return GLib.Variant.new_variant(_value(call["value"]))
        case "archives":
            return _dictionary("a{say}", [(key, _archive(new)) for key, new in call["set"]])
        case "values":
            return _dictionary(
                "a{sv}",
                [(key, GLib.Variant.new_variant(_value(new))) for key, new in call["set"]])
        case "expected":
            return _dictionary(
                "a{st}", [(key, GLib.Variant("t", number)) for key, number in call["expected"]])
        case "options":
            return GLib.Variant("a{sv}", {
                option: GLib.Variant(OPTION_TYPES[type(given)], given)
                for option, given in call["options"].items()})


def _archive(description: dict) -> GLib.Variant:
    data = (bytes.fromhex(description["bytes"]) if "bytes" in description
            else value(description, as_archive=True).archive)
    return GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(data), True)


def _value(description: dict) -> GLib.Variant:
    if "text" in description:
        return GLib.Variant.parse(None, description["text"], None, None)
    return variant(description["tree"])


def _dictionary(kind: str, entries: list[tuple[str, GLib.Variant]]) -> GLib.Variant:
    """Unlike a dictionary of Python, it may have a key twice."""
    builder = GLib.VariantBuilder.new(GLib.VariantType(kind))
    for key, entry in entries:
        builder.add_value(GLib.Variant.new_dict_entry(GLib.Variant("s", key), entry))
    return builder.end()


def plain(part: GLib.Variant) -> object:
    """An answer as tuples and lists, archives as bytes, and values as the text of their form."""
    kind = part.get_type_string()
    if kind == "ay":
        return bytes_of(part)
    if kind == "v":
        return form_of(part)
    if kind[0] in "(a{":
        children = [plain(part.get_child_value(place)) for place in range(part.n_children())]
        return children if kind[0] == "a" else tuple(children)
    return part.unpack()
