/// The keys that the administrator has locked, as `Attach` tells of them.
struct LockedNames: Equatable {
    private var names: Set<KeyName> = []
    private var prefixes: [String] = []

    init() {}

    /// - Parameter patterns: Keys, and prefixes with a `*` after them.
    init(_ patterns: [String]) {
        for pattern in patterns {
            if pattern.utf8.last == UInt8(ascii: "*") {
                prefixes.append(String(pattern.dropLast()))
            } else {
                names.insert(KeyName(pattern))
            }
        }
    }

    /// Whether a key is locked.
    ///
    /// Names are compared by their bytes.
    func contains(_ name: KeyName) -> Bool {
        names.contains(name) || prefixes.contains { name.utf8.starts(with: $0.utf8) }
    }
}
