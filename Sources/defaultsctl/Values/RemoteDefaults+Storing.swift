import DefaultsClient
import DefaultsProtocol
import KeyedArchive

/// How the tool stores many keys.
extension RemoteDefaults {
    /// The most bytes of archives and names in one call; the bus carries twice as much.
    private static var mostBytes: Int { 32 << 20 }

    /// Sets keys of a domain: in one change where they are no more than 262 144 and 32 MiB, else in as
    /// few as that allows.
    ///
    /// - Parameter removingOthers: Whether the other keys of the domain are removed; in the last
    ///   change, so that no value is lost before its replacement is there.
    func store(
        _ entries: [DefaultsEntry], in domain: String, removingOthers: Bool
    ) async throws {
        var batches = Batches(mostKeys: Limits.maximumTransactionKeys, mostBytes: Self.mostBytes)
        for entry in entries { batches.set(entry) }
        if removingOthers {
            let kept = Set(entries.map(\.key))
            for key in try await keys(in: domain) where !kept.contains(key) { batches.remove(key) }
        }
        if batches.transactions.count > 1 {
            try await checkLocks(of: batches.keys, in: domain)
        }
        for transaction in batches.transactions { try await apply(transaction, in: domain) }
    }
}

/// Changes of one domain, parted into transactions that a call can carry.
private struct Batches {
    let mostKeys: Int
    let mostBytes: Int
    private(set) var transactions: [DefaultsTransaction] = []
    private var count = 0
    private var bytes = 0

    /// Those that are set or removed.
    var keys: [String] { transactions.flatMap { $0.values.map(\.key) + $0.removals } }

    init(mostKeys: Int, mostBytes: Int) {
        self.mostKeys = mostKeys
        self.mostBytes = mostBytes
    }

    mutating func set(_ entry: DefaultsEntry) {
        makeRoom(for: entry.archive.bytes.count + entry.key.utf8.count)
        transactions[transactions.count - 1].set(entry.key, to: entry.archive)
    }

    mutating func remove(_ key: String) {
        makeRoom(for: key.utf8.count)
        transactions[transactions.count - 1].remove(key)
    }

    private mutating func makeRoom(for size: Int) {
        if transactions.isEmpty || count == mostKeys || bytes + size > mostBytes {
            transactions.append(DefaultsTransaction())
            (count, bytes) = (0, 0)
        }
        count += 1
        bytes += size
    }
}
