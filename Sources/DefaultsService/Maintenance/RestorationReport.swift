import DefaultsStorage

/// What a restoration has done.
struct RestorationReport: CustomStringConvertible {
    /// The backup by which it is undone; nil where the database was damaged before.
    var undo: Backup?
    /// How many keys have got another value.
    var set: UInt64 = 0
    /// How many keys were removed.
    var removed: UInt64 = 0
    /// How many values of the backup cannot be read; their keys are as they were, and none is
    /// removed, as nobody knows which those are.
    var damaged: UInt64 = 0
    /// How many keys differ and were left as they are, as the administrator locks them.
    var locked: UInt64 = 0

    /// All of it in half a sentence.
    var description: String {
        let damaged = damaged == 0 ? "" : ", \(damaged) damaged in the backup"
        let locked = locked == 0 ? "" : ", \(locked) locked"
        return "\(set) keys set, \(removed) removed\(damaged)\(locked)"
            + (undo.map { "; '\($0.name)' undoes that" } ?? "")
    }
}
