/// What the name of a file means, by its beginning and its end.
enum FileName {
    /// What holds keys, or seems to: `NAME.json` or `NAME.plist`; with the `NAME`.
    case document(String)
    /// A directory of drop-ins, `NAME.d`, or a file that is named so.
    case dropIns(String)
    /// A hidden file, a copy that an editor or a package manager leaves, or a README: nobody
    /// expects it to be read.
    case leftover
    /// Something else, which is not read either, and is perhaps meant to be.
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

    /// Whether something with this name is read.
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
        // By bytes: a character may be joined to the dot.
        name.utf8.count >= suffix.utf8.count
            && name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            ? String(name.utf8.dropLast(suffix.utf8.count)) : nil
    }
}
