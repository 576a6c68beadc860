import DefaultsClient
import DefaultsTerms
import KeyedArchive

/// How the tool stores many keys.
extension RemoteDefaults {
    /// The most bytes of archives and names in one call; the bus carries twice as much.
    private static var mostBytes: Int { 32 << 20 }

    /// Sets keys of a domain: in one change where they are no more than 262 144 and 32 MiB, else in as
    /// few as that allows.
    ///
    /// - Parameters:
    ///   - removingOthers: Whether the other keys of the domain are removed; in the last change, so
    ///     that no value is lost before its replacement is there.
    ///   - kept: Keys that are neither set nor removed.
    ///   - isCompared: Whether it is to be known if this changes anything; what is there is read first
    ///     then, and a change that fits one call depends on it.
    /// - Returns: Whether anything is another than before; true if that was not compared.
    @discardableResult
    func store(
        _ entries: [DefaultsEntry], in domain: String, removingOthers: Bool,
        keeping kept: Set<String> = [], comparing isCompared: Bool = false
    ) async throws -> Bool {
        try await retrying {
            let before = isCompared ? try await self.entries(in: domain) : nil
            var batches = Batches(
                mostKeys: ContractLimits.maximumTransactionKeys, mostBytes: Self.mostBytes)
            for entry in entries where !kept.contains(entry.key) { batches.set(entry) }
            if removingOthers {
                let stay = kept.union(entries.map(\.key))
                for key in try await keys(in: domain) where !stay.contains(key) {
                    batches.remove(key)
                }
            }
            var transactions = batches.transactions
            if transactions.count > 1 { try await checkLocks(of: batches.keys, in: domain) }
            if let before, transactions.count == 1 {
                transactions[0].expected[""] = before.entries.isEmpty ? 0 : before.generation
            }
            for transaction in transactions { try await apply(transaction, in: domain) }
            return before.map { batches.changeAnything(in: $0.entries) } ?? true
        }
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

    /// Whether a domain with these entries is another one after the changes.
    func changeAnything(in entries: [DefaultsEntry]) -> Bool {
        let values = Dictionary(entries.map { ($0.key, $0.archive) }) { first, _ in first }
        return transactions.contains { transaction in
            transaction.removals.contains { values[$0] != nil }
                || transaction.values.contains { key, archive in
                    !(values[key]?.isSame(as: archive) ?? false)
                }
        }
    }

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
