"""Both sides of a proof, and what they have in common."""

import dataclasses
import json
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACES = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", "--propagation", "private"]

CONTROL = 50
"""Pixels by which the settings must change the window, so that the proof can fail."""


def missing(root, packages):
    """Those of the packages that the clean system does not have."""
    return [package for package in packages if not is_installed(root, package)]


def is_installed(root, package):
    done = subprocess.run(
        ["chroot", root, "dpkg-query", "--show", "--showformat=${db:Status-Status}", package],
        capture_output=True, text=True)
    # 1: it does not know the package. After any other failure, nobody knows whether it is there.
    if done.returncode > 1:
        raise RuntimeError(f"dpkg-query in {root} ended with {done.returncode}: {done.stderr}")
    return done.stdout == "installed"


@dataclasses.dataclass
class Result:
    """What a proof has found."""

    name: str
    skipped: str = ""
    troubles: list[str] = dataclasses.field(default_factory=list)
    keys: str = "-"
    pictures: str = "-"
    shown: str = "-"

    @property
    def is_good(self):
        return not self.troubles


class Place:
    """The clean system in which all proofs are made."""

    def __init__(self, root, report, keep):
        self.root, self.report, self.keep = root, report, keep
        self.report.mkdir(exist_ok=True)
        (root / "report").mkdir()
        subprocess.run(["mount", "--bind", report, root / "report"], check=True)
        # A package does this in its own way.
        command = "/usr/lib/*/glib-2.0/gio-querymodules /usr/lib/*/gio/modules"
        subprocess.run(["chroot", root, "sh", "-c", command], check=True)

    def prove(self, program):
        """Makes both sides of a proof, and compares them."""
        result = Result(program.name)
        absent = missing(self.root, program.needed)
        if absent:
            result.skipped = f"the package {', '.join(absent)} cannot be had"
            return self._told(result)
        folder, pictures = self.report / program.name, self.root.parent / "pictures" / program.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o777)
        pictures.mkdir(parents=True)
        peer, ours = (self._run(program, side, folder, pictures, result) for side in ("peer", "ours"))
        if not result.troubles:
            self._compare_kept(program, peer["kept"], ours["kept"], result)
            self._compare_pictures(program, folder, result)
        shutil.rmtree(pictures)
        return self._told(result)

    def _told(self, result):
        words = result.skipped and f"skipped: {result.skipped}" or "; ".join(result.troubles) or "equal"
        print(f"{result.name}: {words}", flush=True)
        return result

    def _run(self, program, side, folder, pictures, result):
        (self.root.parent / "log").write_text("")
        done = subprocess.run(
            ["unshare", *NAMESPACES, HERE / "side", self.root, folder, pictures, program.name, side,
             *(["keep"] if self.keep else [])],
            stdout=subprocess.PIPE, text=True)
        shutil.copy(self.root.parent / "log", folder / f"{side}.log")
        found = json.loads(done.stdout or '{"failure": "it ended without a word"}')
        if "failure" in found:
            result.troubles.append(f"{side}: {found['failure']}")
        for note in found.get("notes", []):
            print(f"{program.name}, {side}: {note}", flush=True)
        return found

    def _compare_kept(self, program, peer, ours, result):
        equal = total = 0
        for kind in ("read", "stored", "channels"):
            one, other = ({line for line in side[kind] if not differs(program, line)} for side in (peer, ours))
            (self.report / program.name / f"{kind}.txt").write_text(
                "".join(f"- {line}\n" for line in sorted(one - other))
                + "".join(f"+ {line}\n" for line in sorted(other - one))
                + "".join(f"  {line}\n" for line in sorted(one & other)))
            if kind != "read":
                own = (one | other) - set(peer["vendor"])
                equal, total = equal + len(own & one & other), total + len(own)
            if one != other:
                result.troubles.append(f"{kind}: {sorted(one - other)} became {sorted(other - one)}")
        result.keys = f"{equal} of {total}"
        if total == 0:
            result.troubles.append("nothing was kept")

    def _compare_pictures(self, program, folder, result):
        steps = [place.stem.removeprefix("peer-") for place in sorted(folder.glob("peer-*.png"))]
        pixels = {step: self._difference(program, f"peer-{step}", f"ours-{step}", f"difference-{step}")
                  for step in steps}
        result.pictures = ", ".join(f"{step} {count}" for step, count in pixels.items())
        before = "dialog" if "dialog" in steps else "changed"
        if "used" in steps and self._difference(program, f"peer-{before}", "peer-used", "used") == 0:
            result.troubles.append("the keys do not show")
        shown = self._difference(program, "peer-plain", "peer-again", "shown")
        result.shown = f"{shown} pixels"
        for step, count in pixels.items():
            if count > program.tolerance:
                result.troubles.append(f"the picture '{step}' differs by {count} pixels")
        if shown < CONTROL:
            result.troubles.append(f"the settings do not show: {shown} pixels")

    def _difference(self, program, one, other, name):
        folder = f"/report/{program.name}"
        done = subprocess.run(
            ["chroot", self.root, "compare", "-metric", "AE", f"{folder}/{one}.png", f"{folder}/{other}.png",
             f"{folder}/{name}.png"], capture_output=True, text=True)
        if not re.fullmatch(r"[\d.e+]+", done.stderr.strip()):
            raise RuntimeError(f"compare: {done.stderr}")
        return int(float(done.stderr))


def differs(program, line):
    """Whether a line differs each time, for a reason that the table has."""
    return any(re.search(pattern, line) for pattern, _ in program.differs)


def table(results):
    """What all proofs have found, as a table."""
    rows = [("program", "keys equal", "pixels that differ", "settings show")]
    for result in results:
        rows.append((result.name, "skipped: " + result.skipped) if result.skipped else
                    (result.name, result.keys, result.pictures, result.shown))
    widths = [max(len(row[column]) for row in rows if len(row) == 4) for column in range(3)]
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths + [0])).rstrip() for row in rows]
    good = sum(result.is_good and not result.skipped for result in results)
    skipped = sum(bool(result.skipped) for result in results)
    return "\n".join([*lines, f"{good} of {len(results) - skipped} equal, {skipped} skipped"])
