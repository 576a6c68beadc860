import Foundation
import TestSupport
import TestTiers
import Testing

/// The same commands with defaultsd and with dconf's own service.
@Suite(.startsPrograms, .enabled(if: RealDconf.isAvailable, RealDconf.missing))
struct DconfComparisonTests {
    /// Commands of a shell; what they print is compared.
    private static let script = #"""
        export GSETTINGS_BACKEND=dconf
        G=org.gnome.desktop.interface
        dconf write /key 0; dconf read /key; dconf write /key '"hello"'; dconf read /key
        dconf write /a/b/c '@a{sv} {"x": <uint32 5>, "$y": <[1, 2]>}'; dconf read /a/b/c
        dconf write /a/b/d '@mms nothing'; dconf read /a/b/d
        dconf write /a/e '@as []'; dconf read /a/e; dconf write /a/f '@ai []'; dconf read /a/f
        dconf write /a/g 'int64 5'; dconf read /a/g; dconf write /a/h '<int64 5>'; dconf read /a/h
        dconf list /; dconf list /a/; dconf list /a/b/; dconf list /none/
        dconf dump /
        dconf reset /a/b/c; dconf list /a/b/; dconf reset /a/ 2>&1 | head -1; dconf reset -f /a/b/; dconf list /a/
        dconf dump /a/ | dconf load /copy/; dconf dump /copy/
        dconf load /org/example/profiles:/ <<END
        [:b1dc-é]
        colour=(1.0, 0.5)
        name='a "b"'
        END
        dconf dump /org/example/
        dconf write / 1 2>&1 | head -1; dconf write /x 'wrong' 2>&1 | head -1
        gsettings set $G cursor-size 48; gsettings get $G cursor-size; dconf read /org/gnome/desktop/interface/cursor-size
        gsettings set org.gnome.desktop.input-sources sources "[('xkb','de')]"
        dconf read /org/gnome/desktop/input-sources/sources
        gsettings reset $G cursor-size; gsettings get $G cursor-size; gsettings writable $G cursor-size
        dconf write /org/gnome/desktop/interface/cursor-size "'wrong'"; gsettings get $G cursor-size
        dconf read /org/gnome/desktop/interface/cursor-size
        gsettings list-recursively org.gnome.desktop.input-sources
        gsettings reset-recursively org.gnome.desktop.input-sources; dconf list /org/gnome/desktop/
        dconf list-locks /; dconf reset -f /; dconf dump /
        """#

    @Test func `They print the same`() throws {
        let outputs = try DconfDesktop.Service.allCases.map { service in
            let dconf = try DconfDesktop(service)
            let result = dconf.desktop.run("bash", "-c", Self.script)
            // The tool names its program in errors.
            return result.output.split(separator: "\n", omittingEmptySubsequences: false)
        }
        #expect(outputs[0].count > 50)
        for (ours, theirs) in zip(outputs[0], outputs[1]) { #expect(ours == theirs) }
        #expect(outputs[0].count == outputs[1].count)
    }

    @Test func `They send the same signals`() throws {
        let outputs = try DconfDesktop.Service.allCases.map { service in
            let dconf = try DconfDesktop(service)
            let all = try dconf.watch("/")
            let some = try dconf.watch("/org/example/")
            for (path, value) in [
                ("/org/example/a", "1"), ("/com/b", "'x'"), ("/org/example/a", "1"),
                ("/org/example/c/d", "[1, 2]"),
            ] {
                try dconf.dconf("write", path, value).requireOutput()
            }
            try dconf.dconf("reset", "/org/example/a").requireOutput()
            return [
                try dconf.changes(all, below: "/org/example/"),
                try dconf.changes(some, below: "/org/example/").filter { !$0.contains("mark") },
            ]
        }
        #expect(outputs[0] == outputs[1])
    }

    /// Values of random types from GLib, written and read by dconf's own client library.
    @Test(arguments: DconfDesktop.Service.allCases)
    func `Random values come back exactly`(service: DconfDesktop.Service) throws {
        let dconf = try DconfDesktop(service)
        let result = dconf.desktop.python(Self.values, "400")
        #expect(result.status == 0 && result.output == "400 values\n", "\(result)")
    }

    private static let values = #"""
        import random, struct, sys, os, time
        from gi.repository import Gio, GLib
        dice = random.Random(21)
        BASIC = "bynqiuxtdsog"
        def some_type(depth):
            if depth == 0 or dice.random() < 0.4: return dice.choice(BASIC)
            kind = dice.choice("aam({v")
            if kind in "am": return kind + some_type(depth - 1)
            if kind == "(": return "(" + "".join(some_type(depth - 1) for _ in range(dice.randrange(4))) + ")"
            if kind == "{": return "a{" + dice.choice("sniqux") + some_type(depth - 1) + "}"
            return "v"
        def split(kinds):
            parts = []
            while kinds:
                end, depth = 0, 0
                while True:
                    depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(kinds[end], 0)
                    end += 1
                    if depth == 0 and kinds[end - 1] not in "am": break
                parts.append(kinds[:end]); kinds = kinds[end:]
            return parts
        BITS = {"n": 16, "i": 32, "x": 64, "y": 8, "q": 16, "u": 32, "t": 64}
        MAKE = {"n": "int16", "i": "int32", "x": "int64", "y": "byte", "q": "uint16", "u": "uint32", "t": "uint64"}
        def number(letter):
            bits = BITS[letter]
            value = dice.choice([0, 1, -1, 5, 2**(bits - 1), dice.getrandbits(bits)]) % 2**bits
            return value - 2**bits if letter in "nix" and value >= 2**(bits - 1) else value
        def value(kind, depth=0):
            letter = kind[0]
            if letter == "b": return GLib.Variant.new_boolean(dice.random() < 0.5)
            if letter in BITS: return getattr(GLib.Variant, "new_" + MAKE[letter])(number(letter))
            if letter == "d": return GLib.Variant.new_double(dice.choice([0.0, -0.0, float("inf"), 1.5, 3.0]))
            if letter == "s": return GLib.Variant.new_string(dice.choice(["", "a", "$class", "$null", "\xe9", "b" * 300]))
            if letter == "o": return GLib.Variant.new_object_path(dice.choice(["/", "/a"]))
            if letter == "g": return GLib.Variant.new_signature(dice.choice(["", "a{sv}"]))
            if letter == "v": return GLib.Variant.new_variant(value(some_type(0 if depth > 3 else 2), depth + 1))
            if letter == "m":
                content = value(kind[1:], depth + 1) if dice.random() < 0.7 else None
                return GLib.Variant.new_maybe(GLib.VariantType.new(kind[1:]), content)
            if letter == "a" and kind[1] == "{":
                key, content = split(kind[2:-1])
                entries = {}
                for _ in range(dice.randrange(3)):
                    name = value(key, depth + 1)
                    entries[name.print_(True)] = GLib.Variant.new_dict_entry(name, value(content, depth + 1))
                return GLib.Variant.new_array(GLib.VariantType.new(kind[1:]), list(entries.values()))
            if letter == "a":
                return GLib.Variant.new_array(GLib.VariantType.new(kind[1:]),
                    [value(kind[1:], depth + 1) for _ in range(dice.randrange(4))])
            return GLib.Variant.new_tuple(*[value(part, depth + 1) for part in split(kind[1:-1])])

        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        def change(entries):
            kind = GLib.VariantType.new("{smv}")
            blob = GLib.Variant.new_array(kind, [GLib.Variant.new_dict_entry(GLib.Variant.new_string(path),
                GLib.Variant.new_maybe(GLib.VariantType.new("v"), GLib.Variant.new_variant(v)))
                for path, v in entries])
            arguments = GLib.Variant("(ay)", (blob.get_data_as_bytes().get_data(),))
            bus.call_sync("ca.desrt.dconf", "/ca/desrt/dconf/Writer/user", "ca.desrt.dconf.Writer", "Change",
                arguments, None, 0, -1, None)
        def stored():
            """The values in the file, in its bytes."""
            data = open(os.environ["XDG_CONFIG_HOME"] + "/dconf/user", "rb").read()
            start, end = struct.unpack_from("<II", data, 16)
            blooms, buckets = struct.unpack_from("<II", data, start)
            first = start + 8 + 4 * (blooms & (2**27 - 1)) + 4 * buckets
            items = [struct.unpack_from("<IIIHBxII", data, at) for at in range(first, end, 24)]
            def name(item):
                own = data[item[2]:item[2] + item[3]]
                return own if item[1] == 2**32 - 1 else name(items[item[1]]) + own
            return {name(item): data[item[5]:item[6]] for item in items if item[4] == ord("v")}
        def canonical(v):
            """The value as text, with the entries of dictionaries in order."""
            kind = v.get_type_string()
            if kind[0] not in "vma({": return kind + v.get_data_as_bytes().get_data().hex()
            parts = [canonical(v.get_child_value(i)) for i in range(v.n_children())]
            return kind + "[" + ",".join(sorted(parts) if kind.startswith("a{") else parts) + "]"
        def read(data):
            if data is None: return None
            return canonical(GLib.Variant.new_from_bytes(GLib.VariantType.new("v"), GLib.Bytes.new(data), False))
        wanted = {}
        for count in range(int(sys.argv[1]) // 8):
            entries = [(f"/org/example/d{count % 5}/k{count}-{i}", value(some_type(3))) for i in range(8)]
            change(entries)
            for path, v in entries: wanted[path.encode()] = GLib.Variant.new_variant(v).get_data_as_bytes().get_data()
        found = stored()
        for path, data in wanted.items():
            if read(found.get(path)) != read(data): print(path, data, found.get(path))
        print(len(wanted), "values")
        """#
}
