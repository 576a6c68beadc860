import DefaultsProtocol

/// The changes that others have made to one layer since it was read, as far as signals report them.
struct ForeignChanges {
    private(set) var generation: UInt64 = 0
    /// The keys; nil if they are too many, or unknown.
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

    /// Notes a change whose keys are unknown, and whose generation is this one or an earlier one.
    mutating func addUnread(by generation: UInt64) {
        self.generation = max(self.generation, generation)
        names = nil
    }

    func mayHave(_ name: KeyName) -> Bool {
        names?.contains(name) ?? true
    }
}
