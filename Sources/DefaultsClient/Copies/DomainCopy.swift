import DefaultsProtocol
import DefaultsTerms

// Invariants, which hold whenever the lock is free
//
// 1. While `isCurrent`, the layers are what the service has, and `outbox` is what this process adds to
//    them: no read is older than a change that was acknowledged before it.
// 2. A change of this process is in exactly one place: in `outbox` from the moment when it is made
//    until its answer, and in the layers from then on, if the service accepted it.
// 3. Batches are sent in their order, one at a time.
// 4. After a change of a key, each user of the copy forgets what it has found for the key, and notifies
//    its observers if the value is another than before.

/// What a process knows of one domain: its four layers, and what it has changed in them.
final class DomainCopy: Sendable {
    /// The name of the domain, without a suffix.
    let name: String
    let state: Guarded<State>

    /// - Parameter holdsLarge: Whether it keeps large values, too, because no service has them.
    init(name: String, holdsLarge: Bool) {
        self.name = name
        state = Guarded(State(holdsLarge: holdsLarge))
    }

    // MARK: Users

    /// Adds a user.
    ///
    /// It is never removed, because counting weak references would cost each read and
    /// write more than everything else.
    func add(_ user: any DomainCopyUser, _ access: borrowing WriteAccess) {
        access[state].users.append(user)
    }

    func isObserved(_ access: borrowing ReadAccess) -> Bool {
        let users = access[state].users
        return users.contains { $0.isObserved(access) }
    }

    /// Reports to all users that a change was refused.
    private func reportRefusal(_ failure: DefaultsFailure, _ access: borrowing WriteAccess) {
        for user in access[state].users {
            // Before the lock is free, as a flush then no longer sees the change.
            user.failures.keepRefusal(failure.error)
            access.whenFree { user.failures.tell(failure) }
        }
    }

    /// Changes what users find for some keys, and notifies them (4).
    private func change(
        _ names: some Collection<KeyName>, by source: ChangeSource,
        _ access: borrowing WriteAccess, _ body: (inout State) -> Void
    ) {
        let users = access[state].users
        guard users.contains(where: { $0.isObserved(access.read) }) else {
            body(&access[state])
            for user in users { user.forget(names, access) }
            return
        }
        // Values that are read for the first time are no changes, but for those that the application
        // has already asked for.
        let wasRead = access[state].wasRead || source.isThisProcess
        let before = users.map { $0.observed(names, onlyKnown: !wasRead, access) }
        body(&access[state])
        for (user, before) in zip(users, before) {
            user.note(names, before, by: source, access)
        }
    }
}

extension DomainCopy {
    /// What a copy holds.
    ///
    /// It cannot be copied, because a copy for each access would cost more than the access.
    struct State: ~Copyable, Sendable {
        /// Whether it keeps large values, too.
        fileprivate let holdsLarge: Bool
        /// The values that the application has registered, which hold if no layer has the key.
        fileprivate(set) var registered: [KeyName: Entry] = [:]
        /// What the service has, by layer and key.
        fileprivate var layers = [[KeyName: Entry]](
            repeating: [:], count: LayerName.allCases.count)
        /// What the administrator has locked; nil if that is not known.
        fileprivate var locks: LockedNames?
        /// What this process has changed, and the service has not accepted yet.
        var outbox = Outbox()
        fileprivate var users: [any DomainCopyUser] = []
        /// The generation of the database at which the layers were read, or that of a later change of
        /// ours if nobody else's came before it; 0 before the first time.
        fileprivate(set) var generation: UInt64 = 0
        /// The generation of the database at which the layers were read.
        fileprivate var readGeneration: UInt64 = 0
        /// The generation at which each layer was read.
        fileprivate var layerGenerations = [UInt64](
            repeating: 0, count: LayerName.allCases.count)
        /// The generation of the last change of ours that the service has accepted.
        fileprivate var ownGeneration: UInt64 = 0
        /// The changes by others that signals have announced, by layer.
        fileprivate var foreign: [LayerName: ForeignChanges] = [:]
        /// The word of the page that counts this domain's changes; nil if there is no page.
        fileprivate(set) var counter: Counter?
        /// Whether it was ever read: then values that observers get as old ones are known.
        fileprivate var wasRead = false
        /// Whether the service refuses to let it be read, for example because the name is invalid.
        private var isRefused = false
        /// The requests for it, and who waits for their answers.
        var requests = Requests()

        fileprivate init(holdsLarge: Bool) {
            self.holdsLarge = holdsLarge
        }

        /// Whether it has been read at all.
        var isLoaded: Bool { generation > 0 }

        /// Whether a read may rely on the layers (1).
        var isCurrent: Bool {
            if isRefused { return true }
            guard let counter else { return isLoaded && newestForeign <= generation }
            return counter.value <= generation
        }

        /// Whether it is known what there is, though maybe not what there is now.
        var isKnown: Bool { wasRead || isCurrent }

        /// Whether the page shows a change that is not here: some process reaches the service.
        var isOutdated: Bool { counter.map { $0.value > generation } ?? false }

        fileprivate var newestForeign: UInt64 {
            foreign.values.reduce(0) { max($0, $1.generation) }
        }

        /// The value of a key in a layer, with the changes of this process.
        func entry(_ name: KeyName, in layer: LayerName) -> Entry? {
            outbox.change(of: name, in: layer) ?? layers[layer.index][name]
        }

        /// The value that the service has for a key in a layer, without changes that it may refuse.
        func acknowledgedEntry(_ name: KeyName, in layer: LayerName) -> Entry? {
            layers[layer.index][name]
        }

        /// Whether the administrator has locked a key here; nil if that is not known.
        func isLocked(_ name: KeyName) -> Bool? {
            locks?.contains(name)
        }

        /// The keys of a layer, with the changes of this process.
        func names(in layer: LayerName) -> Set<KeyName> {
            var names = Set(layers[layer.index].keys)
            for (name, entry) in outbox.changes(in: layer) {
                if entry == nil { names.remove(name) } else { names.insert(name) }
            }
            return names
        }

        /// Whether a change would leave everything as it is.
        func isNoChange(_ entry: Entry?, forKey name: KeyName, in layer: LayerName) -> Bool {
            isCurrent && self.entry(name, in: layer).isSame(as: entry)
        }

        fileprivate func isKept(_ entry: Entry?) -> Bool {
            holdsLarge || entry?.isLarge != true
        }

        /// Marks the copy as not readable from this service.
        mutating func refuseReading(_ access: borrowing WriteAccess) {
            isRefused = true
            requests.answerAll(access)
        }

        /// Forgets how current the copy is: the service has gone, or another one has come.
        ///
        /// The counter stays until there is another one: it shows that there was something to read.
        mutating func detach() {
            isRefused = false
            generation = 0
            readGeneration = 0
            layerGenerations = [UInt64](repeating: 0, count: LayerName.allCases.count)
            ownGeneration = 0
            foreign = [:]
        }

        /// Forgets the calls in flight.
        mutating func forgetCalls() {
            requests.end()
            outbox.sendFirstAgain()
        }
    }
}

/// Asking the service.
extension DomainCopy.State {
    /// Whether it is enough to ask for what has changed.
    ///
    /// Otherwise everything has to be read: at first, and if the administrator may have locked something.
    var canCatchUp: Bool { isLoaded && foreign[.managed] == nil }

    /// The layers in which others may have changed something.
    var changedLayers: [LayerName] {
        LayerName.allCases.filter { $0 == .domain || foreign[$0] != nil }
    }

    /// Lets all waiters go on, if the copy is current by now.
    mutating func endWaitsIfCurrent(_ access: borrowing WriteAccess) -> Bool {
        guard isCurrent else { return false }
        requests.answerAll(access)
        return true
    }

    /// Notes a change by others that a signal announces.
    ///
    /// - Returns: Whether values that were current are not any more.
    fileprivate mutating func noteForeignChange(_ change: ChangedSignal) -> Bool {
        guard let layer = LayerName(rawValue: change.layer) else { return false }
        let before = generation
        // The signal of a change that waited for the disk comes after later ones of ours.
        if change.generation > readGeneration && change.generation <= generation {
            generation = readGeneration
        }
        // A read between the change of the page and this signal has asked for other layers only.
        if layer != .domain, change.generation > layerGenerations[layer.index],
            change.generation <= generation
        {
            generation = change.generation - min(change.generation, 1)
        }
        foreign[layer, default: ForeignChanges()].add(change)
        return generation < before
    }

    /// Whether a change by others, which a signal has with its values, is the next one.
    ///
    /// It is not if an earlier change is missing, or if one of ours is newer: the signal of a change
    /// that waited for the disk comes late.
    fileprivate func isNext(_ change: ChangedSignal) -> Bool {
        isLoaded && newestForeign <= generation
            && change.generation > max(generation, ownGeneration)
    }

    /// Notes that the copy is as new as a generation, because some of its layers were read then.
    fileprivate mutating func isRead(at generation: UInt64, _ layers: some Sequence<LayerName>) {
        noteRead(layers, at: generation)
        self.generation = max(self.generation, generation)
        readGeneration = max(readGeneration, generation)
        foreign = foreign.filter { $0.value.generation > generation }
    }

    fileprivate mutating func noteRead(_ layers: some Sequence<LayerName>, at generation: UInt64) {
        for layer in layers {
            layerGenerations[layer.index] = max(layerGenerations[layer.index], generation)
        }
    }
}

extension DomainCopy {
    /// Notes a change by others that a signal announces.
    func noteForeignChange(_ change: ChangedSignal, _ access: borrowing WriteAccess) {
        guard access[state].noteForeignChange(change) else { return }
        // The counter on the page does not show them that what they hold is old.
        for user in access[state].users { user.forget(EmptyCollection<KeyName>(), access) }
    }

    /// Notes that a layer has changed, if the page already shows that the copy is outdated.
    ///
    /// The service will be asked which keys have changed.
    /// A process that was stopped for a while finds many signals. To read each would keep it from the
    /// answer to its request, which comes after them.
    ///
    /// - Returns: Whether nothing else has to be done. If there are observers, the service has to be
    ///   asked first.
    func noteUnread(layer name: String, _ access: borrowing WriteAccess) -> Bool {
        let (isOutdated, isInFlight) = (
            access[state].isOutdated, access[state].requests.isInFlight
        )
        guard isOutdated, let counter = access[state].counter,
            isInFlight || !isObserved(access.read), let layer = LayerName(rawValue: name)
        else { return false }
        access[state].foreign[layer, default: ForeignChanges()].addUnread(by: counter.value)
        return true
    }

    /// Takes a change by others that a signal has with its values.
    ///
    /// - Returns: Whether the service need not be asked.
    func take(_ signal: ChangedValuesSignal, _ access: borrowing WriteAccess) -> Bool {
        let change = signal.change
        // A change of the managed layer may be one of its locks, which the signal does not have.
        guard signal.isComplete, let layer = LayerName(rawValue: change.layer), layer != .managed,
            access[state].isNext(change)
        else {
            noteForeignChange(change, access)
            return false
        }
        let entries = Entry.entries(sent: signal.changed, named: [])
        let removed = change.removed.map(KeyName.init)
        self.change(Set(entries.keys).union(removed), by: .others, access) { state in
            for name in removed { state.layers[layer.index][name] = nil }
            for (name, entry) in entries { state.layers[layer.index][name] = entry }
            state.isRead(at: change.generation, CollectionOfOne(layer))
        }
        return access[state].endWaitsIfCurrent(access)
    }

    /// Ends a request, and lets those go on who waited for its answer.
    ///
    /// - Parameter isRead: Whether the layers are as new as the request.
    /// - Returns: Whether to ask again: a waiter came later, or observers want every change.
    func endRequest(isRead: Bool, _ access: borrowing WriteAccess) -> Bool {
        access[state].requests.end()
        guard isRead else { return true }
        if access[state].endWaitsIfCurrent(access) { return false }
        access[state].requests.answer(access)
        return access[state].requests.isAwaited || isObserved(access.read)
    }

    /// Takes whole layers.
    ///
    /// - Returns: Whether the copy is as new as the request; false if a change of ours has overtaken the
    ///   answer.
    func take(
        _ reading: LayerReading, counter: Counter?, _ access: borrowing WriteAccess
    ) -> Bool {
        guard reading.generation >= access[state].generation else { return false }
        var update = access[state].update
        for (layer, entries) in reading.layers { update.replace(layer, with: entries) }
        install(update, access) { state in
            state.locks = reading.locks ?? state.locks
            state.counter = counter
            state.isRead(at: reading.generation, reading.layers.keys)
        }
        return true
    }

    /// Takes what has changed in some layers after a generation.
    ///
    /// - Returns: Whether all layers are now as new as the request; false if a signal has announced
    ///   meanwhile that another layer has changed, or a change of ours has overtaken the answers.
    func take(
        _ changes: [LayerChanges], since: UInt64, _ access: borrowing WriteAccess
    ) -> Bool {
        guard let end = changes.map(\.generation).min(), end >= access[state].generation else {
            return false
        }
        var update = access[state].update
        for changes in changes { update.add(changes) }
        let requested = Set(changes.map(\.layer))
        let others = access[state].foreign.contains {
            !requested.contains($0.key) && $0.value.generation > since
        }
        install(update, access) { state in
            guard others else { return state.isRead(at: end, requested) }
            state.noteRead(requested, at: end)
        }
        return !others
    }

    private func install(
        _ update: LayerUpdate, _ access: borrowing WriteAccess, _ body: (inout State) -> Void
    ) {
        change(update.names, by: .others, access) { $0.layers = update.layers }
        access[state].wasRead = true
        body(&access[state])
    }
}

extension DomainCopy.State {
    fileprivate var update: LayerUpdate {
        LayerUpdate(of: layers, foreign: foreign, isLoaded: isLoaded)
    }
}

/// What this process changes.
extension DomainCopy {
    /// Registers values that hold if no layer has the key.
    func register(_ entries: [KeyName: Entry?], _ access: borrowing WriteAccess) {
        change(entries.keys, by: .thisProcess(nil), access) { state in
            for (name, entry) in entries { state.registered[name] = entry }
        }
    }

    /// Takes a change of one key, to be sent with others that wait.
    func enqueue(
        _ entry: Entry?, forKey name: KeyName, in layer: LayerName, by source: ChangeSource,
        _ access: borrowing WriteAccess
    ) {
        change(CollectionOfOne(name), by: source, access) {
            $0.outbox.add(entry, forKey: name, in: layer)
        }
    }

    /// Takes changes that are to be sent as they are.
    func enqueue(_ batch: Batch, by source: ChangeSource, _ access: borrowing WriteAccess) {
        change(batch.changes.keys, by: source, access) { $0.outbox.append(batch) }
    }

    /// Moves the first batch into the layers: the service has accepted it.
    ///
    /// - Parameters:
    ///   - generation: The generation in the answer. It is an old one if the batch was sent again because
    ///     an answer was lost; what was read since is newer.
    ///   - isNewest: Whether the copy is known to have all changes up to this one.
    func acknowledge(
        _ generation: UInt64, isNewest: Bool = false, _ access: borrowing WriteAccess
    ) {
        guard let batch = access[state].outbox.first else { return }
        guard generation > access[state].readGeneration else {
            change(batch.changes.keys, by: .others, access) { $0.outbox.removeFirst() }
            return end(batch, .success(generation), access)
        }
        // The values stay the same for all readers, so no observer is notified.
        access[state].acknowledge(batch, generation, isNewest: isNewest)
        let large = batch.changes.filter { !access[state].isKept($0.value) }
        if !large.isEmpty {
            for user in access[state].users { user.forget(large.keys, access) }
        }
        end(batch, .success(generation), access)
    }

    /// Undoes the first batch: the service has refused it.
    func refuse(_ error: DefaultsError, _ access: borrowing WriteAccess) {
        guard let batch = access[state].outbox.first else { return }
        change(batch.changes.keys, by: .others, access) { $0.outbox.removeFirst() }
        if !batch.isAwaited {
            let failure = DefaultsFailure(
                action: .write, keys: batch.names,
                domain: batch.layer.spelling(of: name), error: error)
            reportRefusal(failure, access)
        }
        end(batch, .failure(error), access)
    }

    private func end(
        _ batch: Batch, _ outcome: Batch.Outcome, _ access: borrowing WriteAccess
    ) {
        for waiter in batch.waiters { access.whenFree { waiter(outcome) } }
    }
}

extension DomainCopy.State {
    fileprivate mutating func acknowledge(
        _ batch: Batch, _ generation: UInt64, isNewest: Bool
    ) {
        outbox.removeFirst()
        ownGeneration = max(ownGeneration, generation)
        for (name, entry) in batch.changes {
            layers[batch.layer.index][name] = isKept(entry) ? entry : Entry(.large)
        }
        // If nobody changed anything in between, the layers are as new as the change. A gap means that
        // another process may have made a change whose signal still waits for the disk, so the service
        // is asked.
        let isNext = generation == self.generation + 1 && newestForeign <= self.generation
        if isNewest || isLoaded && isNext {
            self.generation = generation
        }
    }
}
