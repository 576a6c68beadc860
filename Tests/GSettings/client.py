"""A program with settings, which carries out what it reads: one JSON list on a line, and an answer for it.

Between the answers, it prints the signals of its settings.
"""

import json
import os
import sys
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402


def say(kind, what):
    print(json.dumps([kind, what]), flush=True)


class Program:
    def __init__(self):
        self.opened = {}

    def settings(self, schema, path=None):
        if (schema, path) not in self.opened:
            made = Gio.Settings(schema_id=schema, path=path) if path else Gio.Settings(schema_id=schema)
            made.connect("changed", lambda _, key: say("signal", ["changed", key]))
            made.connect(
                "writable-changed", lambda _, key: say("signal", ["writable-changed", key]))
            self.opened[schema, path] = made
        return self.opened[schema, path]

    def get(self, schema, key, path=None):
        return self.settings(schema, path)[key]

    def user(self, schema, key, path=None):
        value = self.settings(schema, path).get_user_value(key)
        return None if value is None else value.unpack()

    def set(self, schema, key, text, path=None):
        settings = self.settings(schema, path)
        kind = settings.get_default_value(key).get_type()
        return settings.set_value(key, GLib.Variant.parse(kind, text, None, None))

    def set_repeated(self, schema, key, element, count):
        """Sets an array of zeros; of bytes if it is `y`."""
        zeros = bytes(count * {"y": 1, "n": 2}[element])
        kind = GLib.VariantType(f"a{element}")
        value = GLib.Variant.new_from_bytes(kind, GLib.Bytes(zeros), True)
        return self.settings(schema).set_value(key, GLib.Variant("v", value))

    def set_many(self, schema, key, first, last):
        settings = self.settings(schema)
        return all([settings.set_int(key, number) for number in range(first, last)])

    def reset(self, schema, key, path=None):
        self.settings(schema, path).reset(key)

    def writable(self, schema, key, path=None):
        return self.settings(schema, path).is_writable(key)

    def delay(self, schema, path=None):
        self.settings(schema, path).delay()

    def revert(self, schema, path=None):
        self.settings(schema, path).revert()

    def apply(self, schema, path=None):
        self.settings(schema, path).apply()

    def set_in_child(self, schema, child, key, number):
        """Children share the delay of their parent."""
        return self.settings(schema).get_child(child).set_int(key, number)

    def sync(self):
        Gio.Settings.sync()

    def timed(self, *words):
        """How many seconds something takes, and its answer."""
        began = time.monotonic()
        answer = self.carry_out(words)
        return [time.monotonic() - began, answer]

    def fork(self, *all_words):
        """What a child answers to several things."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            answers = [self.carry_out(words) for words in all_words]
            os.write(writing, json.dumps(answers).encode())
            os._exit(0)
        os.close(writing)
        with open(reading) as answers:
            text = answers.read()
        _, status = os.waitpid(child, 0)
        return json.loads(text) if status == 0 else f"the child ended with {status}"

    def carry_out(self, words):
        return getattr(self, words[0])(*words[1:])


def main():
    program, loop = Program(), GLib.MainLoop()

    def read(*_):
        line = sys.stdin.readline()
        if not line:
            loop.quit()
            return False
        say("answer", program.carry_out(json.loads(line)))
        return True

    GLib.io_add_watch(0, GLib.PRIORITY_LOW, GLib.IO_IN | GLib.IO_HUP, read)
    loop.run()


main()
