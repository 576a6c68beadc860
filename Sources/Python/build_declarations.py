"""Makes the module `defaults._declarations` of the header of the library for C.

cffi uses it in its ABI mode: nothing is compiled, so the package needs no compiler and is the same for every
Python and every machine. The calls cost some 100 ns more than those of a compiled module.
"""

import pathlib
import re

from cffi import FFI

HEADER = pathlib.Path(__file__).resolve().parent.parent / "CDefaults/defaults.h"


def declarations(header: str) -> str:
    """The declarations of the header, without comments and what is for the preprocessor."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    text = re.sub(r"^#.*$|^extern \"C\" \{$|^\}$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{2,}", "\n", text)


ffi = FFI()
ffi.cdef(declarations(HEADER.read_text()))
ffi.set_source("defaults._declarations", None)
