package import KeyedArchive

/// What a document changes, key by key.
package struct DocumentPlan: Sendable {
    /// What becomes of a key.
    package enum Outcome: String, Sendable {
        /// It gets the value that the document wants.
        case set
        /// It loses its value, as the document wants.
        case remove
        /// It left the document, and has again what it had before the owner.
        case restore
        /// It left the document, and others have changed it since: it stays.
        case kept
        /// It left the document, and had its value before the owner: it stays.
        case found
        /// Nothing changes but who owns it.
        case own
    }

    /// One key.
    package struct Step: Sendable {
        package let place: KeyPlace
        package let outcome: Outcome
        /// What the user's own layer has now.
        package let before: KeyedArchive?
        /// What it has afterwards.
        package let after: KeyedArchive?
        /// The other owner that loses the key.
        package var formerOwner: Owner?
        /// Whether the value before is another's than this owner's last one, and is replaced.
        package var replacesOthers = false
        /// The paths of the parts whose values before are another's, and are replaced.
        package var replacedParts: [String] = []
        /// Whether the value before has an exact type that this one cannot have.
        package var replacesType = false
        /// The rows that are written; nil for a row that goes.
        package var rows: [(name: RowName, row: AppliedRow?)]

        /// Whether the document does not name the key any more.
        package var leavesDocument: Bool = false

        /// Whether the value changes.
        package var changesValue: Bool {
            switch (before, after) {
            case (nil, nil): false
            case (let one?, let two?): !one.isSame(as: two)
            default: true
            }
        }
    }

    /// A key that another owner has.
    package struct Conflict: Sendable {
        package let place: KeyPlace
        package let owner: Owner
        /// The path of the part that both want; nil if one of them wants the whole value.
        package let part: String?
    }

    /// A key whose value cannot be made.
    package struct Fault: Sendable {
        package let place: KeyPlace
        package let reason: any Error
    }

    package internal(set) var steps: [Step] = []
    package internal(set) var conflicts: [Conflict] = []
    package internal(set) var faults: [Fault] = []
    /// How many keys the owner had before, and how many of them go back.
    package internal(set) var owned = 0
    package internal(set) var returned = 0
}
