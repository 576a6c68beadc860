"""Values of all types, written by one process and read by another."""

import json

import build
import seeds
from session import HERE, require, require_equal

ROUNDS, THOROUGH_ROUNDS = 20, 200


def random_values_come_back(session):
    """`types.txt` has the types of the schemas of desktop programs, and some more."""
    program = build.program(session.workplace, HERE / "random-values.c")
    rounds = THOROUGH_ROUNDS if session.is_thorough else ROUNDS
    seed = seeds.seed("random_values_come_back")
    arguments = (HERE / "types.txt", rounds, seed)
    session.run(program, "write", *arguments)
    words = session.run(program, "read", *arguments)
    # Other values are not equal, so the program can find a difference.
    session.run(program, "read", HERE / "types.txt", rounds, seed ^ 1, status=1)
    return f"{words}, seed {seed}"


SCHEMAS = '''
import json, sys
from gi.repository import Gio, GLib
source = Gio.SettingsSchemaSource.get_default()
fixed, relocatable = source.list_schemas(True)
good = keys = 0
for name in fixed + relocatable:
    schema = source.lookup(name, True)
    path = schema.get_path() or f"/org/defaultsd/test/all/{name}:/"
    settings = Gio.Settings.new_full(schema, None, path)
    for key in schema.list_keys():
        value = schema.get_key(key).get_default_value()
        keys += 1
        if sys.argv[1] == "write":
            good += settings.set_value(key, value)
        else:
            back = settings.get_user_value(key)
            if back is not None and back.equal(value):
                good += 1
            else:
                print(f"{name} {key}: {value} came back as {back}", file=sys.stderr)
Gio.Settings.sync()
print(json.dumps([good, keys, len(fixed + relocatable)]))
'''


def every_key_of_every_installed_schema_comes_back(session):
    session.environment.pop("GSETTINGS_SCHEMA_DIR")
    written = json.loads(session.run("/usr/bin/python3", "-c", SCHEMAS, "write"))
    good, keys, schemas = json.loads(session.run("/usr/bin/python3", "-c", SCHEMAS, "read"))
    if keys == 0:
        raise build.Missing("no schema is installed")
    require_equal(written[0], keys, "the number of keys that were set")
    require_equal(good, keys, f"the number of keys that are equal; {session.errors}")
    return f"{keys} keys of {schemas} schemas"


TRIALS = [random_values_come_back, every_key_of_every_installed_schema_comes_back]
