import DefaultsClient
import KeyedArchive
import ValuePaths

/// A change of one key, or of a part of its value.
struct WatchedChange {
    /// The old or the new content.
    enum Content {
        case absent
        case value(KeyedArchive)
        /// A value of this many bytes, which was too large to keep.
        case large(Int)
        /// A value that is unknown.
        case unknown
    }

    /// The domain with the suffix of its layer.
    let domain: String
    let key: String
    /// The part of the value that is watched; nil for all of it.
    let path: ValuePath?
    let old: Content
    let new: Content
    /// The old and the new value of the whole key.
    let whole: (old: Content, new: Content)
    let generation: UInt64
    /// Who made the change; nil if the daemon does not know.
    let author: WatchedAuthor?

    /// A change of the whole value of a key.
    init(
        of key: String, in domain: String, from old: Content, to new: Content,
        at generation: UInt64, by author: WatchedAuthor?
    ) {
        self.init(
            of: key, in: domain, path: nil, from: old, to: new, whole: (old, new), at: generation,
            by: author)
    }

    private init(
        of key: String, in domain: String, path: ValuePath?, from old: Content, to new: Content,
        whole: (old: Content, new: Content), at generation: UInt64, by author: WatchedAuthor?
    ) {
        (self.key, self.domain, self.path) = (key, domain, path)
        (self.old, self.new, self.whole) = (old, new, whole)
        (self.generation, self.author) = (generation, author)
    }

    /// The change of a part of the value; nil if that part has not changed.
    ///
    /// A part of a value that was not kept counts as unknown.
    func narrowed(to path: ValuePath) -> WatchedChange? {
        let (old, new) = (old.part(at: path), new.part(at: path))
        switch (old, new) {
        case (.absent, .absent): return nil
        case (.value(let before), .value(let after)) where before.isSame(as: after): return nil
        default: break
        }
        return WatchedChange(
            of: key, in: domain, path: path, from: old, to: new, whole: whole, at: generation,
            by: author)
    }
}

extension WatchedChange.Content {
    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }

    fileprivate func part(at path: ValuePath) -> WatchedChange.Content {
        switch self {
        case .absent: .absent
        case .value(let archive):
            (try? archive.shown().value(at: path)).map { .value($0) } ?? .absent
        case .large, .unknown: .unknown
        }
    }
}

extension ChangeWriter {
    /// The name of the program, as people call it.
    var name: String {
        let file = executable.split(separator: "/").last.map(String.init) ?? executable
        // The kernel adds this mark to the path of a program that was replaced while it runs.
        let mark = " (deleted)"
        return file.hasSuffix(mark) ? String(file.dropLast(mark.count)) : file
    }
}
