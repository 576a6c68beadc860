/// The pages in which SQLite records, for each page, which other page refers to it.
///
/// They hold no rows. A store of an earlier version does not have such pages.
///
/// See [Pointer map pages](https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages).
enum PointerMap {
    /// The length of an entry: a byte for the kind of a page, and the number of the page that refers to it.
    private static let entryLength = 5
    private static let kinds: ClosedRange<UInt8> = 0...5

    /// Whether a page is where a map must be, and looks like a map in every entry.
    ///
    /// A page of rows does not look like that: its kind, or the first of its numbers, is above the kinds
    /// that a map has.
    static func isPage(_ bytes: [UInt8], number: Int, size: PageSize) -> Bool {
        let entries = size.whole / entryLength
        guard number >= 2, (number - 2) % (entries + 1) == 0, bytes.count == size.whole else {
            return false
        }
        return (0..<entries).allSatisfy { kinds.contains(bytes[$0 * entryLength]) }
    }
}
