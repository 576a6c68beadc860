import DefaultsProtocol
import DefaultsTerms

/// Layers as they were read.
struct LayerReading {
    /// The entries of each layer that was read.
    var layers: [LayerName: [KeyName: Entry]]
    /// The locks; nil if the answer does not have them.
    var locks: LockedNames?
    /// The generation of the database when they were read.
    var generation: UInt64
}

/// The changes of one layer, as the service answers `GetChanges`.
struct LayerChanges: Sendable {
    let layer: LayerName
    /// The new values, or all values of the layer.
    let entries: [KeyName: Entry]
    let removed: [KeyName]
    let generation: UInt64
    /// Whether the entries are what has changed, and not the whole layer.
    let isPart: Bool

    init(of layer: LayerName, _ reply: Contract.GetChanges.Reply) {
        self.layer = layer
        entries = Entry.entries(sent: reply.changed, named: reply.large)
        removed = reply.removed.map(KeyName.init)
        generation = reply.generation
        isPart = reply.isComplete
    }
}

extension Entry {
    /// Entries of the values that the service has sent, and of the large ones that it has only named.
    static func entries(
        sent: [(String, [UInt8])], named: [String]
    ) -> [KeyName: Entry] {
        let named = named.map { (KeyName($0), Entry(.large)) }
        let sent = sent.map { (KeyName($0.0), Entry(.archive($0.1))) }
        return Dictionary(sent + named) { first, _ in first }
    }
}

/// The layers of a copy as an answer makes them.
struct LayerUpdate {
    private(set) var layers: [[KeyName: Entry]]
    /// The keys whose values have changed.
    private(set) var names: Set<KeyName> = []
    private let foreign: [LayerName: ForeignChanges]
    private let isLoaded: Bool

    /// - Parameters:
    ///   - layers: The layers as they are.
    ///   - foreign: The changes by others that signals have announced.
    ///   - isLoaded: Whether the layers were read before.
    init(of layers: [[KeyName: Entry]], foreign: [LayerName: ForeignChanges], isLoaded: Bool) {
        self.layers = layers
        self.foreign = foreign
        self.isLoaded = isLoaded
    }

    mutating func add(_ changes: LayerChanges) {
        guard changes.isPart else { return replace(changes.layer, with: changes.entries) }
        let index = changes.layer.index
        for (name, entry) in changes.entries {
            if let held = layers[index][name], isUnchanged(held, entry, name, changes.layer) {
                continue
            }
            layers[index][name] = entry
            names.insert(name)
        }
        for name in changes.removed where layers[index][name] != nil {
            layers[index][name] = nil
            names.insert(name)
        }
    }

    /// Replaces a whole layer.
    mutating func replace(_ layer: LayerName, with entries: [KeyName: Entry]) {
        let old = layers[layer.index]
        names.formUnion(old.keys.filter { entries[$0] == nil })
        layers[layer.index] = entries
        for (name, entry) in entries {
            if let held = old[name], isUnchanged(held, entry, name, layer) {
                // It stays, with its decoded value.
                layers[layer.index][name] = held
            } else {
                names.insert(name)
            }
        }
    }

    /// Whether a value is the one that is held.
    ///
    /// Large values are not compared: signals announce their changes.
    private func isUnchanged(
        _ held: Entry, _ entry: Entry, _ name: KeyName, _ layer: LayerName
    ) -> Bool {
        if case (.large, .large) = (held.content, entry.content), isLoaded {
            return foreign[layer]?.mayHave(name) != true
        }
        return held.isSame(as: entry)
    }
}

/// The keys that the administrator has locked, as the reply of `Attach` lists them.
struct LockedNames: Equatable, Sendable {
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
