import DconfFiles
import DefaultsProtocol
import TestSupport

/// Values that GLib made, in its bytes.
struct GLibValue {
    let type: ExactType
    let bytes: [UInt8]
    /// Whether GLib says that the bytes are in normal form, and writes them itself.
    let isNormal: Bool
    /// What GLib reads from the bytes, in the notation of `ExactValue.notation`.
    let notation: String
    /// The value as GLib prints it; empty if GLib cannot read that.
    let text: String

    /// Random values of random types, then each again with some bytes changed.
    static func random(count: Int, seed: UInt32) throws -> [GLibValue] {
        let output = try Python.run(notation + program, arguments: ["\(count)", "\(seed)"])
        return String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 5, let type = ExactType(String(words[0])) else { return nil }
            return GLibValue(
                type: type, bytes: hexadecimal(words[1]), isNormal: words[2] == "1",
                notation: String(words[3]),
                text: String(decoding: hexadecimal(words[4]), as: UTF8.self))
        }
    }

    /// The value; nil if it has a type or a signature that only GLib has, by a change of a byte.
    func value() throws -> ExactValue? {
        do {
            return try ExactValue(gvariant: bytes[...], as: type)
        } catch GVariantError.text(.signature, _) where isNormal {
            return nil
        } catch GVariantError.variantType where bytes.contains(UInt8(ascii: "h")) {
            return nil
        } catch {
            throw Refusal(given: self, error: error)
        }
    }

    /// A value that is refused, and the reason.
    struct Refusal: Error {
        let given: GLibValue
        let error: any Error
    }

    private static func hexadecimal(_ text: Substring) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    /// A program's functions for the notation of values.
    static let notation = #"""
        import struct, sys
        from gi.repository import GLib
        BITS = {"n": 16, "i": 32, "x": 64, "y": 8, "q": 16, "u": 32, "t": 64}
        MAKE = {"n": "int16", "i": "int32", "x": "int64", "y": "byte", "q": "uint16", "u": "uint32",
                "t": "uint64"}

        def notation(v):
            letter = v.get_type_string()[0]
            if letter == "b": return "t" if v.get_boolean() else "f"
            if letter in BITS: return str(getattr(v, "get_" + MAKE[letter])())
            if letter == "d": return "d%x" % struct.unpack("<Q", struct.pack("<d", v.get_double()))
            if letter in "sog": return "'" + v.get_string().encode().hex()
            if letter == "h": return "h"
            if letter == "v": return "<" + v.get_variant().get_type_string() + notation(v.get_variant()) + ">"
            return "[" + ",".join(notation(v.get_child_value(i)) for i in range(v.n_children())) + "]"

        """#

    private static let program = #"""
        import random
        count, seed = int(sys.argv[1]), int(sys.argv[2])
        dice = random.Random(seed)
        BASIC = "bynqiuxtdsog"

        def some_type(depth):
            if depth == 0 or dice.random() < 0.3:
                return dice.choice(BASIC + ("v" if depth else ""))
            kind = dice.choice("aam({v")
            if kind in "am":
                return kind + some_type(depth - 1)
            if kind == "(":
                return "(" + "".join(some_type(depth - 1) for _ in range(dice.randrange(5))) + ")"
            if kind == "{":
                return "a{" + dice.choice(BASIC) + some_type(depth - 1) + "}"
            return "v"

        def split(kinds):
            """The complete types in a sequence."""
            parts = []
            while kinds:
                end, depth = 0, 0
                while True:
                    depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(kinds[end], 0)
                    end += 1
                    if depth == 0 and kinds[end - 1] not in "am": break
                parts.append(kinds[:end])
                kinds = kinds[end:]
            return parts

        def text():
            long = dice.random() < 0.05
            return "".join(dice.choice(["a", "Z", "$", "/", " ", "\xe9", "\U0001f3b2"])
                           for _ in range(dice.randrange(70000 if long and dice.random() < 0.05 else 300 if long else 9)))

        def number(letter):
            bits = BITS[letter]
            value = dice.choice([0, 1, -1, 2**bits - 1, 2**(bits - 1), dice.getrandbits(bits)]) % 2**bits
            return value - 2**bits if letter in "nix" and value >= 2**(bits - 1) else value

        def value(kind, depth=0):
            letter = kind[0]
            if letter == "b": return GLib.Variant.new_boolean(dice.random() < 0.5)
            if letter in BITS: return getattr(GLib.Variant, "new_" + MAKE[letter])(number(letter))
            if letter == "d":
                return GLib.Variant.new_double(dice.choice([0.0, -0.0, float("inf"), 1.5, 5e-324, dice.gauss(0, 1e9)]))
            if letter == "s": return GLib.Variant.new_string(text())
            if letter == "o": return GLib.Variant.new_object_path(dice.choice(["/", "/a", "/org/defaultsd/_1"]))
            if letter == "g": return GLib.Variant.new_signature(dice.choice(["", "a{sv}", "(ii)as", "v"]))
            if letter == "v":
                return GLib.Variant.new_variant(value(some_type(0 if depth > 4 else 3), depth + 1))
            if letter == "m":
                content = value(kind[1:], depth + 1) if dice.random() < 0.7 else None
                return GLib.Variant.new_maybe(GLib.VariantType.new(kind[1:]), content)
            if letter == "a":
                most = dice.choice([3, 3, 3, 20, 300 if depth == 0 else 3])
                return GLib.Variant.new_array(GLib.VariantType.new(kind[1:]),
                    [value(kind[1:], depth + 1) for _ in range(dice.randrange(most))])
            parts = [value(part, depth + 1) for part in split(kind[1:-1])]
            if letter == "{": return GLib.Variant.new_dict_entry(*parts)
            return GLib.Variant.new_tuple(*parts)

        def made_again(v):
            """A value of the same parts: GLib also takes some bytes as normal that it does not write."""
            kind = v.get_type_string()
            if kind[0] not in "vma({": return v
            parts = [made_again(v.get_child_value(i)) for i in range(v.n_children())]
            if kind[0] == "v": return GLib.Variant.new_variant(*parts)
            if kind[0] == "m": return GLib.Variant.new_maybe(GLib.VariantType.new(kind[1:]), *parts or [None])
            if kind[0] == "a": return GLib.Variant.new_array(GLib.VariantType.new(kind[1:]), parts)
            return GLib.Variant.new_dict_entry(*parts) if kind[0] == "{" else GLib.Variant.new_tuple(*parts)

        def show(kind, data):
            v = GLib.Variant.new_from_bytes(GLib.VariantType.new(kind), GLib.Bytes.new(data), False)
            normal = v.is_normal_form() and (made_again(v).get_data_as_bytes().get_data() or b"") == data
            print(kind, data.hex(), int(normal), notation(v) if normal else "",
                  parsable_text(v).encode().hex() if normal else "")

        def parsable_text(v):
            """The text of the value; empty if GLib does not read its own text back."""
            text = v.print_(True)
            try:
                return text if GLib.Variant.parse(None, text, None, None).equal(v) else ""
            except GLib.Error:
                return ""

        def broken(data):
            data = bytearray(data)
            for _ in range(dice.randrange(1, 3)):
                place = dice.choice([0, len(data) - 1, dice.randrange(len(data) + 1)])
                change = dice.randrange(5)
                if change == 0: data.insert(max(place, 0), dice.choice([0, 1, 255]))
                elif not data: continue
                elif change == 1: del data[place:]
                elif change == 2: del data[place:place + 1]
                elif place < len(data): data[place] = dice.choice([0, 1, 2, data[place] ^ 1, dice.randrange(256)])
            return bytes(data)

        for _ in range(count):
            kind = some_type(4)
            data = value(kind).get_data_as_bytes().get_data() or b""
            show(kind, data)
            if len(data) < 2000:
                for _ in range(3): show(kind, broken(data))
        """#
}

extension ExactValue {
    /// The value as text, as the program above writes it.
    var notation: String {
        switch content {
        case .boolean(let flag): flag ? "t" : "f"
        case .integer(let number): "\(number)"
        case .double(let number): "d" + String(number.bitPattern, radix: 16)
        case .string(let text):
            "'"
                + text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .bytes(let bytes): "[" + bytes.map(String.init).joined(separator: ",") + "]"
        case .elements(let elements): "[" + elements.map(\.notation).joined(separator: ",") + "]"
        case .variant(let value): "<\(value.type)\(value.notation)>"
        }
    }
}
