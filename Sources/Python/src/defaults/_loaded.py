"""The library for C."""

import os
from typing import Any

from ._declarations import ffi

#: The file of the library; programs in a development tree set DEFAULTS_LIBRARY.
lib: Any = ffi.dlopen(os.environ.get("DEFAULTS_LIBRARY", "libdefaults.so.1"))

NULL: Any = ffi.NULL
