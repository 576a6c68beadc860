import DefaultsClient
import DefaultsTerms
import KeyedArchive

/// Stores many keys.
extension RemoteDefaults {
    /// The most bytes of archives and names in one call.
    ///
    /// The bus can carry twice as much.
    private static var mostBytes: Int { 32 << 20 }

    /// Sets keys of a domain: with one change for up to 262 144 keys and 32 MiB, otherwise with as
    /// few changes as possible.
    ///
    /// - Parameters:
    ///   - removingOthers: Whether to remove the other keys of the domain. The last change does
    ///     this, so that no value is lost before its replacement exists.
    ///   - kept: Keys that are neither set nor removed.
    ///   - isCompared: Whether to find out if this changes anything. If so, the current values are
    ///     read first, and a change that fits into one call depends on them.
    /// - Returns: Whether anything has changed; true if this was not compared.
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

/// Changes of one domain, split into transactions that fit into a call.
private struct Batches {
    let mostKeys: Int
    let mostBytes: Int
    private(set) var transactions: [DefaultsTransaction] = []
    private var count = 0
    private var bytes = 0

    /// The keys that are set or removed.
    var keys: [String] { transactions.flatMap { $0.values.map(\.key) + $0.removals } }

    /// Whether the changes would alter a domain with these entries.
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
