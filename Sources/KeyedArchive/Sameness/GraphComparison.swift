internal import PropertyList

/// The walk over two archives' graphs in step.
///
/// 1. Objects are matched one to one, each once, which keeps sharing and ends for circles.
/// 2. Names are compared where they stand as long as both sides have them in the same order, as one
///    writer's archives do; only others are numbered, so that none is read twice, and sorted.
/// 3. What stands inline, strings among it, may still be shared between many objects of a property
///    list. Only a list that is made to be expensive has much of that; it runs out of budget, and
///    differs.
struct GraphComparison {
    private struct Pair {
        let left: ObjectIndex
        let right: ObjectIndex
        /// Whether the two are objects, which may be dictionaries in any order.
        var areObjects = false
    }

    /// One of the two archives, and which of the other's objects each of its objects is.
    private struct Side {
        let archive: KeyedArchive
        let isLeft: Bool
        var matches: [UInt64?]

        var list: PropertyList { archive.list }

        init(_ archive: KeyedArchive, isLeft: Bool) {
            self.archive = archive
            self.isLeft = isLeft
            matches = Array(repeating: nil, count: archive.objects.count)
        }
    }

    private var left: Side
    private var right: Side
    /// For each string of the left list, the one of the right list that it was found equal to last.
    private var equals: [ObjectIndex?]
    private lazy var numbering = TextNumbering(left.list, right.list)
    private var stack: [Pair] = []
    private var budget: Int

    init(of left: KeyedArchive, with right: KeyedArchive) {
        self.left = Side(left, isLeft: true)
        self.right = Side(right, isLeft: false)
        equals = Array(repeating: nil, count: left.list.objectCount)
        // A reference takes a byte or more, and is looked at four times at most; a string is read
        // once for each string that it is compared with.
        budget = 4 * (left.bytes.count + right.bytes.count)
    }

    mutating func run() -> Bool {
        let (one, other) = (left.archive, right.archive)
        guard !one.hasUnknownKeys, !other.hasUnknownKeys,
            areEqual(one.archiver, other.archiver),
            pushFields(
                Fields(of: one.list, keys: one.topKeys, values: one.topValues),
                Fields(of: other.list, keys: other.topKeys, values: other.topValues))
        else { return false }
        while let pair = stack.popLast() {
            budget -= 1
            guard budget > 0, compare(pair) else { return false }
        }
        return true
    }

    /// Compares two values, and leaves what they hold on the stack.
    private mutating func compare(_ pair: Pair) -> Bool {
        let (one, other) = (left.list.value(at: pair.left), right.list.value(at: pair.right))
        switch (one, other) {
        case (.uid(let one), .uid(let other)):
            return match(one, other)
        case (.boolean(let one), .boolean(let other)):
            return one == other
        case (.integer(let one), .integer(let other)):
            return one == other
        case (.real(let one), .real(let other)), (.date(let one), .date(let other)):
            return one.bitPattern == other.bitPattern
        case (.singleReal(let one), .singleReal(let other)):
            return one.bitPattern == other.bitPattern
        case (.data(let one), .data(let other)):
            budget -= one.count
            return left.list.data(of: one) == right.list.data(of: other)
        case (.string, .string):
            return areEqual(pair.left, pair.right)
        case (.array(let one), .array(let other)), (.set(let one), .set(let other)),
            (.orderedSet(let one), .orderedSet(let other)):
            return push(.references(one), .references(other))
        case (.dictionary(let oneKeys, let oneValues), .dictionary(let otherKeys, let otherValues)):
            return compareDictionaries(
                Fields(of: left.list, keys: oneKeys, values: oneValues),
                Fields(of: right.list, keys: otherKeys, values: otherValues),
                areObjects: pair.areObjects)
        default:
            return false
        }
    }

    /// Whether both are strings of the same code units.
    private mutating func areEqual(_ one: ObjectIndex, _ other: ObjectIndex) -> Bool {
        if equals[one.position] == other { return true }
        guard let oneString = left.list.string(at: one),
            let otherString = right.list.string(at: other), oneString.count == otherString.count
        else { return false }
        budget -= oneString.count
        guard budget > 0, left.list.isEqual(oneString, to: otherString, in: right.list) else {
            return false
        }
        equals[one.position] = other
        return true
    }

    /// Matches two references: both are nil, or their objects belong to each other and no other.
    private mutating func match(_ one: UInt64, _ other: UInt64) -> Bool {
        switch (left.archive.isNil(one), right.archive.isNil(other)) {
        case (true, true): return true
        case (false, false): break
        default: return false
        }
        switch (left.matches[Int(one)], right.matches[Int(other)]) {
        case (nil, nil):
            left.matches[Int(one)] = other
            right.matches[Int(other)] = one
            let (one, other) = (left.archive.object(one), right.archive.object(other))
            stack.append(Pair(left: one, right: other, areObjects: true))
            return true
        case (other, one):
            return true
        default:
            return false
        }
    }
}

// MARK: Collections

extension GraphComparison {
    private mutating func push(_ one: Elements, _ other: Elements) -> Bool {
        guard one.count == other.count, one.count < budget else { return false }
        for position in 0..<one.count {
            stack.append(
                Pair(
                    left: one.element(position, in: left.list),
                    right: other.element(position, in: right.list)))
        }
        return true
    }

    private mutating func compareDictionaries(
        _ one: Fields, _ other: Fields, areObjects: Bool
    ) -> Bool {
        budget -= one.count + other.count
        guard one.count == other.count, budget > 0 else { return false }
        if areObjects,
            let (oneKeys, oneValues) = left.archive.pairs(
                of: one, className: left.archive.className(of: one)),
            let (otherKeys, otherValues) = right.archive.pairs(
                of: other, className: right.archive.className(of: other)),
            oneKeys.isListed == otherKeys.isListed,
            let oneClass = one["$class"], let otherClass = other["$class"],
            let oneOrder = order(of: oneKeys, in: left),
            let otherOrder = order(of: otherKeys, in: right)
        {
            stack.append(Pair(left: oneClass, right: otherClass))
            return push(
                oneKeys.reordered(oneOrder, in: left.list),
                otherKeys.reordered(otherOrder, in: right.list))
                && push(
                    oneValues.reordered(oneOrder, in: left.list),
                    otherValues.reordered(otherOrder, in: right.list))
        }
        return pushFields(one, other)
    }

    /// Pushes the fields of the same names; there must be no others.
    private mutating func pushFields(_ one: Fields, _ other: Fields) -> Bool {
        guard one.count == other.count else { return false }
        guard !haveNamesInStep(one, other) else {
            return push(.references(one.values), .references(other.values))
        }
        let (oneNames, otherNames) = (
            sortedNames(of: one, in: left), sortedNames(of: other, in: right)
        )
        guard oneNames.map(\.number) == otherNames.map(\.number) else { return false }
        for (one, other) in zip(oneNames, otherNames) {
            stack.append(Pair(left: one.value, right: other.value))
        }
        return true
    }

    private mutating func haveNamesInStep(_ one: Fields, _ other: Fields) -> Bool {
        for position in 0..<one.count
        where !areEqual(one.key(at: position), other.key(at: position)) {
            return false
        }
        return true
    }

    private mutating func sortedNames(
        of fields: Fields, in side: Side
    ) -> [(number: Int, value: ObjectIndex)] {
        (0..<fields.count).map { position in
            (number(of: fields.key(at: position), in: side) ?? -1, fields.value(at: position))
        }.sorted { $0.0 < $1.0 }
    }

    /// The order of the keys by their numbers, where all are strings and all are different.
    private mutating func order(of keys: Elements, in side: Side) -> [Int]? {
        budget -= keys.count
        guard budget > 0 else { return nil }
        var numbers: [Int] = []
        numbers.reserveCapacity(keys.count)
        for position in 0..<keys.count {
            guard let number = number(ofKey: keys.element(position, in: side.list), in: side) else {
                return nil
            }
            numbers.append(number)
        }
        let order = numbers.indices.sorted { numbers[$0] < numbers[$1] }
        let areDifferent = zip(order, order.dropFirst()).allSatisfy { numbers[$0] != numbers[$1] }
        return areDifferent ? order : nil
    }

    private mutating func number(ofKey index: ObjectIndex, in side: Side) -> Int? {
        if case .uid(let uid) = side.list.value(at: index), !side.archive.isNil(uid),
            let number = number(of: side.archive.object(uid), in: side)
        {
            return number
        }
        guard let text = side.archive.text(ofKey: index) else { return nil }
        budget -= text.byteCount
        return numbering.number(of: text)
    }

    private mutating func number(of index: ObjectIndex, in side: Side) -> Int? {
        numbering.number(of: index, in: side.list, isLeft: side.isLeft)
    }
}

extension Elements {
    fileprivate var isListed: Bool {
        if case .listed = self { true } else { false }
    }

    fileprivate func reordered(_ order: [Int], in list: PropertyList) -> Elements {
        .listed(order.map { element($0, in: list) })
    }
}
