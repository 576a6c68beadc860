internal import KeyedArchive
internal import PropertyList

/// Numbers for scalars and class records of a draft.
///
/// Equal ones have equal numbers.
///
/// Each node is read once, even if many slots or nodes refer to it.
struct ContentNumbering {
    /// The content of a class record, without the order of its entries.
    typealias RecordKey = [Int]

    /// The most entries of a class record.
    ///
    /// The archive was validated with this limit.
    private static let classRecordLimit = 16

    /// The writer of property lists writes each scalar once, so it knows which ones are equal.
    private var scalars = PropertyListWriter()
    private var lists: [[Int]: Int] = [:]
    // The numbers of nodes; nil for a node that is known to have no number.
    private var known: [Draft.Node: Int?] = [:]
    private var knownLists: [Draft.Node: Int?] = [:]
    private var knownRecords: [Draft.Node: RecordKey?] = [:]

    /// The number of a scalar.
    mutating func number(of node: Draft.Node, in draft: Draft) -> Int? {
        if let number = known[node] { return number }
        let number =
            switch draft.content(of: node) {
            case .scalar(let index, let list): scalars.add(copyOf: index, in: list).position
            case .text(let text): number(of: text)
            case .reference, .list, .dictionary: Int?.none
            }
        known.updateValue(number, forKey: node)
        return number
    }

    private mutating func number(of text: Text) -> Int {
        scalars.add(string: text).position
    }

    /// The key of a class record whose entries are strings and lists of strings, as in all known
    /// archives.
    mutating func recordKey(of node: Draft.Node, in draft: Draft) -> RecordKey? {
        if let key = knownRecords[node] { return key }
        let key = readRecordKey(of: node, in: draft)
        knownRecords.updateValue(key, forKey: node)
        return key
    }

    private mutating func readRecordKey(of node: Draft.Node, in draft: Draft) -> RecordKey? {
        guard case .dictionary(let keys, let values) = draft.content(of: node),
            keys.count <= Self.classRecordLimit
        else { return nil }
        var entries: [(key: Int, isList: Bool, value: Int)] = []
        for (key, value) in zip(keys, values) {
            if draft.isString(key, "$class") { return nil }
            guard let name = number(of: key, in: draft) else { return nil }
            if let scalar = number(of: value, in: draft) {
                entries.append((name, false, scalar))
            } else if let list = listNumber(of: value, in: draft) {
                entries.append((name, true, list))
            } else {
                return nil
            }
        }
        entries.sort { $0.key < $1.key }
        return entries.flatMap { [$0.key, $0.isList ? 1 : 0, $0.value] }
    }

    private mutating func listNumber(of node: Draft.Node, in draft: Draft) -> Int? {
        if let number = knownLists[node] { return number }
        let number = readListNumber(of: node, in: draft)
        knownLists.updateValue(number, forKey: node)
        return number
    }

    private mutating func readListNumber(of node: Draft.Node, in draft: Draft) -> Int? {
        guard case .list(.array, let elements) = draft.content(of: node) else { return nil }
        let numbers = elements.compactMap { number(of: $0, in: draft) }
        guard numbers.count == elements.count else { return nil }
        let listNumber = lists[numbers] ?? lists.count
        lists[numbers] = listNumber
        return listNumber
    }
}
