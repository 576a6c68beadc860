internal import PropertyList

extension KeyedArchive {
    /// Writes the value in a form that two archives share if, and only if, they are the same value.
    ///
    /// That is what ``isSame(as:)`` says, so the order of objects, fields and string keys does not
    /// matter. The form is for hashing. Nothing reads it.
    ///
    /// - Parameter sink: Gets the form in pieces, in their order.
    /// - Returns: Whether the form is complete. It is not if the archive has entries that this module does
    ///   not know, or was made to be expensive. ``isSame(as:)`` compares such archives by their bytes.
    package func writeCanonicalForm(to sink: ([UInt8]) -> Void) -> Bool {
        guard !hasUnknownKeys else { return false }
        return withoutActuallyEscaping(sink) { sink in
            var walk = CanonicalWalk(of: self, to: sink)
            return walk.run()
        }
    }
}

/// The walk over the graph of one archive, in an order that follows from its value alone.
///
/// 1. Each value begins with a byte for its kind. It says how many bytes and values follow, so that no
///    two values have the same form.
/// 2. Objects and strings are numbered at their first visit. Later visits write the number, so sharing
///    of objects shows, and cycles end. Equal strings have one number.
/// 3. Fields are visited in the order of their names. So are the entries of a dictionary if all of its
///    keys are different strings.
/// 4. The budget is at least that of a comparison with an archive of the same size.
private struct CanonicalWalk {
    /// The first byte of each value.
    private enum Kind: UInt8 {
        case boolean, integer, real, singleReal, date, data, newString, knownString
        case none, newObject, knownObject, array, orderedSet, set, fields
        case dictionary, numberedDictionary
    }

    private struct Step {
        let value: ObjectIndex
        /// Whether it is an object, and so may be a dictionary in any order.
        var isObject = false
    }

    private static let pieceSize = 4096

    private let archive: KeyedArchive
    private let list: PropertyList
    private let sink: ([UInt8]) -> Void
    private let ranks: TextRanks
    /// For each rank of a string, and for each object, its number; -1 before the first visit.
    private var strings: [Int]
    private var objects: [Int]
    private var count = (strings: 0, objects: 0)
    private var stack: [Step] = []
    private var piece: [UInt8] = []
    private var budget: Int

    init(of archive: KeyedArchive, to sink: @escaping ([UInt8]) -> Void) {
        self.archive = archive
        list = archive.list
        self.sink = sink
        ranks = TextRanks(of: archive.list)
        strings = Array(repeating: -1, count: ranks.count)
        objects = Array(repeating: -1, count: archive.objects.count)
        budget = 8 * archive.bytes.count
    }

    mutating func run() -> Bool {
        writeString(archive.archiver)
        writeFields(Fields(keys: archive.topKeys, values: archive.topValues))
        while let step = stack.popLast() {
            budget -= 1
            guard budget > 0 else { return false }
            write(step)
            if piece.count >= Self.pieceSize { handOver() }
        }
        handOver()
        return budget > 0
    }

    private mutating func handOver() {
        sink(piece)
        piece.removeAll(keepingCapacity: true)
    }

    /// Writes a value, and puts its contents on the stack.
    private mutating func write(_ step: Step) {
        switch list.value(at: step.value) {
        case .boolean(let value): write(.boolean, value ? UInt8(1) : 0)
        case .integer(let value): write(.integer, value)
        case .real(let value): write(.real, value.bitPattern)
        case .singleReal(let value): write(.singleReal, value.bitPattern)
        case .date(let value): write(.date, value.bitPattern)
        case .data(let range):
            budget -= range.count
            write(.data, UInt64(range.count))
            piece += list.data(of: range)
        case .string: writeString(step.value)
        case .uid(let uid): writeReference(uid)
        case .array(let references): writeElements(.array, .references(references))
        case .orderedSet(let references): writeElements(.orderedSet, .references(references))
        case .set(let references): writeElements(.set, .references(references))
        case .dictionary(let keys, let values):
            let fields = Fields(keys: keys, values: values)
            if !step.isObject || !writeDictionary(fields) { writeFields(fields) }
        }
    }

    private mutating func write(_ kind: Kind, _ number: some FixedWidthInteger) {
        piece.append(kind.rawValue)
        withUnsafeBytes(of: number.littleEndian) { piece += $0 }
    }

    private mutating func writeString(_ index: ObjectIndex) {
        let rank = ranks.rank(of: index)
        guard strings[rank] < 0 else { return write(.knownString, UInt64(strings[rank])) }
        strings[rank] = count.strings
        count.strings += 1
        let units = (list.text(at: index) ?? "").codeUnits
        write(.newString, UInt64(units.count))
        for unit in units { withUnsafeBytes(of: unit.littleEndian) { piece += $0 } }
    }

    private mutating func writeReference(_ uid: UInt64) {
        guard !archive.isNil(uid) else { return piece.append(Kind.none.rawValue) }
        let known = objects[Int(uid)]
        guard known < 0 else { return write(.knownObject, UInt64(known)) }
        objects[Int(uid)] = count.objects
        count.objects += 1
        piece.append(Kind.newObject.rawValue)
        stack.append(Step(value: archive.object(uid), isObject: true))
    }
}

// MARK: Collections

extension CanonicalWalk {
    private mutating func writeElements(_ kind: Kind, _ elements: Elements) {
        write(kind, UInt64(elements.count))
        push(elements)
    }

    /// Puts elements on the stack, the first of them on top.
    private mutating func push(_ elements: Elements) {
        budget -= elements.count
        guard budget > 0 else { return }
        for position in (0..<elements.count).reversed() {
            stack.append(Step(value: elements.element(position, in: list)))
        }
    }

    private mutating func writeFields(_ fields: Fields) {
        budget -= fields.count
        guard budget > 0 else { return }
        let order = (0..<fields.count)
            .map { (rank: ranks.rank(of: fields.key(at: $0, in: list)), position: $0) }
            .sorted { $0.rank < $1.rank }
        write(.fields, UInt64(fields.count))
        for field in order { writeString(fields.key(at: field.position, in: list)) }
        push(.listed(order.map { fields.value(at: $0.position, in: list) }))
    }

    /// Writes an object that is a dictionary of different strings.
    ///
    /// - Returns: Whether it is one.
    private mutating func writeDictionary(_ fields: Fields) -> Bool {
        budget -= fields.count
        guard budget > 0, let record = fields["$class", in: list],
            let (keys, values) = archive.pairs(of: fields), let order = order(of: keys)
        else { return false }
        let kind: Kind = if case .listed = keys { .numberedDictionary } else { .dictionary }
        write(kind, UInt64(keys.count))
        push(.listed(order.map { values.element($0, in: list) }))
        push(.listed(order.map { keys.element($0, in: list) }))
        stack.append(Step(value: record))
        return true
    }

    /// The positions of keys in the order of their texts, if all are strings and all are different.
    private mutating func order(of keys: Elements) -> [Int]? {
        budget -= keys.count
        guard budget > 0 else { return nil }
        var contents: [ObjectIndex] = []
        contents.reserveCapacity(keys.count)
        for position in 0..<keys.count {
            guard let content = archive.contentOfKey(keys.element(position, in: list)) else {
                return nil
            }
            contents.append(content)
        }
        let areStrings = contents.allSatisfy { list.string(at: $0) != nil }
        return areStrings
            ? Self.order(of: contents.map { ranks.rank(of: $0) })
            : texts(of: keys).flatMap(Self.order(of:))
    }

    /// The texts of keys, of which some are objects with bytes in UTF-8.
    private mutating func texts(of keys: Elements) -> [Text]? {
        var texts: [Text] = []
        texts.reserveCapacity(keys.count)
        for position in 0..<keys.count {
            guard budget > 0, let text = archive.text(ofKey: keys.element(position, in: list))
            else { return nil }
            budget -= text.byteCount
            texts.append(text)
        }
        return texts
    }

    private static func order(of keys: [some Comparable]) -> [Int]? {
        let order = keys.indices.sorted { keys[$0] < keys[$1] }
        let areDifferent = zip(order, order.dropFirst()).allSatisfy { keys[$0] != keys[$1] }
        return areDifferent ? order : nil
    }
}

/// The order of all strings of a list.
///
/// Each string is read once, even if many dictionaries have it as a key.
private struct TextRanks {
    private let ranks: [Int]
    /// How many different strings there are.
    let count: Int

    init(of list: PropertyList) {
        var texts: [(text: Text, position: Int)] = []
        for index in list.indices {
            if let text = list.text(at: index) { texts.append((text, index.position)) }
        }
        texts.sort { $0.text < $1.text }
        var ranks = Array(repeating: -1, count: list.objectCount)
        var rank = -1
        var last: Text?
        for (text, position) in texts {
            if text != last { rank += 1 }
            last = text
            ranks[position] = rank
        }
        self.ranks = ranks
        count = rank + 1
    }

    /// The rank of a string: equal strings have the same.
    func rank(of index: ObjectIndex) -> Int {
        ranks[index.position]
    }
}
