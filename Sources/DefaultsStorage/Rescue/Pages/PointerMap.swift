/// The pages in which SQLite keeps, for each page, which other page leads to it.
///
/// They hold no rows. A store of an earlier version has none of them.
///
/// See [Pointer map pages](https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages).
enum PointerMap {
    /// What an entry has: a byte that tells the kind of a page, and the number of the one before it.
    private static let entryLength = 5
    private static let kinds: ClosedRange<UInt8> = 0...5

    /// Whether a page stands at the place of a map, and looks like one in every entry.
    ///
    /// A page of rows does not: its kind, or the first of its numbers, is above those of a map.
    static func isPage(_ bytes: [UInt8], number: Int, size: PageSize) -> Bool {
        let entries = size.whole / entryLength
        guard number >= 2, (number - 2) % (entries + 1) == 0, bytes.count == size.whole else {
            return false
        }
        return (0..<entries).allSatisfy { kinds.contains(bytes[$0 * entryLength]) }
    }
}
