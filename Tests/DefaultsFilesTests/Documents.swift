import DefaultsFiles
import DefaultsModel
import KeyedArchive
import TestSupport
import Testing

/// The document that bytes in a file `a.json` are.
func document(_ bytes: [UInt8], _ layer: Layer = .managed) throws -> LayerDocument {
    let domain = try Domain(name: "a", layer: layer)
    return try LayerDocument(bytes, of: LayerFile(path: "a.json", domain: domain))
}

func document(_ text: String, _ layer: Layer = .managed) throws -> LayerDocument {
    try document(Array(text.utf8), layer)
}

/// What is wrong with a file.
func problem(_ bytes: [UInt8], _ layer: Layer = .managed) throws -> LayerProblem {
    try #require(throws: LayerProblem.self) { try document(bytes, layer) }
}

func problem(_ text: String, _ layer: Layer = .managed) throws -> LayerProblem {
    try problem(Array(text.utf8), layer)
}

/// A property list in XML that is a dictionary of these entries.
func xml(_ entries: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0">
    <dict>
    \(entries)
    </dict>
    </plist>
    """
}

/// What a Python program writes to the binary file `out`; it has `plistlib`, `json` and `UID`.
func python(_ program: String) throws -> [UInt8] {
    let output = try ProgramResult.run([
        "/usr/bin/python3", "-c",
        """
        import base64, datetime, io, json, plistlib, sys
        from plistlib import UID
        out = io.BytesIO()
        \(program)
        print(base64.b16encode(out.getvalue()).decode())
        """,
    ]).requireOutput()
    let digits = Array(output.utf8.dropLast())
    return stride(from: 0, to: digits.count, by: 2).map { position in
        UInt8(String(decoding: digits[position...position + 1], as: UTF8.self), radix: 16) ?? 0
    }
}

extension LayerDocument {
    /// The values as JSON, in the order of the file.
    var json: [String] {
        get throws {
            try values.map { "\($0.key) \(String(decoding: try $0.archive.json(), as: UTF8.self))" }
        }
    }

    var patterns: [String] { locks.map(\.pattern) }
}
