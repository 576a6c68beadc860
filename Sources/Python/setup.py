"""Builds the package: the version is that of the programs, and the declarations are those of the header."""

import pathlib
import re

from setuptools import setup

SOURCES = pathlib.Path(__file__).resolve().parent.parent
VERSION = (SOURCES / "DefaultsProtocol/Version.swift").read_text()

found = re.search(r'current = "(.*)"', VERSION)
setup(version=found[1] if found else "0", cffi_modules=["build_declarations.py:ffi"])
