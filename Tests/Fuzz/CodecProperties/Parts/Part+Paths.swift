import KeyedArchive
import PropertyList
import ValuePaths
import TestSupport

extension Part {
    /// Paths into a value: what is shown somewhere is found there, and a change there changes that.
    static let paths = Part("paths") { bytes in
        try checkSpelling(bytes)
        guard let archive = try validated(bytes) else { return .refused }
        var shown = ShownParts()
        do {
            try archive.render(into: &shown, limits: .small)
        } catch is ArchiveError {
            return .accepted
        }
        let parts = try ArchiveParts(of: bytes)
        var random = SeededGenerator(bytes: bytes)
        for _ in 0..<4 {
            let part = random.element(of: shown.parts)
            // A deep path takes long, and tries nothing that a short one does not.
            guard part.path.steps.count < 20 else { continue }
            try checkFinding(part, in: archive, shown, isPlain: parts.isPlain)
            try PathCheck(of: archive, parts, at: part.path).run()
        }
        for _ in 0..<2 {
            let step: ValuePath.Step =
                random.below(2) == 0
                ? .index(random.below(5) - 2) : .name(Text(random.element(of: Words.names)))
            let part = random.element(of: shown.parts)
            // Around a circle, what is set would change the way there.
            guard shown.events[part.events.lowerBound] != .reference else { continue }
            let path = ValuePath(part.path.steps.prefix(20) + [step])
            try PathCheck(of: archive, parts, at: path).run()
        }
        return .accepted
    }

    /// What is shown somewhere is found by the path to there, and by that from the end.
    private static func checkFinding(
        _ part: ShownParts.Part, in archive: KeyedArchive, _ shown: ShownParts, isPlain: Bool
    ) throws {
        // What is shown under other names with a $ says what a value is, and is no part of it.
        let arePartNames = part.path.steps.allSatisfy { step in
            if case .name(let name) = step { name.isFieldName } else { true }
        }
        // A dictionary that is shown as its lists may have an entry of the name of one.
        guard isPlain, arePartNames, !part.path.hasCollectionField else { return }
        let found = try archive.value(at: part.path)
        if let expected = shown.value(of: part) {
            var parts = ShownParts()
            try found.render(into: &parts)
            try require(
                parts.events == expected, "What is found at \(part.path) is not what was shown.")
        }
        if let path = part.pathFromEnd {
            try require(
                try archive.value(at: path).bytes == found.bytes,
                "\(path) leads elsewhere than \(part.path).")
        }
    }

    /// Text is a path that is spelled the same when it is read again, or refused with its column.
    private static func checkSpelling(_ text: [UInt8]) throws {
        guard let text = String(validating: text, as: UTF8.self) else { return }
        let path: ValuePath
        do throws(ValuePathError) {
            path = try ValuePath(text)
        } catch {
            guard let column = error.column else {
                throw Violation(description: "\(error): there is no column.")
            }
            try require(
                (1...text.unicodeScalars.count + 1).contains(column),
                "\(error): there is no such column.")
            return
        }
        try require(
            try ValuePath(path.description) == path, "A path is spelled as another one.")
    }
}

/// What has to hold of one path into one archive, whether or not it leads anywhere.
struct PathCheck {
    private let archive: KeyedArchive
    private let path: ValuePath
    /// Whether the archive is the same as one in other bytes.
    private let isComparable: Bool
    /// Whether what is set stays where it is: else an object that was none of a collection may become
    /// one, and be shown as that.
    private let isStable: Bool

    init(of archive: KeyedArchive, _ parts: ArchiveParts, at path: ValuePath) throws {
        self.archive = archive
        self.path = path
        isComparable = try parts.isCheap
        isStable = parts.isPlain && !path.hasCollectionField
    }

    func run() throws {
        try require(
            try ValuePath(path.description) == path, "A path is spelled as another one.")
        let part = try attempt { () throws(ValuePathError) in try archive.value(at: path) }
        if let part { try checkSetting(part) }
        try checkMarking()
        _ = try attempt { () throws(ValuePathError) in try archive.removing(path) }
    }

    /// What is set somewhere is found there, and setting it again changes nothing.
    private func checkMarking() throws {
        let marker = try KeyedArchive(json: #"["a marker",{"of":2}]"#)
        let changed = try attempt { () throws(ValuePathError) in
            try archive.setting(path, to: marker)
        }
        guard let changed, isStable else { return }
        let found = try changed.value(at: path)
        // The archives may have other archivers.
        try require(try found.json() == marker.json(), "What was set at \(path) is not there.")
        try require(
            try changed.setting(path, to: marker).bytes == changed.bytes,
            "To set what is there at \(path) changes the archive.")
    }

    /// To set what is there changes nothing.
    private func checkSetting(_ part: KeyedArchive) throws {
        let same = try attempt { () throws(ValuePathError) in try archive.setting(path, to: part) }
        if let same {
            try require(
                same.bytes == archive.bytes || same.isSame(as: archive) || !isComparable,
                "To set what is there at \(path) changes the archive.")
        }
    }

    /// The archive that comes of it, which is valid as it is read; nil where it is refused properly.
    private func attempt(
        _ body: () throws(ValuePathError) -> KeyedArchive
    ) throws -> KeyedArchive? {
        let result: KeyedArchive
        do throws(ValuePathError) {
            result = try body()
        } catch {
            try require(
                error.column == nil && error.message.utf8.last == UInt8(ascii: "."),
                "The error \(error) is no sentence on a path.")
            if let step = error.step {
                try require((0...path.steps.count).contains(step), "\(error) is of no step.")
            }
            return nil
        }
        _ = try KeyedArchive(validating: result.bytes, limits: .unlimited)
        return result
    }
}

extension ValuePath {
    /// Whether a step goes to a field that collections, strings and data consist of.
    fileprivate var hasCollectionField: Bool {
        steps.contains { step in
            if case .name(let name) = step { name.hasPrefix("NS.") } else { false }
        }
    }
}
