import Foundation
import TestSupport

/// Python's property list module: a reader and writer of both forms that nobody here wrote.
enum PythonPropertyList {
    /// Ends in a function that makes the values of two lists comparable: reals by their bits, and
    /// references as what they are in either form.
    private static let prelude = """
        import datetime, plistlib, random, struct, sys
        def canonical(v):
            if isinstance(v, plistlib.UID): return ("uid", v.data)
            if isinstance(v, dict):
                if list(v) == ["CF$UID"] and type(v["CF$UID"]) is int: return ("uid", v["CF$UID"])
                return ("dict", [(k, canonical(x)) for k, x in v.items()])
            if isinstance(v, list): return [canonical(x) for x in v]
            if isinstance(v, float): return ("nan" if v != v else struct.pack(">d", v))
            return (type(v).__name__, v)

        """

    /// Whether a property list in XML and a binary one are the same to Python.
    static func areSame(xml: [UInt8], binary: [UInt8]) throws -> Bool {
        let answer = try run(
            """
            one, other = [plistlib.load(open(p, "rb"), dict_type=dict) for p in sys.argv[1:]]
            print(canonical(one) == canonical(other))
            """, files: ["one": xml, "other": binary])
        return answer == Array("True\n".utf8)
    }

    /// A property list of all kinds of values, which a number decides, in one of the two forms.
    static func random(_ seed: UInt64, isXML: Bool) throws -> [UInt8] {
        try run(
            """
            r = random.Random(\(seed))
            def string():
                return "".join(r.choice("ab <&>\\"'\\t\\n\\ré\\u4e2d😀]]>") for _ in range(r.randrange(9)))
            def value(depth):
                kind = r.randrange(9 if depth else 7)
                if kind == 0: return string()
                if kind == 1: return r.choice([r.randrange(300), -r.randrange(1 << 62),
                                               r.randrange(1 << 64)])
                if kind == 2: return r.choice([r.uniform(-1, 1), 1e300, -0.0, 5e-324,
                                               float("inf"), float("-inf"), float("nan")])
                if kind == 3: return r.random() < 0.5
                if kind == 4: return datetime.datetime(1, 1, 1) + datetime.timedelta(
                    seconds=r.randrange(315537897599))
                if kind == 5: return r.randbytes(r.choice([0, 1, 2, 3, 57, 58, 200]))
                if kind == 6: return \(isXML ? "r.randrange(99)" : "plistlib.UID(r.randrange(1 << 40))")
                if kind == 7: return [value(depth - 1) for _ in range(r.randrange(6))]
                return {string(): value(depth - 1) for _ in range(r.randrange(6))}
            result = [value(5) for _ in range(20)]
            format = plistlib.\(isXML ? "FMT_XML" : "FMT_BINARY")
            sys.stdout.buffer.write(plistlib.dumps(result, fmt=format, sort_keys=False))
            """, files: [:])
    }

    /// What Python writes as XML for a binary property list.
    static func xml(of binary: [UInt8]) throws -> [UInt8] {
        try run(
            """
            value = plistlib.load(open(sys.argv[1], "rb"), dict_type=dict)
            sys.stdout.buffer.write(plistlib.dumps(value, sort_keys=False))
            """, files: ["binary": binary])
    }

    private static func run(_ program: String, files: KeyValuePairs<String, [UInt8]>) throws
        -> [UInt8]
    {
        let directory = try TemporaryDirectory()
        let paths = try files.map { name, bytes in
            let path = "\(directory.path)/\(name)"
            try Data(bytes).write(to: URL(filePath: path))
            return path
        }
        let output = directory.path + "/output"
        // The answer can be bytes that are no text, so it goes through a file.
        let redirected = "sys.stdout = open('\(output)', 'w')\n"
        _ = try ProgramResult.run(
            ["/usr/bin/python3", "-c", prelude + redirected + program] + paths
        ).requireOutput()
        return Array(try Data(contentsOf: URL(filePath: output)))
    }
}
