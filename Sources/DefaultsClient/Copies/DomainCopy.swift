// Invariants, which hold whenever the lock is free
//
// 1. While `isCurrent`, the layers are what the service has, and `batches` what this process adds to
//    them: no read is older than a change that was acknowledged before it.
// 2. A change of this process is in exactly one place: in `batches` from the moment when it is made
//    until its answer, in the layers from then on, if the service took it.
// 3. Batches are sent in their order, one at a time.
// 4. Whatever a store has found is found again after a change of its key, and its observers are told
//    of each key whose value is another than before.

/// What a process knows of one domain: its four layers, and what it has changed in them.
///
/// Everything is used under the lock of the service (`@unchecked Sendable`).
final class DomainCopy: @unchecked Sendable {
    /// The name of the domain, without a suffix.
    let name: String
    /// What the application has registered for the case that no layer has a key.
    var registered: [String: Entry] = [:]
    /// What the service has, by layer and key.
    private(set) var layers = [[String: Entry]](repeating: [:], count: CopyLayer.allCases.count)
    /// What the administrator has locked; nil where it is not known.
    private(set) var locks: LockedNames?
    /// What is to be sent, the oldest first, of which the first may have been sent.
    private(set) var batches: [Batch] = []
    /// The bytes that the batches keep in memory.
    private(set) var backlog = 0
    /// The stores that look into this copy.
    private var stores: [WeakStore] = []
    private var tidyCount = 8

    /// The generation of the database at which the layers were read, or that of a later change of
    /// ours that nobody else's came before; 0 before the first time.
    private(set) var generation: UInt64 = 0
    /// The generation of the database at which the layers were read.
    private var readGeneration: UInt64 = 0
    /// The generation of the newest change by others that a signal has told of.
    private(set) var foreignGeneration: UInt64 = 0
    /// The word of the page that tells of this domain; nil where there is no page.
    private(set) var counter: Counter?
    /// The keys that signals have told of since the layers were read; nil where it may be any.
    private var foreignNames: Set<String>?
    /// Whether the service has been asked for the layers, and has not answered.
    var isRefreshing = false
    /// Those who wait for the layers to be asked for, and for the answer to that.
    var waiting: [() -> Void] = []
    /// Those who wait for the answer that is on its way.
    private var waitingForAnswer: [() -> Void] = []

    init(name: String) {
        self.name = name
    }

    /// Why the service does not let it be read: it is no name of a domain, for one.
    private(set) var refusal: (any Error)?

    /// Whether it has been read at all.
    var isLoaded: Bool { generation > 0 }

    /// Whether a read may rely on the layers (1).
    var isCurrent: Bool {
        if refusal != nil { return true }
        guard let counter else { return isLoaded && foreignGeneration <= generation }
        return counter.value <= generation
    }

    /// Whether the page tells of a change that is not here: there is a service that others reach.
    var isOutdated: Bool { counter.map { $0.value > generation } ?? false }

    /// What a layer has for a key, as this process has left it.
    func entry(_ name: String, in layer: CopyLayer) -> Entry? {
        for batch in batches.reversed() where batch.layer == layer {
            if let change = batch.changes[name] { return change }
        }
        return layers[layer.rawValue][name]
    }

    /// Whether the administrator has locked a key here; nil where it is not known.
    func isLocked(_ name: String) -> Bool? {
        locks?.contains(name)
    }

    /// The keys that a layer has, as this process has left them.
    func names(in layer: CopyLayer) -> Set<String> {
        var names = Set(layers[layer.rawValue].keys)
        for batch in batches where batch.layer == layer {
            for (name, entry) in batch.changes {
                if entry == nil { names.remove(name) } else { names.insert(name) }
            }
        }
        return names
    }

    // MARK: Who looks into it

    /// Notes a store, and forgets those that have gone.
    func add(_ store: Store) {
        if stores.count >= tidyCount {
            stores.removeAll { $0.store == nil }
            // Not each time, as very many may look into the domain of all applications.
            tidyCount = 2 * stores.count + 8
        }
        stores.append(WeakStore(store: store))
    }

    var isObserved: Bool { stores.contains { $0.store?.isObserved == true } }

    /// The stores that are there still.
    var liveStores: [Store] { stores.compactMap(\.store) }

    private struct WeakStore {
        weak var store: Store?
    }

    /// Makes a change of what stores find for some keys, and tells them (4).
    func change(_ names: some Collection<String>, isOwn: Bool, _ body: () -> Void) {
        let stores = liveStores
        let before = stores.map { $0.held(names) }
        body()
        for (store, before) in zip(stores, before) { store.note(names, before, isOwn: isOwn) }
    }
}

// MARK: Being asked for

extension DomainCopy {
    /// Notes that the service is asked for the layers now.
    func beginRefresh() {
        isRefreshing = true
        waitingForAnswer += waiting
        waiting = []
    }

    /// Those whose wait ends with the answer that came: it was asked for after they began. That holds
    /// for all where nothing has changed since.
    func takeAnswered() -> [() -> Void] {
        isCurrent ? takeWaiting() : take(&waitingForAnswer)
    }

    /// All who wait.
    func takeWaiting() -> [() -> Void] {
        take(&waitingForAnswer) + take(&waiting)
    }

    private func take(_ waiters: inout [() -> Void]) -> [() -> Void] {
        defer { waiters = [] }
        return waiters
    }
}

// MARK: What the service has

extension DomainCopy {
    /// Layers as they were read.
    struct Reading {
        /// The entries of each layer that was read.
        var layers: [CopyLayer: [String: Entry]]
        /// The locks; nil where they are not told.
        var locks: LockedNames?
        /// The generation of the database when they were read.
        var generation: UInt64
    }

    /// Takes what the service has.
    ///
    /// - Returns: False where it is older than what is here, and has to be read once more.
    func take(_ reading: Reading, counter: Counter?) -> Bool {
        guard reading.generation >= generation else { return false }
        var names: Set<String> = []
        var layers = layers
        for (layer, entries) in reading.layers {
            let old = layers[layer.rawValue]
            names.formUnion(old.keys.filter { entries[$0] == nil })
            layers[layer.rawValue] = entries
            for (name, entry) in entries {
                if let held = old[name], isUnchanged(held, entry, name) {
                    // It stays, with what was decoded of it.
                    layers[layer.rawValue][name] = held
                } else {
                    names.insert(name)
                }
            }
        }
        change(names, isOwn: false) { self.layers = layers }
        locks = reading.locks ?? locks
        generation = reading.generation
        readGeneration = reading.generation
        if foreignGeneration <= generation { foreignNames = [] }
        self.counter = counter
        return true
    }

    /// Whether a value is the one that is held. Of a large one the signals tell.
    private func isUnchanged(_ held: Entry, _ entry: Entry, _ name: String) -> Bool {
        if case (.large, .large) = (held.content, entry.content), let foreignNames {
            return !foreignNames.contains(name)
        }
        return held.isSame(as: entry)
    }

    /// Notes a change by others.
    ///
    /// - Parameter names: The keys; none where they are too many to name.
    func noteForeignChange(_ generation: UInt64, of names: [String]) {
        foreignGeneration = max(foreignGeneration, generation)
        // The signal of a change that waited for the disk comes after later ones of ours.
        if generation > readGeneration && generation <= self.generation {
            self.generation = readGeneration
        }
        if names.isEmpty || (foreignNames?.count ?? 0) + names.count > Self.mostForeignNames {
            foreignNames = nil
        } else {
            foreignNames?.formUnion(names)
        }
    }

    private static let mostForeignNames = 1024

    /// Notes that it cannot be read from this service.
    func refuse(reading error: any Error) {
        refusal = error
    }

    /// Forgets how current it is: the service has gone, or another one has come.
    func detach() {
        counter = nil
        refusal = nil
        generation = 0
        readGeneration = 0
        foreignGeneration = 0
        foreignNames = nil
    }
}

// MARK: What this process changes

extension DomainCopy {
    /// Takes a change of one key, to be sent with others that wait.
    func enqueue(_ entry: Entry?, forKey name: String, in layer: CopyLayer) {
        change(CollectionOfOne(name), isOwn: true) {
            if let last = batches.last, last.takes(changeOf: layer) {
                backlog -= last.size
                last.add(entry, forKey: name)
                backlog += last.size
            } else {
                append(Batch(layer, [name: entry], isTransaction: false))
            }
        }
    }

    /// Takes changes that are to be sent as they are.
    func enqueue(_ batch: Batch) {
        change(batch.changes.keys, isOwn: true) { append(batch) }
    }

    private func append(_ batch: Batch) {
        batches.append(batch)
        backlog += batch.size
    }

    private func removeFirst() -> Batch {
        backlog -= batches[0].size
        return batches.removeFirst()
    }

    /// Whether a change would leave everything as it is.
    func isNoChange(_ entry: Entry?, forKey name: String, in layer: CopyLayer) -> Bool {
        isCurrent && self.entry(name, in: layer).isSame(as: entry)
    }

    /// The batch that is to be sent, now sent; nil where there is none, or one is on its way.
    func takeNextToSend() -> Batch? {
        guard let first = batches.first, !first.isOnItsWay else { return nil }
        first.send()
        return first
    }

    /// The first batch is the service's.
    func acknowledge(_ generation: UInt64) {
        if isLoaded && generation <= readGeneration {
            // An earlier reply was lost: what was read since has the changes, or what others have
            // made of them.
            return change(batches[0].changes.keys, isOwn: false) { _ = removeFirst() }
        }
        let batch = removeFirst()
        // The value stays the same for all who look, so nobody is told.
        for (name, entry) in batch.changes { layers[batch.layer.rawValue][name] = entry }
        // Whoever else changed the domain before this has been told of by now, as signals and replies
        // come in the order in which the service sent them.
        if isLoaded && foreignGeneration <= self.generation {
            self.generation = max(self.generation, generation)
        }
    }

    /// The service has refused the first batch: what it changed is as before.
    func refuse() {
        guard let batch = batches.first else { return }
        change(batch.changes.keys, isOwn: false) { _ = removeFirst() }
    }

    /// The service has refused the first batch, and is to be asked for its parts.
    func splitFirst() {
        let parts = removeFirst().split()
        batches.insert(contentsOf: parts, at: 0)
        for part in parts { backlog += part.size }
    }

    /// What became of the first batch is not known, or it did not get there: it is sent once more.
    func sendAgain() {
        batches.first?.isOnItsWay = false
    }
}
