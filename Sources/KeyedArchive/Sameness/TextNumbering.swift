internal import PropertyList

/// Numbers for the strings of two property lists: equal strings have equal numbers.
///
/// Each string is read once, however many dictionaries have it as a key.
struct TextNumbering {
    private var numbers: [Text: Int] = [:]
    private var known: (left: [Int?], right: [Int?])

    init(_ left: PropertyList, _ right: PropertyList) {
        known.left = Array(repeating: nil, count: left.objectCount)
        known.right = Array(repeating: nil, count: right.objectCount)
    }

    /// The number of a string of the left list, or of the right one.
    mutating func number(
        of index: ObjectIndex, in list: PropertyList, isLeft: Bool
    ) -> Int? {
        let position = index.position
        if let number = isLeft ? known.left[position] : known.right[position] { return number }
        guard let text = list.text(at: index) else { return nil }
        let number = number(of: text)
        if isLeft { known.left[position] = number } else { known.right[position] = number }
        return number
    }

    mutating func number(of text: Text) -> Int {
        if let number = numbers[text] { return number }
        numbers[text] = numbers.count
        return numbers.count - 1
    }
}
