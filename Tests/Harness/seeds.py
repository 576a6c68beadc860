"""The random numbers of trials in Python, as those of the tests in Swift.

`DEFAULTSD_SEED` in the environment is a number, or `random` for a new one; 0 by default.
"""

import os
import random
import shlex
import sys
import zlib


def seed(name: str) -> int:
    """A number of 32 bits for what has this name; prints how to have it again."""
    text = os.environ.get("DEFAULTSD_SEED") or "0"
    number = random.SystemRandom().randrange(1, 1 << 32) if text == "random" else int(text)
    print(f"DEFAULTSD_SEED={number} {shlex.join(sys.argv)} # {name}", file=sys.stderr)
    return zlib.crc32(f"{number}/{name}".encode())
