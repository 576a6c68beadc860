import KeyedArchive
import ValuePaths

/// What `-array-add` and `-dict-add` do to the value that is there.
extension KeyedArchive {
    /// The value of a key, or a part of it, with what a request adds; all else of it stays.
    ///
    /// - Parameters:
    ///   - archive: What the key has; nil where it is not there.
    ///   - part: The part that is added to; the whole value where its steps are none.
    static func changed(
        _ archive: KeyedArchive?, at part: ValuePath, by request: ValueWords.Request, key: String
    ) throws -> KeyedArchive {
        switch request {
        case .value(let value):
            guard let archive else { return try value.archive() }
            return try archive.setting(part, to: value.archive())
        case .elements(let elements):
            guard let archive else { return try WrittenValue.array(elements).archive() }
            try archive.require(at: part, "array", toAppendTo: key)
            var changed = archive
            // The element behind the last one is added; its number grows with each.
            var count = try archive.value(at: part).elementCount
            for element in elements {
                changed = try changed.setting(
                    ValuePath(part.steps + [.index(count)]), to: element.archive())
                count += 1
            }
            return changed
        case .entries(let entries):
            guard let archive else { return try WrittenValue.dictionary(entries).archive() }
            try archive.require(at: part, "dictionary", toAppendTo: key)
            return try entries.reduce(archive) { changed, entry in
                try changed.setting(
                    ValuePath(part.steps + [.name(entry.key)]), to: entry.value.archive())
            }
        }
    }

    private func require(
        at part: ValuePath, _ type: String, toAppendTo key: String
    ) throws {
        guard try ValueTypeName.name(of: value(at: part)) == type else {
            throw ToolError.cannotAppend(to: key, isArray: type == "array")
        }
    }

    /// How many elements the value, an array, has.
    private var elementCount: Int {
        get throws {
            var counter = ElementCounter()
            try render(into: &counter)
            return counter.count
        }
    }
}
