internal import PropertyList

/// The names of fields, each of them once.
struct NameTable {
    /// Up to how many names are searched one by one.
    private static let searchLimit = 8

    private(set) var names: [FieldName] = []
    private var numbers: [Text: UInt32] = [:]

    subscript(number: UInt32) -> String { names[Int(number)].string }

    func isName(_ number: UInt32, _ string: String) -> Bool {
        names[Int(number)].isSame(as: string)
    }

    /// The number of a name, a new one where it is new.
    mutating func number(of string: String) -> UInt32 {
        if names.count <= Self.searchLimit {
            for (number, name) in names.enumerated() where name.isSame(as: string) {
                return UInt32(number)
            }
        } else {
            if numbers.isEmpty {
                for (number, name) in names.enumerated() {
                    numbers[Text(name.string)] = UInt32(number)
                }
            }
            if let number = numbers[Text(string)] { return number }
        }
        let number = UInt32(names.count)
        names.append(FieldName(string))
        if !numbers.isEmpty { numbers[Text(string)] = number }
        return number
    }

    /// For each name its place among all when they are sorted by code point.
    func ranks() -> [UInt32] {
        // The bytes of UTF-8 are ordered as its code points are.
        let order = names.indices.sorted {
            names[$0].string.utf8.lexicographicallyPrecedes(names[$1].string.utf8)
        }
        var ranks = [UInt32](repeating: 0, count: names.count)
        for (rank, number) in order.enumerated() { ranks[number] = UInt32(rank) }
        return ranks
    }
}
