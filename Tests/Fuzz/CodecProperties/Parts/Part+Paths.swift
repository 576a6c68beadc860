import KeyedArchive
import PropertyList

extension Part {
    /// Paths into a value: what is shown somewhere is found there, and a change there changes that.
    static let paths = Part("paths") { bytes in
        try checkSpelling(bytes)
        guard let archive = try validated(bytes) else { return .refused }
        var seats = PathCollector()
        do {
            try archive.render(into: &seats, limits: .small)
        } catch is ArchiveError {
            return .accepted
        }
        let parts = try ArchiveParts(of: bytes)
        var random = Random(seed: bytes)
        for _ in 0..<min(4, seats.paths.count) {
            let path = random.element(of: seats.paths)
            try PathCheck(of: archive, parts, at: path).run()
        }
        for _ in 0..<2 {
            var steps = seats.paths.isEmpty ? [] : random.element(of: seats.paths).steps
            steps.append(
                random.below(2) == 0
                    ? .index(random.below(5) - 2) : .name(Text(random.element(of: Words.names))))
            let path = ValuePath(steps)
            try PathCheck(of: archive, parts, at: path).run()
        }
        return .accepted
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

/// Notes the paths to some of the values that are shown.
struct PathCollector: ValueFormSink {
    private enum Frame {
        case array(next: Int)
        case dictionary(key: Text)
    }

    private(set) var paths: [ValuePath] = []
    private var stack: [Frame] = []

    mutating func null() { value() }
    mutating func boolean(_ value: Bool) { self.value() }
    mutating func integer(_ value: Int128) { self.value() }
    mutating func real(_ value: Double) { self.value() }
    mutating func string(_ value: Text) { self.value() }
    mutating func data(_ value: ArraySlice<UInt8>) { self.value() }
    mutating func bytes(_ value: ArraySlice<UInt8>) { self.value() }
    mutating func date(_ secondsSince2001: Double) { value() }
    mutating func reference(to uid: UInt64) { value() }

    mutating func beginArray() {
        value()
        stack.append(.array(next: -1))
    }

    mutating func endArray() { stack.removeLast() }

    mutating func beginDictionary() {
        value()
        stack.append(.dictionary(key: ""))
    }

    mutating func key(_ key: Text) {
        stack[stack.count - 1] = .dictionary(key: key)
    }

    mutating func endDictionary() { stack.removeLast() }

    private mutating func value() {
        if case .array(let next)? = stack.last { stack[stack.count - 1] = .array(next: next + 1) }
        guard paths.count < 200, stack.count < 20 else { return }
        let steps = stack.map { frame -> ValuePath.Step in
            switch frame {
            case .array(let position): .index(position)
            case .dictionary(let key): .name(key)
            }
        }
        paths.append(ValuePath(steps))
    }
}
