import DefaultsTerms
import Synchronization

/// What one process has changed in a domain and the service has not accepted yet, in the order of
/// sending.
struct Outbox: Sendable {
    /// The change of a key in the newest batch that names it.
    private struct Newest {
        var entry: Entry?
        /// How many batches name the key.
        var batches = 0
    }

    /// What is to be sent, the oldest first.
    ///
    /// The first may have been sent.
    private var batches: [Batch] = []
    /// The bytes that the batches keep in memory.
    private(set) var size = 0
    /// The newest change of each key, by layer: a key is found at once, however many batches wait.
    private var newest = [[KeyName: Newest]](repeating: [:], count: LayerName.allCases.count)

    /// Whether the service was called to send, and has not begun.
    private var isSendingRequested = false

    var isEmpty: Bool { batches.isEmpty }
    var first: Batch? { batches.first }
    /// Whether there is a batch to be sent, and none in flight.
    var hasNextToSend: Bool { batches.first?.isInFlight == false }
    /// All keys that are changed.
    var keys: Set<KeyName> { Set(batches.flatMap(\.changes.keys)) }

    /// The change of a key; nil if none waits.
    func change(of name: KeyName, in layer: LayerName) -> Entry?? {
        newest[layer.index][name].map(\.entry)
    }

    /// The keys of a layer that are changed, with their new values.
    func changes(in layer: LayerName) -> some Sequence<(name: KeyName, entry: Entry?)> {
        newest[layer.index].lazy.map { ($0.key, $0.value.entry) }
    }

    // MARK: Adding

    /// Takes a change of one key, to be sent with others that wait.
    mutating func add(_ entry: Entry?, forKey name: KeyName, in layer: LayerName) {
        guard let last = batches.indices.last, batches[last].takes(changeOf: layer) else {
            return append(Batch(layer, [name: entry], isTransaction: false))
        }
        size -= batches[last].size
        let isNew = batches[last].changes[name] == nil
        batches[last].add(entry, forKey: name)
        size += batches[last].size
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

    /// Has a closure called with the outcome of the last batch.
    ///
    /// - Returns: False if there is no batch.
    mutating func whenLastIsDone(_ body: @escaping @Sendable (Batch.Outcome) -> Void) -> Bool {
        guard let last = batches.indices.last else { return false }
        batches[last].whenDone(body)
        return true
    }

    /// Takes what was to be called with the outcomes of the batches.
    mutating func takeWaiters() -> [@Sendable (Batch.Outcome) -> Void] {
        batches.indices.flatMap { batches[$0].takeWaiters() }
    }

    // MARK: Sending

    /// Requests that the first batch be sent, so that a service is woken once for many changes.
    ///
    /// - Returns: Whether to call the service: there is a batch to send, and no earlier request waits.
    mutating func requestSending() -> Bool {
        guard hasNextToSend, !isSendingRequested else { return false }
        isSendingRequested = true
        return true
    }

    /// Notes that the service has seen the request.
    mutating func endRequest() {
        isSendingRequested = false
    }

    /// Marks the first batch as sent and gives it; nil if there is none, or if one is in flight.
    mutating func takeNextToSend() -> Batch? {
        guard hasNextToSend else { return nil }
        batches[0].send()
        return batches[0]
    }

    /// Whether a batch that was sent still waits for its answer.
    func awaitsAnswer(to batch: Batch) -> Bool {
        batches.first.map { $0.isInFlight && $0.token == batch.token } ?? false
    }

    /// Has the first batch sent once more: its answer was lost, or it did not arrive.
    mutating func sendFirstAgain() {
        if !batches.isEmpty { batches[0].isInFlight = false }
    }

    mutating func removeFirst() {
        let batch = batches.removeFirst()
        size -= batch.size
        for name in batch.changes.keys {
            guard var change = newest[batch.layer.index][name] else { continue }
            change.batches -= 1
            newest[batch.layer.index][name] = change.batches > 0 ? change : nil
        }
    }

    /// Replaces the first batch by two halves.
    mutating func splitFirst() {
        guard let parts = batches.first?.split() else { return }
        removeFirst()
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
struct Batch: Sendable {
    /// What came of a batch: the generation of the change, or why it was refused.
    typealias Outcome = Result<UInt64, any Error>

    let layer: LayerName
    /// The keys with their new values; nil for a key that is removed.
    private(set) var changes: [KeyName: Entry?]
    /// The generation that a key must still have; 0 if it must be absent.
    let expected: [KeyName: UInt64]
    /// Whether its changes belong together.
    ///
    /// Others are sent together, and refused one by one.
    let isTransaction: Bool
    /// Whether the caller waits for the outcome.
    ///
    /// Then its failure is reported to the caller alone.
    var isAwaited = false
    /// The name by which the service recognises the batch when it is sent a second time.
    let token = Token.next()
    /// The bytes that it keeps in memory.
    private(set) var size: Int
    /// Whether it has been sent, and was not answered yet.
    fileprivate(set) var isInFlight = false
    /// Whether it was ever sent.
    ///
    /// Then its token identifies its changes, and it takes no more.
    private var isSent = false
    /// What to call with the outcome.
    private(set) var waiters: [@Sendable (Outcome) -> Void] = []

    /// A batch that has more than this takes no more changes, so that its answer comes soon.
    private static let largestMerge = (size: 1 << 20, changes: 4096)

    init(
        _ layer: LayerName, _ changes: [KeyName: Entry?], expected: [KeyName: UInt64] = [:],
        isTransaction: Bool
    ) {
        self.layer = layer
        self.changes = changes
        self.expected = expected
        self.isTransaction = isTransaction
        size =
            changes.reduce(0) { $0 + Self.size(of: $1.value, $1.key) }
            + expected.keys.reduce(0) { $0 + Self.size(of: nil, $1) }
    }

    /// Whether a change can be sent along with those that are here.
    fileprivate func takes(changeOf layer: LayerName) -> Bool {
        !isSent && !isTransaction && self.layer == layer && size < Self.largestMerge.size
            && changes.count < Self.largestMerge.changes
    }

    /// Marks it as sent.
    fileprivate mutating func send() {
        isSent = true
        isInFlight = true
    }

    /// Takes one more change, which replaces an earlier one of its key.
    fileprivate mutating func add(_ entry: Entry?, forKey name: KeyName) {
        if let old = changes.updateValue(entry, forKey: name) { size -= Self.size(of: old, name) }
        size += Self.size(of: entry, name)
    }

    /// The keys that a refusal is about.
    var names: [KeyName] { changes.isEmpty ? Array(expected.keys) : Array(changes.keys) }

    /// Whether a refusal may be that of one of several changes that are independent of each other.
    var isMerged: Bool { !isTransaction && changes.count > 1 }

    /// The same changes in two parts: one of them was refused, and others perhaps were not.
    ///
    /// Waiters for the whole wait for the last part.
    fileprivate func split() -> [Batch] {
        let names = changes.keys.sorted()
        var parts = [names.prefix(names.count / 2), names.dropFirst(names.count / 2)].map { names in
            Batch(layer, changes.filter { names.contains($0.key) }, isTransaction: false)
        }
        parts[1].waiters = waiters
        return parts
    }

    /// Has a closure called with the outcome.
    mutating func whenDone(_ body: @escaping @Sendable (Outcome) -> Void) {
        waiters.append(body)
    }

    fileprivate mutating func takeWaiters() -> [@Sendable (Outcome) -> Void] {
        defer { waiters = [] }
        return waiters
    }

    static func size(of entry: Entry?, _ name: KeyName) -> Int {
        name.utf8.count + (entry?.size ?? 0) + 64
    }
}

/// Names that no other batch has, of this process or another.
private enum Token {
    private static let process: String = {
        var generator = SystemRandomNumberGenerator()
        return String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }()
    private static let counter = Atomic<UInt64>(0)

    static func next() -> String {
        "\(process).\(counter.add(1, ordering: .relaxed).newValue)"
    }
}
