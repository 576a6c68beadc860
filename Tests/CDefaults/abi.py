"""What the library exports, and its ABI, beside the description that is kept in Sources/CDefaults.

The description is made of the header, as the preprocessor and the rules of C see it, and of the symbols of
the library. A tool that reads debug information would see Swift's types in place of those of C.
"""

import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "GSettings"))
from build import need, run  # noqa: E402
from session import require, require_equal  # noqa: E402

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources/CDefaults"
HEADER, STORED = SOURCES / "defaults.h", SOURCES / "abi-description"

SWIFT = {"Int32": "i32", "UInt32": "i32", "Int64": "i64", "UInt64": "i64", "Int": "i64",
         "Double": "f64", "Bool": "bool"}
"""How types of Swift are passed, on a machine of 64 bits."""
C = {"int": "i32", "unsigned": "i32", "int64_t": "i64", "uint64_t": "i64", "size_t": "i64",
     "double": "f64", "bool": "bool", "_Bool": "bool", "void": "void"}


def declarations(header: str) -> list[str]:
    """The declarations of a header, each in one line, without those of other headers."""
    made = subprocess.run(["cc", "-E", "-std=c99", "-x", "c", "-"], input=header, check=True,
                          capture_output=True, text=True).stdout
    own, is_own = [], False
    for line in made.splitlines():
        if mark := re.match(r'# \d+ "(.*?)"', line):
            is_own = mark[1] == "<stdin>"
        elif is_own:
            own.append(line)
    text = re.sub(r"\s+", " ", " ".join(own))
    parts = re.split(r";(?![^{]*\})", text)
    return sorted(re.sub(r" ?([(),*{}]) ?", r"\1", part.strip()) for part in parts if part.strip())


def symbols(library: pathlib.Path) -> list[str]:
    """The exported symbols, with their versions."""
    lines = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions",
                library / "libdefaults.so.1").splitlines()
    return sorted(line.split()[-1] for line in lines if line.split()[-2] != "A")


def soname(library: pathlib.Path) -> str:
    found = re.search(r"soname: \[(.*?)\]", run("readelf", "--dynamic", library / "libdefaults.so.1"))
    return found[1] if found else "none"


def description(header: str, library: pathlib.Path) -> str:
    lines = [f"soname {soname(library)}"]
    lines += [f"symbol {symbol}" for symbol in symbols(library)]
    lines += [f"declaration {without_names(declaration)}" for declaration in declarations(header)]
    return "\n".join(sorted(lines)) + "\n"


def without_names(declaration: str) -> str:
    """A declaration without the names of arguments, which may change."""
    if " enum " in f" {declaration}":
        return declaration
    return re.sub(r"(?<=[* ])\w+(?=[,)])", "", declaration).replace(" ,", ",").replace(" )", ")")


def breaks(old: str, new: str) -> list[str]:
    """What programs that were compiled with the old version would miss in the new one.

    New symbols, new declarations and new values of an enumeration are allowed.
    """
    before, after = set(old.splitlines()), set(new.splitlines())
    enumerations = {enumeration_name(line): line for line in after if " enum " in line}
    return sorted(line for line in before - after
                  if not is_extended(line, enumerations.get(enumeration_name(line))))


def enumeration_name(line: str) -> str | None:
    found = re.match(r"declaration typedef enum (\w+)\{", line)
    return found[1] if found else None


def is_extended(old: str, new: str | None) -> bool:
    """Whether an enumeration has all its values still."""
    values = re.compile(r"(\w+) = (-?\w+)")
    return new is not None and set(values.findall(old)) <= set(values.findall(new))


# Functions, as a machine sees them.

def of_header() -> dict[str, list[str]]:
    """The result and the arguments of each function in the header."""
    functions = {}
    enumerations = set()
    for line in declarations(HEADER.read_text()):
        if found := re.match(r"typedef enum \w+\{.*\}(\w+)", line):
            enumerations.add(found[1])
    for line in declarations(HEADER.read_text()):
        if found := re.fullmatch(r"(?!typedef)(.*?)(defaults_\w+)\((.*)\)", line):
            words = [found[1], *(found[3].split(",") if found[3] != "void" else [])]
            functions[found[2]] = [c_kind(word, enumerations, is_argument=number > 0)
                                   for number, word in enumerate(words)]
    return functions


def c_kind(declared: str, enumerations: set[str], is_argument: bool) -> str:
    words = declared.replace("const ", "").replace("const", "").strip()
    if "*" in words or "_fn" in words:
        return "pointer"
    kind = words.split()[0]
    return "i32" if kind in enumerations else C[kind]


def of_swift() -> dict[str, list[str]]:
    """The same of each function that Swift defines."""
    functions = {}
    pattern = r'@_cdecl\("(\w+)"\)\s*public func \w+\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)(?: -> ([^{]+?))? \{'
    for source in sorted(SOURCES.glob("*.swift")):
        for name, arguments, result in re.findall(pattern, source.read_text()):
            flat = arguments
            while (shorter := re.sub(r"\([^()]*\)(?: -> Void)?", "pointer", flat)) != flat:
                flat = shorter
            kinds = [swift_kind(each.split(":", 1)[1]) for each in flat.split(",") if each.strip()]
            functions[name] = [swift_kind(result) if result else "void", *kinds]
    return functions


def swift_kind(declared: str) -> str:
    declared = declared.strip()
    return SWIFT.get(declared, "pointer")


# Trials: each is given the directory of the library and one for files.

def only_its_own_names_are_exported(library, workplace):
    need("nm", "readelf")
    found = symbols(library)
    require(len(found) > 40, f"few symbols: {found}")
    for symbol in found:
        require(re.fullmatch(r"defaults_\w+@@DEFAULTS_1", symbol), f"{symbol} is exported")
    needed = re.findall(r"\(NEEDED\).*\[(.*?)\]",
                        run("readelf", "--dynamic", library / "libdefaults.so.1"))
    for name in needed:
        require(re.match(r"(libdbus-1|libm|libc|ld-linux[\w-]*)\.so", name), f"{name} is needed")
    return f"{len(found)} symbols"


def the_library_is_hardened_and_is_never_unloaded(library, workplace):
    file = library / "libdefaults.so.1"
    dynamic, headers = run("readelf", "--dynamic", file), run("readelf", "--program-headers", "--wide", file)
    for flag in ("NOW", "NODELETE"):
        require(re.search(rf"FLAGS_1.* {flag}\b", dynamic), f"the flag {flag} is missing")
    for wrong in ("RPATH", "RUNPATH", "TEXTREL"):
        require(wrong not in dynamic, f"the library has a {wrong}")
    require("GNU_RELRO" in headers, "tables of the linker can be written")
    require(re.search(r"GNU_STACK .* RW ", headers), "the stack can be executed")


def the_header_the_library_and_the_sources_agree(library, workplace):
    header, swift = of_header(), of_swift()
    require_equal(sorted(header), sorted(swift), "functions of the header and of Swift")
    require_equal([f"{name}@@DEFAULTS_1" for name in sorted(header)], symbols(library),
                  "functions of the header and of the library")
    for name, kinds in header.items():
        require_equal(swift[name], kinds, f"{name} in Swift and in the header")
    return f"{len(header)} functions"


def the_numbers_of_the_header_and_of_the_sources_agree(library, workplace):
    """Those of errors and layers, by the names that the library has for them."""
    text = HEADER.read_text()
    errors = re.findall(r"^    (DEFAULTS_(?:OK|ERROR_\w+)) = (\d+)", text, re.MULTILINE)
    layers = re.findall(r"^    DEFAULTS_LAYER_(\w+) = (\d+)", text, re.MULTILINE)
    require(len(errors) == 19 and len(layers) == 10, "the header has other enumerations")
    source = workplace / "numbers.c"
    checks = [f'if (strcmp(defaults_error_name({name}), "{name}")) return {int(number) + 1};'
              for name, number in errors]
    checks += [f'if (strcmp(defaults_layer_name(DEFAULTS_LAYER_{name}), '
               f'"{"" if name == "NONE" else name.lower().replace("_", "-")}")) '
               f'return {int(number) + 101};' for name, number in layers]
    source.write_text("#include <defaults.h>\n#include <string.h>\nint main(void) {\n"
                      + "\n".join(checks) + "\nreturn 0;\n}\n")
    program = workplace / "numbers"
    run("cc", "-I", SOURCES, source, "-o", program, "-L", library, "-ldefaults",
        f"-Wl,-rpath,{library}")
    run(program)


def the_example_of_the_page_compiles(library, workplace):
    page = (SOURCES.parents[1] / "Documentation/c.md").read_text()
    example = workplace / "example.c"
    example.write_text(re.search(r"```c\n(#include.*?)```", page, re.DOTALL)[1])
    run("cc", "-std=c99", "-Wall", "-Werror", "-D_GNU_SOURCE", "-I", SOURCES, example, "-o",
        workplace / "example", "-L", library, "-ldefaults")


def the_abi_is_the_stored_one(library, workplace):
    stored, present = STORED.read_text(), description(HEADER.read_text(), library)
    require_equal(breaks(stored, present), [], "what programs would miss")
    require(stored == present, "The ABI has grown. Run Tests/CDefaults/abi-description.")


def a_change_of_the_abi_is_found(library, workplace):
    """Changes of each kind, in a copy of the header and of the library's symbols."""
    stored, header = STORED.read_text(), HEADER.read_text()

    def changed(old, new):
        require(old in header, f"{old} is not in the header")
        return breaks(stored, description(header.replace(old, new), library))

    wrong = {
        "an argument": ("int64_t value)", "int32_t value)"),
        "a result": ("bool defaults_is_locked(", "int defaults_is_locked("),
        "a number": ("DEFAULTS_LAYER_HOST = 4,", "DEFAULTS_LAYER_HOST = 14,"),
        "a value that is gone": ("DEFAULTS_ERROR_BUSY = 17, ", ""),
        "a callback": ("const char *key, unsigned origin, void", "const char *key, void"),
        "a function that is gone": ("void defaults_cancel(defaults_change_t *change);", ""),
    }
    for what, (old, new) in wrong.items():
        require(changed(old, new), f"{what} is not found")
    # What may grow, grows.
    require_equal(changed("DEFAULTS_ERROR_SYSTEM = 18 ", "DEFAULTS_ERROR_SYSTEM = 18, DEFAULTS_ERROR_NEW = 19 "),
                  [], "a new code")
    require_equal(changed("void defaults_free(void *memory);",
                          "void defaults_free(void *memory); int defaults_new(void);"),
                  [], "a new function")
    require_equal(changed("void defaults_free(void *memory);", "void defaults_free(void *any);"),
                  [], "another name of an argument")
    # A library without a symbol, and with another name.
    less = library_without(workplace, ["defaults_get_bool"])
    require_equal(breaks(stored, description(header, less)),
                  ["symbol defaults_get_bool@@DEFAULTS_1"], "a symbol that is gone")
    other = library_without(workplace, [], soname="libdefaults.so.2")
    require_equal(breaks(stored, description(header, other)), ["soname libdefaults.so.1"],
                  "another name")


def library_without(workplace, missing, soname="libdefaults.so.1"):
    """A library of empty functions with the symbols of the header, but for some."""
    directory = workplace / f"{soname}-{len(missing)}"
    directory.mkdir()
    names = [name for name in of_header() if name not in missing]
    (directory / "empty.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names))
    (directory / "exports").write_text("DEFAULTS_1 { global: defaults_*; local: *; };\n")
    run("cc", "-shared", "-fPIC", directory / "empty.c", f"-Wl,-soname,{soname}",
        f"-Wl,--version-script={directory}/exports", "-o", directory / "libdefaults.so.1")
    return directory


TRIALS = {trial.__name__: trial for trial in (
    only_its_own_names_are_exported, the_library_is_hardened_and_is_never_unloaded, the_header_the_library_and_the_sources_agree,
    the_numbers_of_the_header_and_of_the_sources_agree, the_example_of_the_page_compiles, the_abi_is_the_stored_one,
    a_change_of_the_abi_is_found)}
