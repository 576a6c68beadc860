import DefaultsTerms

// Invariants, which hold whenever the lock is free
//
// 1. While `isCurrent`, the layers are what the service has, and `outbox` what this process adds to
//    them: no read is older than a change that was acknowledged before it.
// 2. A change of this process is in exactly one place: in `outbox` from the moment when it is made
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
    /// Whether it holds large values, too, for there is nobody to fetch them from.
    let holdsLarge: Bool
    /// What the application has registered for the case that no layer has a key.
    var registered: [KeyName: Entry] = [:]
    /// What the service has, by layer and key.
    var layers = [[KeyName: Entry]](repeating: [:], count: LayerName.allCases.count)
    /// What the administrator has locked; nil where it is not known.
    var locks: LockedNames?
    /// What this process has changed, and the service has not taken.
    var outbox = Outbox()
    /// The stores that look into this copy, which live as long as it does: to count weak references
    /// would cost each write and read more than all else of it.
    private(set) var stores: [Store] = []

    /// The generation of the database at which the layers were read, or that of a later change of
    /// ours that nobody else's came before; 0 before the first time.
    var generation: UInt64 = 0
    /// The generation of the database at which the layers were read.
    var readGeneration: UInt64 = 0
    /// What signals have told of changes by others, by layer.
    var foreign: [LayerName: ForeignChanges] = [:]
    /// The word of the page that tells of this domain; nil where there is no page.
    var counter: Counter?
    /// Why it is no domain of an application: calls would take its name for that of a layer.
    let fault: ClientError?
    /// Whether the service does not let it be read: it is no name of a domain, for one.
    var isRefused = false

    /// Whether it waits for its turn to send; for the thread of the loop alone.
    var isQueued = false
    /// Who waits for the service to answer.
    var questions = Questions()

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
    func entry(_ name: KeyName, in layer: LayerName) -> Entry? {
        outbox.change(of: name, in: layer) ?? layers[layer.index][name]
    }

    /// Whether the administrator has locked a key here; nil where it is not known.
    func isLocked(_ name: KeyName) -> Bool? {
        locks?.contains(name)
    }

    /// The keys that a layer has, as this process has left them.
    func names(in layer: LayerName) -> Set<KeyName> {
        var names = Set(layers[layer.index].keys)
        for (name, entry) in outbox.changes(in: layer) {
            if entry == nil { names.remove(name) } else { names.insert(name) }
        }
        return names
    }

    // MARK: Who looks into it

    /// Notes a store.
    func add(_ store: Store) {
        stores.append(store)
    }

    var isObserved: Bool { stores.contains(where: \.isObserved) }

    /// Tells all stores of a failure.
    func tell(_ failure: DefaultsFailure, _ lock: Guard) {
        for store in stores { lock.whenFree { store.failures.tell(failure) } }
    }

    /// Makes a change of what stores find for some keys, and tells them (4).
    func change(_ names: some Collection<KeyName>, isOwn: Bool, _ body: () -> Void) {
        guard isObserved else {
            body()
            for store in stores { store.forget(names) }
            return
        }
        let before = stores.map { $0.held(names) }
        body()
        for (store, before) in zip(stores, before) { store.note(names, before, isOwn: isOwn) }
    }
}

/// Asking the service.
extension DomainCopy {
    /// Whether it is enough to ask for what has changed, or all has to be read: at first, and where the
    /// administrator may have locked something.
    var canCatchUp: Bool { isLoaded && foreign[.managed] == nil }

    /// The layers in which others may have changed something.
    var changedLayers: [LayerName] {
        LayerName.allCases.filter { $0 == .domain || foreign[$0] != nil }
    }

    /// Ends a question, and lets those go on who waited for its answer.
    ///
    /// - Parameter isRead: Whether the layers are as new as the question.
    /// - Returns: Whether to ask again: somebody came later, or wants to be told of every change.
    func endAsking(isRead: Bool, _ lock: Guard) -> Bool {
        questions.end()
        guard isRead else { return true }
        if isCurrent {
            questions.answerAll(lock)
            return false
        }
        questions.answer(lock)
        return questions.isAwaited || isObserved
    }

    /// Lets all go on who wait, if it is current by now.
    func endWaitsIfCurrent(_ lock: Guard) -> Bool {
        guard isCurrent else { return false }
        questions.answerAll(lock)
        return true
    }

    /// Notes that it cannot be read from this service.
    func refuseReading(_ lock: Guard) {
        isRefused = true
        questions.answerAll(lock)
    }

    /// Notes that nothing is on its way any more.
    func forgetCalls() {
        questions.end()
        outbox.batches.first?.isOnItsWay = false
    }
}

/// What this process changes.
extension DomainCopy {
    /// Takes a change of one key, to be sent with others that wait.
    func enqueue(_ entry: Entry?, forKey name: KeyName, in layer: LayerName) {
        change(CollectionOfOne(name), isOwn: true) { outbox.add(entry, forKey: name, in: layer) }
    }

    /// Takes changes that are to be sent as they are.
    func enqueue(_ batch: Batch) {
        change(batch.changes.keys, isOwn: true) { outbox.append(batch) }
    }

    /// Whether a change would leave everything as it is.
    func isNoChange(_ entry: Entry?, forKey name: KeyName, in layer: LayerName) -> Bool {
        isCurrent && self.entry(name, in: layer).isSame(as: entry)
    }

    /// The batch that is to be sent, now sent; nil where there is none, or one is on its way.
    func takeNextToSend() -> Batch? {
        guard let first = outbox.batches.first, !first.isOnItsWay else { return nil }
        first.send()
        return first
    }

    /// The first batch is the service's.
    ///
    /// - Parameter generation: The one that its answer tells. It is an old one where the batch was sent
    ///   again because an answer was lost; what was read since is newer.
    func acknowledge(_ generation: UInt64) {
        guard let batch = outbox.batches.first else { return }
        guard generation > readGeneration else {
            return change(batch.changes.keys, isOwn: false) { _ = outbox.removeFirst() }
        }
        _ = outbox.removeFirst()
        // The values stay the same for all who look, so nobody is told.
        for (name, entry) in batch.changes {
            layers[batch.layer.index][name] = isKept(entry) ? entry : Entry(.large)
        }
        let large = batch.changes.filter { !isKept($0.value) }
        if !large.isEmpty { for store in stores { store.forget(large.keys) } }
        // Nobody changed anything in between, so that the layers are as new as the change. Where there
        // is a gap somebody may have, of whom the signal waits for the disk: it is asked for then.
        if isLoaded && generation == self.generation + 1 && newestForeign <= self.generation {
            self.generation = generation
        }
    }

    private func isKept(_ entry: Entry?) -> Bool {
        holdsLarge || entry?.isLarge != true
    }

    /// The service has refused the first batch: what it changed is as before.
    func refuse() {
        guard let batch = outbox.batches.first else { return }
        change(batch.changes.keys, isOwn: false) { _ = outbox.removeFirst() }
    }

    /// What became of the first batch is not known, or it did not get there: it is sent once more.
    func sendAgain() {
        outbox.batches.first?.isOnItsWay = false
    }
}

/// Whether the service was asked for a copy, and who waits for the answer.
///
/// Used under the lock of the service.
struct Questions {
    /// How often it was asked.
    private var count: UInt64 = 0
    /// Whether it has been asked, and has not answered.
    private var isAsked = false
    /// Those who wait, each for the answer to a question after the one that was the last when they came.
    private var waiting: [(last: UInt64, resume: () -> Void)] = []

    /// Whether the service is being asked.
    var isUnderWay: Bool { isAsked }

    /// Whether anybody waits.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Has a closure called when a question is answered that is still to be asked.
    mutating func wait(_ resume: @escaping () -> Void) {
        waiting.append((count, resume))
    }

    /// Begins to ask; false where that is under way.
    mutating func begin() -> Bool {
        guard !isAsked else { return false }
        isAsked = true
        count += 1
        return true
    }

    /// Ends the question, answered or not.
    mutating func end() {
        isAsked = false
    }

    /// Lets those go on who came before the last question.
    mutating func answer(_ lock: Guard) {
        for waiter in waiting where waiter.last < count { lock.whenFree(waiter.resume) }
        waiting.removeAll { $0.last < count }
    }

    /// Lets all go on.
    mutating func answerAll(_ lock: Guard) {
        for waiter in waiting { lock.whenFree(waiter.resume) }
        waiting = []
    }
}
