/// The meaning of a file's name.
enum FileName {
    /// A file with keys: `NAME.json` or `NAME.plist`, with the `NAME`.
    case document(String)
    /// A directory of drop-ins, `NAME.d`, or a file with such a name.
    case dropIns(String)
    /// A hidden file, a copy made by an editor or a package manager, or a README: nobody expects it
    /// to be read.
    case leftover
    /// Any other file. It is not read either, but was perhaps meant to be.
    case other

    init(_ name: String) {
        if Self.isLeftover(name) {
            self = .leftover
        } else if let stem = Self.stem(of: name, ".json") ?? Self.stem(of: name, ".plist") {
            self = .document(stem)
        } else if let stem = Self.stem(of: name, ".d") {
            self = .dropIns(stem)
        } else {
            self = .other
        }
    }

    /// Whether a file with this name is read.
    var isOurs: Bool {
        switch self {
        case .document, .dropIns: true
        case .leftover, .other: false
        }
    }

    private static let leftoverSuffixes = [
        "~", ".bak", ".orig", ".rpmsave", ".rpmnew", ".rpmorig", ".swp", ".tmp",
    ]

    private static func isLeftover(_ name: String) -> Bool {
        name.utf8.first == UInt8(ascii: ".") || name.utf8.starts(with: "README".utf8)
            || leftoverSuffixes.contains { stem(of: name, $0) != nil }
            || name.split(separator: ".").dropFirst().last?.hasPrefix("dpkg-") == true
    }

    private static func stem(of name: String, _ suffix: String) -> String? {
        // Bytes, because the dot and the next code point may form one character.
        name.utf8.count >= suffix.utf8.count
            && name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            ? String(name.utf8.dropLast(suffix.utf8.count)) : nil
    }
}
