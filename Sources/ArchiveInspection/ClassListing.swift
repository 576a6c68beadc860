package import KeyedArchive
internal import PropertyList

/// The classes of an archive, one on each line in the order of their UIDs: the name, the
/// superclasses, the number of objects, and the hints.
package struct ClassListing: InspectionListing {
    private let archive: KeyedArchive
    private let spelling: ValueSpelling
    private let limit: Int
    private var budget: Int
    /// How many objects refer to each class record, by its UID.
    private var counts: [Int] = []
    private var position = 0

    /// Makes the list of an archive's classes.
    package init(of archive: KeyedArchive, options: InspectionOptions = InspectionOptions()) {
        self.archive = archive
        spelling = ValueSpelling(text: VisibleText(isASCII: options.stringsAreASCII))
        limit = options.limit(for: archive)
        budget = limit
    }

    /// The next line, or nil after the last.
    ///
    /// - Throws: ``ArchiveError`` if all lines together exceed the limit.
    package mutating func next() throws(ArchiveError) -> InspectionLine? {
        guard let line = try nextLine() else { return nil }
        try spend(line.byteCount)
        return line
    }

    private mutating func nextLine() throws(ArchiveError) -> InspectionLine? {
        if counts.isEmpty { counts = try countObjects() }
        while position < archive.objects.count {
            let uid = position
            position += 1
            if let fields = fields(of: uid), fields["$class", in: archive.list] == nil {
                return try line(of: fields, uid: uid, count: counts[uid])
            }
        }
        return nil
    }

    private mutating func countObjects() throws(ArchiveError) -> [Int] {
        var counts = Array(repeating: 0, count: archive.objects.count)
        for position in counts.indices {
            guard let fields = fields(of: position) else { continue }
            try spend(fields.count)
            if let reference = fields["$class", in: archive.list],
                case .uid(let uid) = archive.list.value(at: reference)
            {
                counts[Int(uid)] += 1
            }
        }
        return counts
    }

    /// The fields of an entry of `$objects`, if it is an object or a class record.
    private func fields(of position: Int) -> Fields? {
        Fields(of: archive.list, at: archive.list.element(position, of: archive.objects))
    }

    private mutating func line(
        of record: Fields, uid: Int, count: Int
    ) throws(ArchiveError) -> InspectionLine {
        let name = spelling.className(of: record, in: archive)
        var line = InspectionLine()
        line.append("#\(uid) ", .reference)
        line.append(name, .className)
        let chain = try names(record["$classes", in: archive.list])
        // The chain begins with the class itself.
        let superclasses = chain.first == name ? chain.dropFirst() : chain[...]
        for superclass in superclasses {
            line.append(" : ", .structure)
            line.append(superclass, .className)
        }
        line.append(", \(spelling.count(count, "object"))", .note)
        let hints = try names(record["$classhints", in: archive.list])
        if !hints.isEmpty {
            line.append(", hints: ", .note)
            line.append(hints.joined(separator: ", "), .className)
        }
        return line
    }

    private mutating func names(_ index: ObjectIndex?) throws(ArchiveError) -> [String] {
        guard let index, case .array(let references) = archive.list.value(at: index) else {
            return []
        }
        try spend(references.count * VisibleText.limit)
        return archive.list.elements(of: references).map { spelling.name(of: $0, in: archive.list) }
    }

    private mutating func spend(_ size: Int) throws(ArchiveError) {
        budget -= min(size, budget + 1)
        guard budget >= 0 else {
            let start = archive.list.byteOffset(of: archive.list.root)
            throw .outputTooLarge(limit: limit, at: start)
        }
    }
}
