"""Keyed archives by plistlib: making one of a tree, and the graph of one.

A tree is a value that JSON can write:

    null, true, 42, 1.5, "text", [...], {"key": ...}      what they look like
    {"$data": "00ff"}                                     data, in hexadecimal
    {"$date": 1.5}, {"$set": [...]}                       NSDate, NSSet
    {"$object": "Account", "fields": {...}}               an object of that class
    {"$twice": tree}                                      an array of one object, twice
    {"$repeat": ["x", 1000]}                              a long text
    {"$fit": 65536}                                       a text whose archive has that many bytes
"""

import functools
import hashlib
import json
import plistlib
import struct
from plistlib import UID

Tree = object

PLAIN, TURNED, APART, FORM = range(4)
"""How an archive is spelled: as archivers do; the same graph in other bytes (dictionaries and
objects in another order, an object that nothing refers to); equal texts and numbers as objects of
their own, which is another graph where there are such; as a value form is, where nothing else is
shared."""


def tag_of(tree: Tree) -> str | None:
    """Which of the spellings that begin with `$` a tree is; None for all else."""
    if isinstance(tree, dict):
        return next((key for key in tree if key.startswith("$")), None)
    return None


def text_of(tree: Tree) -> str | None:
    """The text that a tree is; None if it is something else."""
    if isinstance(tree, str):
        return tree
    match tag_of(tree):
        case "$repeat":
            text, count = tree["$repeat"]
            return text * count
        case "$fit":
            return "x" * _fitting(tree["$fit"])
    return None


@functools.lru_cache
def _fitting(size: int) -> int:
    """The length of the text whose archive has that size."""
    length = size
    while (excess := len(archive("x" * length)) - size) != 0:
        length -= excess
    return length


def archive(tree: Tree, spelling: int = PLAIN) -> bytes:
    """The archive of a tree."""
    archiver = _Archiver(spelling)
    root = archiver.reference(tree)
    return archiver.finish(root)


class _Archiver:
    """Fills `$objects`, an object before what it refers to, its class after that."""

    CHAINS = {
        "NSMutableArray": ["NSMutableArray", "NSArray", "NSObject"],
        "NSMutableDictionary": ["NSMutableDictionary", "NSDictionary", "NSObject"],
    }

    def __init__(self, spelling: int):
        self.spelling = spelling
        self.objects: list[object] = ["$null"]
        self.scalars: dict[object, UID] = {}
        self.classes: dict[str, UID] = {}

    def finish(self, root: UID) -> bytes:
        objects, top = self.objects, root
        if self.spelling == TURNED:
            last = len(objects)
            objects = [_turned(item, last) for item in objects + ["nobody's"]]
            objects = objects[:1] + objects[:0:-1]
            top = _turned(root, last)
        return plistlib.dumps(
            {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": top},
             "$objects": objects},
            fmt=plistlib.FMT_BINARY, sort_keys=False)

    def reference(self, tree: Tree) -> UID:
        """What represents a tree among the elements of a collection."""
        if tree is None:
            return UID(0)
        text = text_of(tree)
        if text is not None:
            return self._scalar(text)
        if isinstance(tree, (bool, int, float)):
            return self._scalar(tree)
        if isinstance(tree, list):
            return self._object("NSArray", lambda: {"NS.objects": self._references(tree)})
        match tag_of(tree):
            case "$data":
                return self._scalar(bytes.fromhex(tree["$data"]))
            case "$date":
                return self._object("NSDate", lambda: {"NS.time": float(tree["$date"])})
            case "$set":
                return self._object("NSSet", lambda: {"NS.objects": self._references(tree["$set"])})
            case "$object":
                fields = tree["fields"]
                return self._object(
                    tree["$object"], lambda: {name: self._field(fields[name]) for name in fields})
            case "$twice":
                if self.spelling == FORM:
                    return self.reference([tree["$twice"]] * 2)
                return self._object(
                    "NSArray", lambda: {"NS.objects": [self.reference(tree["$twice"])] * 2})
        keys = sorted(tree, reverse=self.spelling == TURNED)
        return self._object("NSDictionary", lambda: {
            "NS.keys": self._references(keys),
            "NS.objects": self._references([tree[key] for key in keys])})

    def _references(self, trees: list[Tree]) -> list[UID]:
        return [self.reference(tree) for tree in trees]

    def _field(self, tree: Tree) -> object:
        """Numbers and booleans stand inline in a field, all else behind a reference."""
        return tree if isinstance(tree, (bool, int, float)) else self.reference(tree)

    def _scalar(self, value: object) -> UID:
        uid = self.scalars.get(_exactly(value))
        if uid is None or self.spelling == APART:
            uid = self._add(value)
            self.scalars[_exactly(value)] = uid
        return uid

    def _object(self, name: str, fields) -> UID:
        contents: dict[str, object] = {}
        uid = self._add(contents)
        found = fields()
        if name not in self.classes:
            chain = self.CHAINS.get(name, [name, "NSObject"])
            self.classes[name] = self._add({"$classname": name, "$classes": chain})
        contents |= {"$class": self.classes[name]} | found
        return uid

    def _add(self, item: object) -> UID:
        self.objects.append(item)
        return UID(len(self.objects) - 1)


def _turned(item: object, last: int) -> object:
    """The same with every reference counted from the other end; nil stays where it is."""
    match item:
        case UID():
            return UID(last + 1 - item.data) if item.data else item
        case list():
            return [_turned(element, last) for element in item]
        case dict():
            return {key: _turned(value, last) for key, value in item.items()}
    return item


def _exactly(value: object) -> object:
    """What tells apart numbers that Python holds equal: 1, 1.0 and true, 0.0 and -0.0."""
    return type(value), struct.pack("<d", value) if isinstance(value, float) else value


@functools.lru_cache(maxsize=1024)
def graph(data: bytes) -> str:
    """A text that two archives have in common when their graphs are the same.

    Every object is numbered when it is found first, and named by its number from then on, so that
    sharing shows; fields and dictionaries of texts are walked in the order of their keys.
    """
    contents = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
    objects = contents["$objects"]
    numbers: dict[int, int] = {}

    def shown(item: object) -> object:
        match item:
            case UID():
                if objects[item.data] == "$null":
                    return None
                if item.data in numbers:
                    return f"the object {numbers[item.data]}"
                numbers[item.data] = len(numbers)
                return [shown(objects[item.data])]
            case dict():
                item = _ordered(item, objects)
                return {key: shown(item[key]) for key in sorted(item)}
            case list():
                return [shown(element) for element in item]
            case str():
                return "text " + item
            case bytes():
                return "data " + item.hex()
            case float():
                return "real " + struct.pack(">d", item).hex()
        return item

    text = json.dumps([contents["$archiver"], shown(contents["$top"])], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest() if len(text) > 1000 else text


def _ordered(item: dict[str, object], objects: list[object]) -> dict[str, object]:
    """A dictionary of texts with its pairs in the order of the keys."""
    keys = item.get("NS.keys")
    if not keys:
        return item
    pairs = sorted(zip(keys, item["NS.objects"]), key=lambda pair: objects[pair[0].data])
    return item | {"NS.keys": [key for key, _ in pairs],
                   "NS.objects": [value for _, value in pairs]}
