"""The numbers of the library for C."""

import enum

from ._loaded import lib


class Layer(enum.IntEnum):
    """One source of values for a domain. The first layer that has a key decides its value."""

    MANAGED = lib.DEFAULTS_LAYER_MANAGED
    GLOBAL_MANAGED = lib.DEFAULTS_LAYER_GLOBAL_MANAGED
    ARGUMENTS = lib.DEFAULTS_LAYER_ARGUMENTS
    HOST = lib.DEFAULTS_LAYER_HOST
    DOMAIN = lib.DEFAULTS_LAYER_DOMAIN
    GLOBAL_HOST = lib.DEFAULTS_LAYER_GLOBAL_HOST
    GLOBAL = lib.DEFAULTS_LAYER_GLOBAL
    SYSTEM = lib.DEFAULTS_LAYER_SYSTEM
    GLOBAL_SYSTEM = lib.DEFAULTS_LAYER_GLOBAL_SYSTEM


class State(enum.IntEnum):
    """How the service is reached."""

    UNREACHABLE = lib.DEFAULTS_STATE_UNREACHABLE
    CONNECTING = lib.DEFAULTS_STATE_CONNECTING
    CURRENT = lib.DEFAULTS_STATE_CURRENT
    FOLLOWING = lib.DEFAULTS_STATE_FOLLOWING
    PRIVATE = lib.DEFAULTS_STATE_PRIVATE
