/// An old and a new value on one line, cut so that what differs is seen.
enum ValuePair {
    /// How many characters that both have are shown before the first that differs.
    private static let mostCommon = 8

    /// The two values as they fit into some columns.
    ///
    /// Each is cut at its end. If both would then look the same, what both begin with is cut, too.
    static func cut(_ one: String, _ other: String, in room: Int) -> (String, String) {
        let common = zip(one, other).prefix { $0 == $1 }.count
        let (first, second) = rooms(one.terminalWidth, other.terminalWidth, in: room)
        let isWhole = one.terminalWidth <= first && other.terminalWidth <= second
        let shared = one.prefix(common).terminalWidth
        let start = common - min(mostCommon, room / 8)
        guard !isWhole, one != other, shared >= min(first, second) - 1, start > 0 else {
            return (one.cut(toColumns: first), other.cut(toColumns: second))
        }
        let (oneEnd, otherEnd) = ("…\(one.dropFirst(start))", "…\(other.dropFirst(start))")
        let (endRoom, otherEndRoom) = rooms(
            oneEnd.terminalWidth, otherEnd.terminalWidth, in: room)
        return (oneEnd.cut(toColumns: endRoom), otherEnd.cut(toColumns: otherEndRoom))
    }

    /// The columns for two values: a short one keeps what it needs, and the other gets the rest.
    private static func rooms(_ one: Int, _ other: Int, in room: Int) -> (Int, Int) {
        let half = room / 2
        if one <= half { return (one, room - one) }
        if other <= room - half { return (room - other, other) }
        return (half, room - half)
    }
}
