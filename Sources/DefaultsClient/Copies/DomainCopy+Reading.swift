import DefaultsProtocol
import DefaultsTerms

/// What the service has.
extension DomainCopy {
    /// Layers as they were read.
    struct Reading {
        /// The entries of each layer that was read.
        var layers: [LayerName: [KeyName: Entry]]
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
                if let held = layers[changes.layer.index][name],
                    isUnchanged(held, entry, name, changes.layer)
                {
                    continue
                }
                layers[changes.layer.index][name] = entry
                names.insert(name)
            }
            for name in changes.removed where layers[changes.layer.index][name] != nil {
                layers[changes.layer.index][name] = nil
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
        _ layer: LayerName, with entries: [KeyName: Entry], in layers: inout [[KeyName: Entry]]
    ) -> Set<KeyName> {
        let old = layers[layer.index]
        var names = Set(old.keys.filter { entries[$0] == nil })
        layers[layer.index] = entries
        for (name, entry) in entries {
            if let held = old[name], isUnchanged(held, entry, name, layer) {
                // It stays, with what was decoded of it.
                layers[layer.index][name] = held
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
        _ held: Entry, _ entry: Entry, _ name: KeyName, _ layer: LayerName
    ) -> Bool {
        if case (.large, .large) = (held.content, entry.content), isLoaded {
            return foreign[layer]?.mayHave(name) != true
        }
        return held.isSame(as: entry)
    }

    /// Notes a change by others that a signal tells of.
    func noteForeignChange(_ change: ChangedSignal) {
        guard let layer = LayerName(rawValue: change.layer) else { return }
        // The signal of a change that waited for the disk comes after later ones of ours.
        if change.generation > readGeneration && change.generation <= generation {
            generation = readGeneration
        }
        foreign[layer, default: ForeignChanges()].add(change)
    }

    /// Notes that a layer has changed, if the page tells already that the copy is outdated: which keys
    /// have, the service will be asked.
    ///
    /// A process that was stopped for a while finds many signals. To read each would keep it from the
    /// answer to its question, which comes behind them.
    ///
    /// - Returns: Whether that is all there is to do. Observers have somebody ask first.
    func noteUnread(layer name: String) -> Bool {
        guard isOutdated, let counter, !isObserved || questions.isUnderWay,
            let layer = LayerName(rawValue: name)
        else { return false }
        foreign[layer, default: ForeignChanges()].addUnread(by: counter.value)
        return true
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
}

/// The keys that the administrator has locked, as the reply of `Attach` lists them.
struct LockedNames: Equatable {
    private var names: Set<KeyName> = []
    private var prefixes: [String] = []

    init() {}

    /// - Parameter patterns: Keys, and prefixes with a `*` after them.
    init(_ patterns: [String]) {
        for pattern in patterns {
            if pattern.utf8.last == UInt8(ascii: "*") {
                prefixes.append(String(pattern.dropLast()))
            } else {
                names.insert(KeyName(pattern))
            }
        }
    }

    /// Whether a key is locked.
    ///
    /// Names are compared by their bytes.
    func contains(_ name: KeyName) -> Bool {
        names.contains(name) || prefixes.contains { name.utf8.starts(with: $0.utf8) }
    }
}
