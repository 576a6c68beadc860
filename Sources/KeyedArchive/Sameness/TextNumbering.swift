internal import PropertyList

/// One of the two archives that are compared.
enum Side {
    case left, right
}

/// Numbers for the strings of two property lists: equal strings have equal numbers.
///
/// Each string is read once, however many dictionaries have it as a key.
///
/// A class, because it is made only when it is needed: a lazy property that is a structure is copied
/// whole, with all of its tables, at each change.
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
