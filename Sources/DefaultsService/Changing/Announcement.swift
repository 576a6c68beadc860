import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// What the signal `Changed` tells of one change: names, never values.
struct Announcement {
    let domain: Domain
    private(set) var changed: [Key]
    private(set) var removed: [Key]
    let generation: Generation
    let origin: String

    /// Of a change with very many keys, and of one that does not name them, no names are told.
    init(_ change: ChangeSet) {
        let keys = change.set.map(\.key)
        let names = (keys + change.removed).reduce(0) { $0 + $1.length }
        let isNamed = names <= Limits.maximumSignalledNames
        domain = change.domain
        changed = isNamed ? keys : []
        removed = isNamed ? change.removed : []
        generation = change.generation
        origin = change.origin
    }

    /// Of a domain that is not as it was, because the store was damaged.
    init(_ rescued: RescuedDomain, at generation: Generation) {
        let names = (rescued.changed + rescued.removed).reduce(0) { $0 + $1.length }
        let isNamed = names <= Limits.maximumSignalledNames
        domain = rescued.domain
        changed = isNamed ? rescued.changed : []
        removed = isNamed ? rescued.removed : []
        self.generation = generation
        origin = ""
    }

    /// The same without names, for which those who listen have to ask.
    func withoutNames() -> Announcement {
        var announcement = self
        (announcement.changed, announcement.removed) = ([], [])
        return announcement
    }

    /// Writes the arguments of the signal.
    func write(to writer: inout MessageWriter) throws {
        try writer.writeString(domain.name)
        try writer.writeString(domain.layer.name)
        try writer.writeStrings(changed.map(\.name))
        try writer.writeStrings(removed.map(\.name))
        try writer.writeUInt64(generation.rawValue)
        try writer.writeString(origin)
    }
}
