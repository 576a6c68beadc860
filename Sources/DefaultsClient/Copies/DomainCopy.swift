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
    private let holdsLarge: Bool
    /// What the application has registered for the case that no layer has a key.
    var registered: [KeyName: Entry] = [:]
    /// What the service has, by layer and key.
    private(set) var layers = [[KeyName: Entry]](repeating: [:], count: CopyLayer.allCases.count)
    /// What the administrator has locked; nil where it is not known.
    private(set) var locks: LockedNames?
    /// What is to be sent, the oldest first, of which the first may have been sent.
    private(set) var batches: [Batch] = []
    /// The bytes that the batches keep in memory.
    private(set) var backlog = 0
    /// The stores that look into this copy.
    private var stores: [WeakStore] = []
    /// How many they may be before those that have gone are looked for.
    private var mostStores = 8

    /// The generation of the database at which the layers were read, or that of a later change of
    /// ours that nobody else's came before; 0 before the first time.
    private(set) var generation: UInt64 = 0
    /// The generation of the database at which the layers were read.
    private var readGeneration: UInt64 = 0
    /// What signals have told of changes by others, by layer.
    private var foreign: [CopyLayer: ForeignChanges] = [:]
    /// The word of the page that tells of this domain; nil where there is no page.
    private(set) var counter: Counter?
    /// Why it is no domain of an application: calls would take its name for that of a layer.
    let fault: ClientError?
    /// Whether the service does not let it be read: it is no name of a domain, for one.
    private var isRefused = false

    /// Whether it waits for its turn to send; for the thread of the loop alone.
    var isQueued = false
    /// How often the service was asked.
    private var questions: UInt64 = 0
    /// Whether it has been asked, and has not answered.
    private var isAsked = false
    /// Those who wait for an answer, each to a question after the one that was the last when they came.
    private var waiting: [(question: UInt64, resume: () -> Void)] = []

    /// - Parameter holdsLarge: Whether it holds large values, too.
    init(name: String, holdsLarge: Bool) {
        self.name = name
        self.holdsLarge = holdsLarge
        fault = name.utf8.contains(UInt8(ascii: "@")) ? .layerAsDomain(name) : nil
    }

    /// Whether it has been read at all.
    var isLoaded: Bool { generation > 0 }

    /// Whether a read may rely on the layers (1).
    var isCurrent: Bool {
        if isRefused { return true }
        guard let counter else { return isLoaded && newestForeign <= generation }
        return counter.value <= generation
    }

    /// Whether the page tells of a change that is not here: somebody reaches the service.
    var isOutdated: Bool { counter.map { $0.value > generation } ?? false }

    private var newestForeign: UInt64 {
        foreign.values.reduce(0) { max($0, $1.generation) }
    }

    /// What a layer has for a key, as this process has left it.
    func entry(_ name: KeyName, in layer: CopyLayer) -> Entry? {
        for batch in batches.reversed() where batch.layer == layer {
            if let change = batch.changes[name] { return change }
        }
        return layers[layer.rawValue][name]
    }

    /// Whether the administrator has locked a key here; nil where it is not known.
    func isLocked(_ name: KeyName) -> Bool? {
        locks?.contains(name)
    }

    /// The keys that a layer has, as this process has left them.
    func names(in layer: CopyLayer) -> Set<KeyName> {
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
        // Not each time: very many look into the domain of all applications.
        if stores.count >= mostStores {
            stores.removeAll { $0.store == nil }
            mostStores = 2 * stores.count + 8
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
    func change(_ names: some Collection<KeyName>, isOwn: Bool, _ body: () -> Void) {
        let stores = liveStores
        let before = stores.map { $0.held(names) }
        body()
        for (store, before) in zip(stores, before) { store.note(names, before, isOwn: isOwn) }
    }
}

// MARK: What the service has

extension DomainCopy {
    /// Layers as they were read.
    struct Reading {
        /// The entries of each layer that was read.
        var layers: [CopyLayer: [KeyName: Entry]]
        /// The locks; nil where they are not told.
        var locks: LockedNames?
        /// The generation of the database when they were read.
        var generation: UInt64
    }

    /// Takes whole layers.
    ///
    /// - Returns: Whether they are as new as the question; not where a change of ours has overtaken the
    ///   answer.
    func take(_ reading: Reading, counter: Counter?) -> Bool {
        guard reading.generation >= generation else { return false }
        var names: Set<KeyName> = []
        var layers = layers
        for (layer, entries) in reading.layers {
            names.formUnion(replace(layer, with: entries, in: &layers))
        }
        change(names, isOwn: false) { self.layers = layers }
        locks = reading.locks ?? locks
        self.counter = counter
        isRead(at: reading.generation)
        return true
    }

    /// Takes what has changed in some layers after a generation.
    ///
    /// - Returns: Whether all layers are as new as the question now; not where a signal has told by now
    ///   that another layer has changed, or a change of ours has overtaken the answers.
    func take(_ changes: [LayerChanges], since: UInt64) -> Bool {
        guard let end = changes.map(\.generation).min(), end >= generation else { return false }
        var names: Set<KeyName> = []
        var layers = layers
        for changes in changes {
            guard changes.isPart else {
                names.formUnion(replace(changes.layer, with: changes.entries, in: &layers))
                continue
            }
            for (name, entry) in changes.entries {
                if let held = layers[changes.layer.rawValue][name],
                    isUnchanged(held, entry, name, changes.layer)
                {
                    continue
                }
                layers[changes.layer.rawValue][name] = entry
                names.insert(name)
            }
            for name in changes.removed where layers[changes.layer.rawValue][name] != nil {
                layers[changes.layer.rawValue][name] = nil
                names.insert(name)
            }
        }
        change(names, isOwn: false) { self.layers = layers }
        let asked = Set(changes.map(\.layer))
        let others = foreign.filter { !asked.contains($0.key) && $0.value.generation > since }
        guard others.isEmpty else { return false }
        isRead(at: end)
        return true
    }

    private func isRead(at generation: UInt64) {
        self.generation = max(self.generation, generation)
        readGeneration = max(readGeneration, generation)
        foreign = foreign.filter { $0.value.generation > generation }
    }

    /// Puts a whole layer in the place of the one that is held.
    ///
    /// - Returns: The keys whose values are others.
    private func replace(
        _ layer: CopyLayer, with entries: [KeyName: Entry], in layers: inout [[KeyName: Entry]]
    ) -> Set<KeyName> {
        let old = layers[layer.rawValue]
        var names = Set(old.keys.filter { entries[$0] == nil })
        layers[layer.rawValue] = entries
        for (name, entry) in entries {
            if let held = old[name], isUnchanged(held, entry, name, layer) {
                // It stays, with what was decoded of it.
                layers[layer.rawValue][name] = held
            } else {
                names.insert(name)
            }
        }
        return names
    }

    /// Whether a value is the one that is held.
    ///
    /// Of a large one the signals tell.
    private func isUnchanged(
        _ held: Entry, _ entry: Entry, _ name: KeyName, _ layer: CopyLayer
    ) -> Bool {
        if case (.large, .large) = (held.content, entry.content), isLoaded {
            return foreign[layer]?.mayHave(name) != true
        }
        return held.isSame(as: entry)
    }

    /// Notes a change by others that a signal tells of.
    func noteForeignChange(_ change: DefaultsChange) {
        guard let layer = CopyLayer.allCases.first(where: { "\($0)" == change.layer }) else {
            return
        }
        // The signal of a change that waited for the disk comes after later ones of ours.
        if change.generation > readGeneration && change.generation <= generation {
            generation = readGeneration
        }
        foreign[layer, default: ForeignChanges()].add(change)
    }

    /// Notes that the service has gone, or that another one has come.
    ///
    /// The counter stays until there is another one: it tells that there was something to be read.
    func detach() {
        isRefused = false
        generation = 0
        readGeneration = 0
        foreign = [:]
    }

    /// Notes that nothing is on its way any more.
    func forgetCalls() {
        isAsked = false
        batches.first?.isOnItsWay = false
    }
}

// MARK: Asking the service

extension DomainCopy {
    /// Whether it is enough to ask for what has changed, or all has to be read: at first, and where the
    /// administrator may have locked something.
    var canCatchUp: Bool { isLoaded && foreign[.managed] == nil }

    /// The layers in which others may have changed something.
    var changedLayers: [CopyLayer] {
        CopyLayer.allCases.filter { $0 == .domain || foreign[$0] != nil }
    }

    /// Has a closure called when the service has answered a question that is still to be asked.
    func wait(_ resume: @escaping () -> Void) {
        waiting.append((questions, resume))
    }

    /// Begins to ask; false where that is under way.
    func beginAsking() -> Bool {
        guard !isAsked else { return false }
        isAsked = true
        questions += 1
        return true
    }

    /// Ends a question that was not answered.
    func cancelAsking() {
        isAsked = false
    }

    /// Ends a question, and lets those go on who waited for its answer.
    ///
    /// - Parameter isRead: Whether the layers are as new as the question.
    /// - Returns: Whether to ask again: somebody came later, or wants to be told of every change.
    func endAsking(isRead: Bool, _ lock: Guard) -> Bool {
        isAsked = false
        guard isRead else { return true }
        if isCurrent {
            endWaits(lock)
            return false
        }
        for waiter in waiting where waiter.question < questions { lock.whenFree(waiter.resume) }
        waiting.removeAll { $0.question < questions }
        return !waiting.isEmpty || isObserved
    }

    /// Lets all go on who wait, if it is current by now.
    func endWaitsIfCurrent(_ lock: Guard) -> Bool {
        guard isCurrent else { return false }
        endWaits(lock)
        return true
    }

    /// Lets all go on who wait.
    func endWaits(_ lock: Guard) {
        for waiter in waiting { lock.whenFree(waiter.resume) }
        waiting = []
    }

    /// Notes that it cannot be read from this service.
    func refuseReading(_ lock: Guard) {
        isRefused = true
        endWaits(lock)
    }
}

// MARK: What this process changes

extension DomainCopy {
    /// Takes a change of one key, to be sent with others that wait.
    func enqueue(_ entry: Entry?, forKey name: KeyName, in layer: CopyLayer) {
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
    func isNoChange(_ entry: Entry?, forKey name: KeyName, in layer: CopyLayer) -> Bool {
        isCurrent && self.entry(name, in: layer).isSame(as: entry)
    }

    /// The batch that is to be sent, now sent; nil where there is none, or one is on its way.
    func takeNextToSend() -> Batch? {
        guard let first = batches.first, !first.isOnItsWay else { return nil }
        first.send()
        return first
    }

    /// The first batch is the service's.
    ///
    /// - Parameter generation: The one that its answer tells. It is an old one where the batch was sent
    ///   again because an answer was lost; what was read since is newer.
    func acknowledge(_ generation: UInt64) {
        guard let batch = batches.first else { return }
        guard generation > readGeneration else {
            return change(batch.changes.keys, isOwn: false) { _ = removeFirst() }
        }
        _ = removeFirst()
        // The values stay the same for all who look, so nobody is told.
        for (name, entry) in batch.changes {
            layers[batch.layer.rawValue][name] = isKept(entry) ? entry : Entry(.large)
        }
        let large = batch.changes.filter { !isKept($0.value) }
        if !large.isEmpty { for store in liveStores { store.forget(large.keys) } }
        // Whoever else changed the domain before this has been told of by now, as signals and answers
        // come in the order in which the service sent them.
        if isLoaded && newestForeign <= self.generation { self.generation = generation }
    }

    private func isKept(_ entry: Entry?) -> Bool {
        holdsLarge || entry?.isLarge != true
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

/// What signals have told of one layer's changes by others, since it was read.
private struct ForeignChanges {
    private(set) var generation: UInt64 = 0
    /// The keys; nil where they are too many to name.
    private var names: Set<KeyName>? = []

    private static let mostNames = 1024

    mutating func add(_ change: DefaultsChange) {
        generation = max(generation, change.generation)
        let added = (change.changed + change.removed).map(KeyName.init)
        guard let known = names, !added.isEmpty, known.count + added.count <= Self.mostNames else {
            names = nil
            return
        }
        names = known.union(added)
    }

    func mayHave(_ name: KeyName) -> Bool {
        names?.contains(name) ?? true
    }
}
