"""What the daemon did to a directory, and what a power cut at any moment would have left of it.

Of a file, what was written since it was last synchronised may be lost: all of it, or any sectors.
Of a directory, so may the names that were made, changed or removed since. Nothing else is lost.
"""

import pathlib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

CALLS = ("open,openat,creat,mkdir,mkdirat,rmdir,rename,renameat,renameat2,unlink,unlinkat,link,"
         "linkat,symlink,symlinkat,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,"
         "fallocate,copy_file_range,sendfile,splice,fsync,fdatasync,sync,syncfs,sync_file_range")

SECTORS = 512, 4096
"""In pieces of which sizes a disk may have written, in bytes."""


def recorder(log: pathlib.Path) -> list[str]:
    """What to put before a program so that its calls are told in a file, each when it is done."""
    return ["strace", "--daemonize", "--follow-forks", "--seccomp-bpf", "--decode-fds=path", "-xx",
            "--string-limit=1000000000", "-ttt", "--quiet=all", f"--trace={CALLS}",
            "--output", str(log)]


@dataclass(frozen=True)
class Event:
    """A call that succeeded."""

    time: float
    end: int
    """Where it ends in the log, in bytes: what was seen at a size of the log comes before."""
    name: str
    arguments: str
    result: int


LINE = re.compile(r"(\d+) +([\d.]+) (?:(<\.\.\. \w+ resumed>)|(\w+)\()(.*)")
RESULT = re.compile(r"(.*)\) += (\d+)(?:<.*>)?$")


def events(log: pathlib.Path) -> Iterator[Event]:
    """The calls in a log."""
    begun: dict[str, tuple[str, str]] = {}
    end = 0
    with log.open("rb") as lines:
        for line in lines:
            end += len(line)
            found = LINE.fullmatch(line.decode().rstrip("\n"))
            if not found:
                continue
            process, time, is_resumed, name, rest = found.groups()
            if is_resumed:
                name, first = begun.pop(process)
                rest = first + rest.removeprefix(" ")
            elif rest.endswith("<unfinished ...>"):
                begun[process] = name, rest.removesuffix("<unfinished ...>").rstrip()
                continue
            result = RESULT.fullmatch(rest)
            if result:
                yield Event(float(time), end, name, result[1], int(result[2]))


class Unknown(Exception):
    """A call that changes the directory in a way that is not understood here."""


@dataclass(eq=False)
class File:
    """The bytes on the disk, what was done to them since, and what a reader sees."""

    synced: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Each with an offset and bytes; with None for the bytes, a new size."""
    current: bytearray = field(default_factory=bytearray)

    def write(self, offset: int, data: bytes | None) -> None:
        self.pending.append((offset, data))
        _change(self.current, offset, data)

    def synchronize(self) -> None:
        self.synced = bytes(self.current)
        self.pending.clear()

    def torn(self, chance: random.Random, share: float, sector: int, filling: bytes) -> bytes:
        """The bytes with some of the sectors that were written since, and some of the sizes."""
        content = bytearray(self.synced)
        for offset, data in self.pending:
            if data is None:
                if chance.random() < share:
                    _change(content, offset, None, filling)
                continue
            for start, piece in _pieces(offset, data, sector):
                if chance.random() < share:
                    _change(content, start, piece, filling)
        return bytes(content)


@dataclass(eq=False)
class Directory:
    """The names on the disk, the changes since, each with all the names that it changes, and the
    names that a reader sees."""

    synced: dict[str, "Node"] = field(default_factory=dict)
    pending: list[dict[str, "Node | None"]] = field(default_factory=list)
    current: dict[str, "Node"] = field(default_factory=dict)

    def change(self, names: "dict[str, Node | None]") -> None:
        self.pending.append(names)
        _rename(self.current, names)

    def synchronize(self) -> None:
        self.synced = dict(self.current)
        self.pending.clear()


Node = File | Directory
Image = dict[str, "bytes | Image"]
"""A directory as it is found after the cut."""


@dataclass(frozen=True)
class Cut:
    """How the medium is left: which of what was not synchronised is there all the same."""

    name: str
    content: Callable[[File], bytes]
    names: Callable[[Directory], dict[str, Node]]

    def image(self, directory: Directory) -> Image:
        nodes = self.names(directory)
        return {name: self.image(nodes[name]) if isinstance(nodes[name], Directory)
                else self.content(nodes[name]) for name in nodes}


STRICT = Cut("nothing", lambda file: file.synced, lambda directory: directory.synced)
NAMED = Cut("the names", lambda file: file.synced, lambda directory: directory.current)
WRITTEN = Cut("the contents", lambda file: bytes(file.current), lambda directory: directory.synced)
WHOLE = Cut("everything", lambda file: bytes(file.current), lambda directory: directory.current)


def torn(chance: random.Random) -> Cut:
    """A cut that leaves some of it: sectors, sizes and names, in their order or not."""
    share, sector = chance.choice((0.1, 0.5, 0.9)), chance.choice(SECTORS)
    filling, is_in_order = chance.choice((b"\0", b"\xa5")), chance.random() < 0.5

    def names(directory: Directory) -> dict[str, Node]:
        chosen = dict(directory.synced)
        count = chance.randint(0, len(directory.pending))
        for number, change in enumerate(directory.pending):
            if number < count if is_in_order else chance.random() < share:
                _rename(chosen, change)
        return chosen

    return Cut(f"some of it ({share:.0%} of pieces of {sector} bytes)",
               lambda file: file.torn(chance, share, sector, filling), names)


def put(image: Image, path: pathlib.Path) -> None:
    """Makes the directory that an image tells."""
    for name, content in image.items():
        if isinstance(content, dict):
            (path / name).mkdir(mode=0o700)
            put(content, path / name)
        else:
            (path / name).write_bytes(content)
            (path / name).chmod(0o600)


def taken(path: pathlib.Path) -> Image:
    """The image of a directory as it is."""
    return {entry.name: taken(entry) if entry.is_dir() else entry.read_bytes()
            for entry in path.iterdir()}


def _synchronized(image: Image) -> Directory:
    """A directory as it is on the disk."""
    nodes: dict[str, Node] = {}
    for name, content in image.items():
        nodes[name] = _synchronized(content) if isinstance(content, dict) else (
            File(synced=content, current=bytearray(content)))
    return Directory(synced=nodes, current=dict(nodes))


class Tree:
    """A directory, which begins as an image and follows the calls that are told of it."""

    def __init__(self, root: pathlib.Path, image: Image):
        self.path = root
        self.root = _synchronized(image)

    def follow(self, event: Event) -> str | None:
        """Takes a call; its name and that of its file, or None where it changed nothing here.

        Raises Unknown.
        """
        arguments = _arguments(event.arguments)
        match event.name:
            case "open" | "creat":
                return self._open(event.name, arguments[0], arguments[1:])
            case "openat":
                return self._open("open", _joined(*arguments[:2]), arguments[2:])
            case "mkdir" | "mkdirat" | "unlink" | "unlinkat" | "rmdir":
                path = arguments[0] if not event.name.endswith("at") else _joined(*arguments[:2])
                made = Directory() if event.name.startswith("mkdir") else None
                return self._name(event.name, {path: made})
            case "rename" | "renameat" | "renameat2":
                old, new = arguments[:2] if event.name == "rename" else (
                    _joined(*arguments[:2]), _joined(*arguments[2:4]))
                return self._name("rename", {old: None, new: self._node(old)})
            case "pwrite64":
                return self._write(
                    "pwrite", arguments[0], int(arguments[3]), arguments[1][:event.result])
            case "ftruncate" | "truncate":
                return self._write("truncate", arguments[0], int(arguments[1]), None)
            case "fallocate":
                size = int(arguments[2]) + int(arguments[3])
                node = self._node(arguments[0])
                if isinstance(node, File) and len(node.current) >= size:
                    return None
                return self._write("fallocate", arguments[0], size, None)
            case "fsync" | "fdatasync":
                node = self._node(arguments[0])
                if node is not None:
                    node.synchronize()
                    return f"{event.name} {self._short(arguments[0])}"
                return None
        if any(isinstance(argument, bytes) and self._is_here(argument) for argument in arguments):
            raise Unknown(f"{event.name} on {arguments[0]!r}")
        return None

    def _open(self, name: str, path: bytes, rest: list) -> str | None:
        flags = rest[0] if rest else "O_CREAT|O_TRUNC"
        if not self._is_here(path):
            return None
        node = self._node(path)
        if node is None and "O_CREAT" in flags:
            return self._name("creating", {path: File()})
        if isinstance(node, File) and "O_TRUNC" in flags:
            return self._write("truncating", path, 0, None)
        return None

    def _write(self, name: str, path: bytes, offset: int, data: bytes | None) -> str | None:
        node = self._node(path)
        if node is None:
            return None
        node.write(offset, data)
        return f"{name} {self._short(path)}"

    def _name(self, name: str, names: dict[bytes, Node | None]) -> str | None:
        changes: dict[bytes, dict[str, Node | None]] = {}
        for path in names:
            if self._is_here(path):
                above, _, last = path.rpartition(b"/")
                changes.setdefault(above, {})[last.decode()] = names[path]
        for above in changes:
            directory = self._node(above)
            if not isinstance(directory, Directory):
                raise Unknown(f"{name} in {above!r}")
            directory.change(changes[above])
        return f"{name} {self._short(path)}" if changes else None

    def _is_here(self, path: bytes) -> bool:
        return path.startswith(bytes(self.path) + b"/")

    def _node(self, path: bytes) -> Node | None:
        """What has this name; None where nothing has, or it is elsewhere."""
        if path == bytes(self.path):
            return self.root
        if not self._is_here(path):
            return None
        node = self.root
        for part in path.removeprefix(bytes(self.path) + b"/").split(b"/"):
            node = node.current.get(part.decode()) if isinstance(node, Directory) else None
        return node

    def _short(self, path: bytes) -> str:
        return path.rpartition(b"/")[2].decode()


ARGUMENT = re.compile(
    r'\s*(?:(?:\w+)<((?:\\x\w\w)*)>(?:\(deleted\))?|"((?:\\x\w\w)*)"|([^,]*))(?:,|$)')


def _arguments(text: str) -> list:
    """Arguments of a call: descriptors and texts as bytes, all else as it was printed."""
    found = []
    for path, data, other in ARGUMENT.findall(text):
        found.append(other if other else bytes.fromhex((path or data).replace("\\x", "")))
    return found


def _joined(directory: bytes, path: bytes) -> bytes:
    return path if path.startswith(b"/") else directory + b"/" + path


def _change(
    content: bytearray, offset: int, data: bytes | None, filling: bytes = b"\0"
) -> None:
    """Writes, or sets the size; a gap is filled."""
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    else:
        content.extend(filling * (offset - len(content)))
        content[offset:offset + len(data)] = data


def _rename(names: dict[str, Node], change: dict[str, Node | None]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _pieces(offset: int, data: bytes, sector: int) -> Iterator[tuple[int, bytes]]:
    """What was written, cut where sectors begin."""
    start = 0
    while start < len(data):
        end = min(len(data), start + sector - (offset + start) % sector)
        yield offset + start, data[start:end]
        start = end
