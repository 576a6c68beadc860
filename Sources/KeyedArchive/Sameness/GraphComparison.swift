internal import PropertyList

extension KeyedArchive {
    /// Whether two archives are the same value: the same graph with the same classes, class chains
    /// and sharing.
    ///
    /// The order of objects, fields and string keys does not matter.
    ///
    /// Integers, reals and booleans are different from each other, and so are inline values and
    /// references. In case of doubt, two archives are different. The time is linear in their bytes,
    /// except for the sorting of keys.
    public func isSame(as other: KeyedArchive) -> Bool {
        if bytes == other.bytes { return true }
        var comparison = GraphComparison(of: self, with: other)
        return comparison.run()
    }
}

/// The parallel walk over the graphs of two archives.
///
/// 1. Objects are matched one to one. Each is visited once. So sharing is compared, and cycles end.
/// 2. Names are compared in place if both sides have them in the same order, as in archives of the
///    same writer. Otherwise each name is read once and numbered, and the numbers are sorted.
/// 3. Many objects of a property list may share the same inline values or strings. A list with much
///    of this was made to be expensive. It exceeds the budget, and counts as different.
private struct GraphComparison {
    /// How many pairs of memory are reserved, which is enough for most small archives.
    private static let usualStack = 32

    private struct Pair {
        let left: ObjectIndex
        let right: ObjectIndex
        /// Whether the two are objects, and so may be dictionaries in any order.
        var areObjects = false
    }

    private let left: KeyedArchive
    private let right: KeyedArchive
    private var matches: Matches
    private lazy var numbering = TextNumbering(left.list, right.list)
    private var stack: [Pair] = []
    private var budget: Int

    init(of left: KeyedArchive, with right: KeyedArchive) {
        self.left = left
        self.right = right
        matches = Matches(of: left, with: right)
        stack.reserveCapacity(Self.usualStack)
        // A reference needs at least one byte and is read at most four times. A string is read once
        // for each string that it is compared with.
        budget = 4 * (left.bytes.count + right.bytes.count)
    }

    mutating func run() -> Bool {
        guard !left.hasUnknownKeys, !right.hasUnknownKeys,
            areEqual(left.archiver, right.archiver),
            pushFields(
                Fields(keys: left.topKeys, values: left.topValues),
                Fields(keys: right.topKeys, values: right.topValues))
        else { return false }
        while let pair = stack.popLast() {
            budget -= 1
            guard budget > 0, compare(pair) else { return false }
        }
        return true
    }

    /// Compares two values, and puts their contents on the stack.
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
                Fields(keys: oneKeys, values: oneValues),
                Fields(keys: otherKeys, values: otherValues),
                areObjects: pair.areObjects)
        default:
            return false
        }
    }

    /// Whether both are strings of the same code units.
    private mutating func areEqual(_ one: ObjectIndex, _ other: ObjectIndex) -> Bool {
        if matches.areEqual(one, other) { return true }
        guard let oneString = left.list.string(at: one),
            let otherString = right.list.string(at: other), oneString.count == otherString.count
        else { return false }
        budget -= oneString.count
        guard budget > 0, left.list.isEqual(oneString, to: otherString, in: right.list) else {
            return false
        }
        matches.noteEqual(one, other)
        return true
    }

    /// Matches two references: both are nil, or their objects match each other and no other object.
    private mutating func match(_ one: UInt64, _ other: UInt64) -> Bool {
        switch (left.isNil(one), right.isNil(other)) {
        case (true, true): return true
        case (false, false): break
        default: return false
        }
        switch matches.match(one, other) {
        case .new:
            let (one, other) = (left.object(one), right.object(other))
            stack.append(Pair(left: one, right: other, areObjects: true))
            return true
        case .known:
            return true
        case .conflict:
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
            let onePairs = left.pairs(of: one),
            let otherPairs = right.pairs(of: other),
            !areInStep(onePairs.keys, otherPairs.keys),
            onePairs.keys.isListed == otherPairs.keys.isListed,
            let oneClass = one["$class", in: left.list],
            let otherClass = other["$class", in: right.list],
            let oneOrder = order(of: onePairs.keys, in: .left),
            let otherOrder = order(of: otherPairs.keys, in: .right)
        {
            stack.append(Pair(left: oneClass, right: otherClass))
            return push(
                onePairs.keys.reordered(oneOrder, in: left.list),
                otherPairs.keys.reordered(otherOrder, in: right.list))
                && push(
                    onePairs.values.reordered(oneOrder, in: left.list),
                    otherPairs.values.reordered(otherOrder, in: right.list))
        }
        return pushFields(one, other)
    }

    /// Whether all keys of two dictionaries are strings, and equal in the same order.
    private mutating func areInStep(_ one: Elements, _ other: Elements) -> Bool {
        guard one.count == other.count else { return false }
        for position in 0..<one.count {
            let oneKey = left.target(of: one.element(position, in: left.list))
            let otherKey = right.target(of: other.element(position, in: right.list))
            guard areEqual(oneKey, otherKey) else { return false }
        }
        return true
    }

    /// Whether both have the same names in the same order.
    private mutating func areInStep(_ one: Fields, _ other: Fields) -> Bool {
        for position in 0..<one.count {
            let oneKey = one.key(at: position, in: left.list)
            let otherKey = other.key(at: position, in: right.list)
            guard areEqual(oneKey, otherKey) else { return false }
        }
        return true
    }

    /// Pushes the fields with the same names.
    ///
    /// There must be no others.
    private mutating func pushFields(_ one: Fields, _ other: Fields) -> Bool {
        guard one.count == other.count else { return false }
        guard !areInStep(one, other) else {
            return push(.references(one.values), .references(other.values))
        }
        let oneNames = sortedNames(of: one, in: .left)
        let otherNames = sortedNames(of: other, in: .right)
        guard oneNames.map(\.number) == otherNames.map(\.number) else { return false }
        for (one, other) in zip(oneNames, otherNames) {
            stack.append(Pair(left: one.value, right: other.value))
        }
        return true
    }
}

// MARK: Different orders

extension GraphComparison {
    private func archive(_ side: Side) -> KeyedArchive {
        switch side {
        case .left: left
        case .right: right
        }
    }

    private mutating func sortedNames(
        of fields: Fields, in side: Side
    ) -> [(number: Int, value: ObjectIndex)] {
        let list = archive(side).list
        return (0..<fields.count).map { position in
            let key = fields.key(at: position, in: list)
            return (numbering.number(of: key, in: side) ?? -1, fields.value(at: position, in: list))
        }.sorted { $0.0 < $1.0 }
    }

    /// The order of the keys by their numbers, if all are strings and all are different.
    private mutating func order(of keys: Elements, in side: Side) -> [Int]? {
        budget -= keys.count
        guard budget > 0 else { return nil }
        let archive = archive(side)
        var numbers: [Int] = []
        numbers.reserveCapacity(keys.count)
        for position in 0..<keys.count {
            let key = keys.element(position, in: archive.list)
            guard let number = number(ofKey: key, in: archive, side) else { return nil }
            numbers.append(number)
        }
        let order = numbers.indices.sorted { numbers[$0] < numbers[$1] }
        let areDifferent = zip(order, order.dropFirst()).allSatisfy { numbers[$0] != numbers[$1] }
        return areDifferent ? order : nil
    }

    private mutating func number(
        ofKey index: ObjectIndex, in archive: KeyedArchive, _ side: Side
    ) -> Int? {
        if let number = numbering.number(of: archive.target(of: index), in: side) { return number }
        guard let text = archive.text(ofKey: index) else { return nil }
        budget -= text.byteCount
        return numbering.number(of: text)
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
