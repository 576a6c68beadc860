/// How a database file is divided.
///
/// See [the database header](https://www.sqlite.org/fileformat2.html#the_database_header).
struct PageSize: Equatable {
    /// The bytes of a page.
    let whole: Int

    /// The size that the store is made with.
    static let ours = PageSize(whole: 4096)

    /// Takes a size that a file claims, 1 for 65 536; nil where it can be none.
    init?(claimed size: Int) {
        let size = size == 1 ? 65536 : size
        guard (512...65536).contains(size), size & (size - 1) == 0 else { return nil }
        whole = size
    }

    private init(whole: Int) {
        self.whole = whole
    }

    /// The most of a record that stands in a leaf of a table itself.
    var largestInTable: Int { whole - 35 }

    /// The most of a record that stands in a page of an index itself.
    var largestInIndex: Int { (whole - 12) * 64 / 255 - 23 }

    /// How much of a record stands in its cell; the rest is on overflow pages.
    ///
    /// - Parameter largest: The most that may.
    func local(of length: Int, largest: Int) -> Int {
        guard length > largest else { return length }
        let smallest = (whole - 12) * 32 / 255 - 23
        let local = smallest + (length - smallest) % (whole - 4)
        return local <= largest ? local : smallest
    }
}
