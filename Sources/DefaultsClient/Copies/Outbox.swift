import DefaultsTerms

/// What one process has changed in a domain and the service has not taken, in the order of sending.
///
/// Used under the lock of the service.
struct Outbox {
    /// What the newest batch that names a key makes of it.
    private struct Newest {
        var entry: Entry?
        /// How many batches name the key.
        var batches = 0
    }

    /// What is to be sent, the oldest first, of which the first may have been sent.
    private(set) var batches: [Batch] = []
    /// The bytes that the batches keep in memory.
    private(set) var size = 0
    /// What becomes of each key, by layer: however many batches wait, a key is found at once.
    private var newest = [[KeyName: Newest]](repeating: [:], count: LayerName.allCases.count)

    /// The change of a key; nil where none waits.
    func change(of name: KeyName, in layer: LayerName) -> Entry?? {
        newest[layer.index][name].map(\.entry)
    }

    /// The keys of a layer that are changed, with what becomes of them.
    func changes(in layer: LayerName) -> some Sequence<(name: KeyName, entry: Entry?)> {
        newest[layer.index].lazy.map { ($0.key, $0.value.entry) }
    }

    /// Takes a change of one key, to be sent with others that wait.
    mutating func add(_ entry: Entry?, forKey name: KeyName, in layer: LayerName) {
        guard let last = batches.last, last.takes(changeOf: layer) else {
            return append(Batch(layer, [name: entry], isTransaction: false))
        }
        size -= last.size
        let isNew = last.changes[name] == nil
        last.add(entry, forKey: name)
        size += last.size
        newest[layer.index][name, default: Newest()].entry = entry
        if isNew { newest[layer.index][name]?.batches += 1 }
    }

    /// Takes changes that are to be sent as they are.
    mutating func append(_ batch: Batch) {
        batches.append(batch)
        size += batch.size
        for (name, entry) in batch.changes {
            newest[batch.layer.index][name, default: Newest()].entry = entry
            newest[batch.layer.index][name]?.batches += 1
        }
    }

    mutating func removeFirst() -> Batch {
        let batch = batches.removeFirst()
        size -= batch.size
        for name in batch.changes.keys {
            guard var change = newest[batch.layer.index][name] else { continue }
            change.batches -= 1
            newest[batch.layer.index][name] = change.batches > 0 ? change : nil
        }
        return batch
    }

    /// Puts two halves in the place of the first batch.
    mutating func splitFirst() {
        let parts = removeFirst().split()
        batches.insert(contentsOf: parts, at: 0)
        for part in parts {
            size += part.size
            for (name, entry) in part.changes {
                // Later batches may have a newer change of the key.
                newest[part.layer.index][name, default: Newest(entry: entry)].batches += 1
            }
        }
    }
}
