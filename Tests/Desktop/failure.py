"""What a proof finds, and how long it waits."""

PATIENCE = 60
"""Seconds after which nothing is expected to come any more."""
LOOK = 0.25
"""Seconds between two looks at what is waited for."""


class Failure(Exception):
    """What keeps a proof from being made, or what it has found."""


def require(condition, words):
    if not condition:
        raise Failure(words)
