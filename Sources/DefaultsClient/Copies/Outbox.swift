import DefaultsTerms
import Synchronization

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

/// Changes of one layer of a domain that are sent as one, all or nothing.
///
/// Used under the lock of the service (`@unchecked Sendable`).
final class Batch: @unchecked Sendable {
    /// What a batch is to become at the end.
    typealias Outcome = Result<UInt64, any Error>

    let layer: LayerName
    /// The keys that get a value, and those that are removed.
    private(set) var changes: [KeyName: Entry?]
    /// The generation that a key must still have; 0 where it must be absent.
    let expected: [KeyName: UInt64]
    /// Whether its changes belong together.
    ///
    /// Others are sent together, and refused one by one.
    let isTransaction: Bool
    /// Whether the one who made it waits for its outcome, and is told of it in this way only.
    var isAwaited = false
    /// The name by which the service knows the batch again when it is sent a second time.
    let token: String
    /// The bytes that it keeps in memory.
    private(set) var size = 0
    /// Whether it has been sent, and was not answered yet.
    var isOnItsWay = false
    /// Whether it was ever sent: then its token stands for what it has, and it takes nothing more.
    private(set) var isSent = false
    private var waiting: [(Outcome) -> Void] = []

    /// More changes than these are sent as another batch: what is merged is to be answered soon.
    private static let largestMerge = (size: 1 << 20, changes: 4096)

    init(
        _ layer: LayerName, _ changes: [KeyName: Entry?], expected: [KeyName: UInt64] = [:],
        isTransaction: Bool
    ) {
        self.layer = layer
        self.changes = changes
        self.expected = expected
        self.isTransaction = isTransaction
        token = Token.next()
        size = changes.reduce(0) { $0 + Self.size(of: $1.value, $1.key) }
    }

    /// Whether a change can be sent along with those that are here.
    func takes(changeOf layer: LayerName) -> Bool {
        !isSent && !isTransaction && self.layer == layer && size < Self.largestMerge.size
            && changes.count < Self.largestMerge.changes
    }

    /// Notes that it is sent.
    func send() {
        isSent = true
        isOnItsWay = true
    }

    /// Takes one more change, which replaces an earlier one of its key.
    func add(_ entry: Entry?, forKey name: KeyName) {
        if let old = changes.updateValue(entry, forKey: name) { size -= Self.size(of: old, name) }
        size += Self.size(of: entry, name)
    }

    /// Whether a refusal may be that of one of several changes that have nothing to do with each other.
    var isMerged: Bool { !isTransaction && changes.count > 1 }

    /// The same changes in two parts, for one of them was refused, and others perhaps were not.
    ///
    /// Those who wait for the whole wait for the last part.
    func split() -> [Batch] {
        let names = changes.keys.sorted()
        let parts = [names.prefix(names.count / 2), names.dropFirst(names.count / 2)].map { names in
            Batch(layer, changes.filter { names.contains($0.key) }, isTransaction: false)
        }
        parts[1].waiting = takeWaiting()
        return parts
    }

    /// Has a closure called with what becomes of the batch.
    func whenDone(_ body: @escaping (Outcome) -> Void) {
        waiting.append(body)
    }

    /// Those who wait for what becomes of it, once.
    func takeWaiting() -> [(Outcome) -> Void] {
        defer { waiting = [] }
        return waiting
    }

    static func size(of entry: Entry?, _ name: KeyName) -> Int {
        name.utf8.count + (entry?.size ?? 0) + 64
    }
}

/// Names that no other batch has, of this process or another.
enum Token {
    private static let process: String = {
        var generator = SystemRandomNumberGenerator()
        return String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }()
    private static let counter = Atomic<UInt64>(0)

    static func next() -> String {
        "\(process).\(counter.add(1, ordering: .relaxed).newValue)"
    }
}
