/// What the name of a file says, of which only the beginning and the end count.
enum FileName {
    /// What holds keys, or seems to: `NAME.json` or `NAME.plist`; with the `NAME`.
    case document(String)
    /// A directory of drop-ins, `NAME.d`, or a file that is named so.
    case dropIns(String)
    /// Hidden, a backup, or something else that is none of our business.
    case other

    init(_ name: String) {
        guard name.utf8.first != UInt8(ascii: ".") else {
            self = .other
            return
        }
        if let stem = Self.stem(of: name, ".json") ?? Self.stem(of: name, ".plist") {
            self = .document(stem)
        } else if let stem = Self.stem(of: name, ".d") {
            self = .dropIns(stem)
        } else {
            self = .other
        }
    }

    /// Whether something with this name is read.
    var isOurs: Bool {
        if case .other = self { false } else { true }
    }

    private static func stem(of name: String, _ suffix: String) -> String? {
        // By bytes: a character may be joined to the dot.
        name.utf8.count >= suffix.utf8.count
            && name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            ? String(name.utf8.dropLast(suffix.utf8.count)) : nil
    }
}
