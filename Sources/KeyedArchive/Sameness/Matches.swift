internal import PropertyList

/// The matching objects and strings of two archives.
///
/// All of them are in one array. Most archives are small, and making another array would take
/// longer than comparing the objects.
struct Matches {
    enum Outcome {
        /// Neither object was matched before.
        case new
        /// They were matched with each other before.
        case known
        /// One of them was matched with a different object before.
        case conflict
    }

    private static let none = -1

    /// For each object of the left archive, the UID of the right one.
    ///
    /// Then the reverse. Then, for each string of the left list, the number of the string in the
    /// right list.
    private var partners: [Int]
    private let rightStart: Int
    private let stringStart: Int

    init(of left: KeyedArchive, with right: KeyedArchive) {
        rightStart = left.objects.count
        stringStart = rightStart + right.objects.count
        partners = Array(repeating: Self.none, count: stringStart + left.list.objectCount)
    }

    /// Matches two objects, if neither is matched with another one.
    mutating func match(_ left: UInt64, _ right: UInt64) -> Outcome {
        let (left, right) = (Int(left), Int(right))
        switch (partners[left], partners[rightStart + right]) {
        case (Self.none, Self.none):
            partners[left] = right
            partners[rightStart + right] = left
            return .new
        case (right, left): return .known
        default: return .conflict
        }
    }

    /// Whether these two strings were the last ones given to `noteEqual`.
    func areEqual(_ left: ObjectIndex, _ right: ObjectIndex) -> Bool {
        partners[stringStart + left.position] == right.position
    }

    /// Notes that two strings are equal.
    ///
    /// A string has only one such partner at a time.
    mutating func noteEqual(_ left: ObjectIndex, _ right: ObjectIndex) {
        partners[stringStart + left.position] = right.position
    }
}

/// One of the two archives that are compared.
enum Side {
    case left, right
}

/// Numbers for the strings of two property lists.
///
/// Equal strings have equal numbers.
///
/// Each string is read once, even if many dictionaries have it as a key.
///
/// A class, because it is made only when it is needed: a lazy property that is a structure is
/// copied whole, with all of its tables, at each change.
final class TextNumbering {
    private let left: PropertyList
    private let right: PropertyList
    private var numbers: [Text: Int] = [:]
    private var known: (left: [Int?], right: [Int?])

    init(_ left: PropertyList, _ right: PropertyList) {
        self.left = left
        self.right = right
        known.left = Array(repeating: nil, count: left.objectCount)
        known.right = Array(repeating: nil, count: right.objectCount)
    }

    /// The number of a string of one side's list.
    func number(of index: ObjectIndex, in side: Side) -> Int? {
        let position = index.position
        switch side {
        case .left:
            if let number = known.left[position] { return number }
            known.left[position] = left.text(at: index).map { number(of: $0) }
            return known.left[position]
        case .right:
            if let number = known.right[position] { return number }
            known.right[position] = right.text(at: index).map { number(of: $0) }
            return known.right[position]
        }
    }

    func number(of text: Text) -> Int {
        if let number = numbers[text] { return number }
        numbers[text] = numbers.count
        return numbers.count - 1
    }
}
