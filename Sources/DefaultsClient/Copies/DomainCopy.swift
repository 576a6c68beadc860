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

    var newestForeign: UInt64 {
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
