/// A file of sections with keys, as activation files and units are.
struct KeyFile {
    let path: String
    private let values: [String: String]

    /// Reads a file; nil where that cannot be done.
    init?(_ path: String) {
        guard let bytes = try? InputFile.contents(of: path, limit: 1 << 16) else { return nil }
        self.path = path
        var values: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, !line.hasPrefix("#") else { continue }
            let name = parts[0].split(separator: " ").joined()
            if values[name] == nil { values[name] = Self.trimmed(parts[1]) }
        }
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }

    /// The program that a command line of the file runs.
    func program(_ name: String) -> String? {
        values[name]?.split(separator: " ").first.map { String($0.drop { "-@:+!".contains($0) }) }
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
