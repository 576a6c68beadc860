/// What a signal `Notify` says: a path, and what follows it in the paths of settings that have changed.
///
/// For a single setting the path is its own, and nothing follows it. Otherwise the path is that of a
/// directory.
package struct DconfNotice: Sendable, Hashable {
    /// How the paths of all settings begin.
    package let prefix: String
    /// The rest of each path.
    package let changes: [String]
    /// The tag of the call that made the change; empty if it was another way.
    package let tag: String

    /// The most bytes of the rests.
    ///
    /// Beyond it, the signal is for the whole directory.
    private static let mostBytes = 64 << 10

    /// Describes a change; nil if it changes nothing.
    ///
    /// - Parameter paths: Each once.
    package init?(of paths: [String], tag: String) {
        guard let first = paths.first else { return nil }
        self.tag = tag
        guard paths.count > 1 else {
            (prefix, changes) = (first, [""])
            return
        }
        var common = Array(first.utf8)[...]
        for path in paths.dropFirst() {
            let count = zip(common, path.utf8).prefix { $0 == $1 }.count
            common = common.prefix(count)
        }
        let end = common.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        prefix = String(decoding: common[..<end], as: UTF8.self)
        let rests = paths.map { String(decoding: $0.utf8.dropFirst(end), as: UTF8.self) }
        let size = rests.reduce(0) { $0 + $1.utf8.count }
        changes = size <= Self.mostBytes ? rests.sorted() : [""]
    }

    /// Whether a match rule with `arg0path` lets the signal through.
    ///
    /// - Parameter path: The path in the rule; nil if the rule has none.
    package func matches(_ path: String?) -> Bool {
        guard let path else { return true }
        let slash = UInt8(ascii: "/")
        if path.utf8.last == slash, prefix.utf8.starts(with: path.utf8) { return true }
        if prefix.utf8.last == slash, path.utf8.starts(with: prefix.utf8) { return true }
        return path.utf8.elementsEqual(prefix.utf8)
    }
}
