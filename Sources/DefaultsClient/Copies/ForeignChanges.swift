import DefaultsProtocol

/// What signals have told of one layer's changes by others, since it was read.
struct ForeignChanges {
    private(set) var generation: UInt64 = 0
    /// The keys; nil where they are too many to name.
    private var names: Set<KeyName>? = []

    private static let mostNames = 1024

    mutating func add(_ change: ChangedSignal) {
        generation = max(generation, change.generation)
        let added = (change.changed + change.removed).map(KeyName.init)
        guard let known = names, !added.isEmpty, known.count + added.count <= Self.mostNames else {
            names = nil
            return
        }
        names = known.union(added)
    }

    /// Notes a change of which nothing is known but that it came by a generation.
    mutating func addUnread(by generation: UInt64) {
        self.generation = max(self.generation, generation)
        names = nil
    }

    func mayHave(_ name: KeyName) -> Bool {
        names?.contains(name) ?? true
    }
}
