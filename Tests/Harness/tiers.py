"""Which tests belong to which tier, by the trait in the sources."""

import pathlib
import re

TESTS = pathlib.Path(__file__).resolve().parents[1]

SUITE = re.compile(
    r"@Suite\b(?P<traits>(?:\"(?:[^\"\\]|\\.)*\"|(?!@Suite\b|\b(?:struct|class|actor|enum)\s)[^\"])*)"
    r"\b(?:struct|class|actor|enum)\s+(?P<name>\w+)", re.DOTALL)
"""The attribute of a suite, with its traits, and the name of the type."""


def suites_that_start_programs() -> list[str]:
    """The suites of the second tier, as 'Module.Suite'."""
    found = set()
    for file in TESTS.glob("*Tests/**/*.swift"):
        module = file.relative_to(TESTS).parts[0]
        for suite in SUITE.finditer(file.read_text()):
            if ".startsPrograms" in suite["traits"]:
                found.add(f"{module}.{suite['name']}")
    return sorted(found)


def tier_options(tier: int) -> list[str]:
    """The options of 'swift test' that choose the tests of a tier; all tests for 0."""
    if not tier:
        return []
    names = "|".join(map(re.escape, suites_that_start_programs()))
    return ["--skip" if tier == 1 else "--filter", f"^({names})(/|$)"]
