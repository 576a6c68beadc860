import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import KeyedArchive

/// Writes what a database has of whole domains at one moment.
///
/// It knows neither the loop nor its thread, so that long answers are made elsewhere. A value that is
/// damaged costs the caller that value: it is left out, or named if names are.
final class DomainReading {
    /// What an entry takes in a message beside its key and its archive, at most: two lengths, a NUL
    /// and padding.
    static let entryOverhead = 24
    /// No archive is smaller, in bytes.
    static let smallestArchive = 64

    private let view: DatabaseView
    private let hosts: HostNames
    /// Values that were left out as they are damaged.
    private(set) var damage: [StorageError] = []

    init(of view: DatabaseView, on hosts: HostNames) {
        self.view = view
        self.hosts = hosts
    }

    /// Writes the reply of `GetAll`.
    func writeAll(of domain: Domain, to reply: inout MessageWriter) throws {
        let entries = try view.summaries(of: domain)
        let size = entries.reduce(0) { $0 + Self.entryOverhead + $1.key.length + $1.size }
        guard size <= ContractLimits.maximumReplySize else {
            throw DefaultsError(tooLargeDomain: domain, on: hosts)
        }
        try Contract.GetAll.writeReply(at: view.generation.rawValue, to: &reply) {
            _ = try write(entries.map(\.key), of: domain, to: &$0)
        }
    }

    /// Writes the reply of `GetAllValues`.
    func writeAllValues(of domain: Domain, to reply: inout MessageWriter) throws {
        var unrepresentable: [String] = []
        var room = ContractLimits.maximumReplySize
        var budget = ValueBudget.domain
        let keys = try view.keys(of: domain)
        try Contract.GetAllValues.writeReply(at: view.generation.rawValue, to: &reply) { entries in
            for key in keys {
                if let value = try value(of: key, in: domain, budget: &budget) {
                    try entries.writeVariant(value, forKey: key.name)
                } else {
                    unrepresentable.append(key.name)
                    room -= NamesSize.size(of: key.name)
                }
                guard entries.size <= room else {
                    throw DefaultsError(tooLargeDomain: domain, on: hosts)
                }
            }
        } unrepresentable: {
            unrepresentable
        }
    }

    /// Writes the reply of `ListKeys`.
    func writeKeys(of domain: Domain, to reply: inout MessageWriter) throws {
        let names = try view.keys(of: domain).map(\.name)
        try NamesSize.check(names, room: ContractLimits.maximumReplySize)
        try Contract.ListKeys.writeReply(names, to: &reply)
    }

    /// Writes the reply of `ListDomains`.
    func writeDomains(to reply: inout MessageWriter) throws {
        let names = try view.domains().map { $0.spelling(on: hosts) }
        try NamesSize.check(names, room: ContractLimits.maximumReplySize)
        try Contract.ListDomains.writeReply(names, to: &reply)
    }

    /// Writes the reply of `GetChanges`.
    func writeChanges(
        of domain: Domain, since generation: Generation?, to reply: inout MessageWriter
    ) throws {
        let changes = try view.changes(of: domain, since: generation)
        var room = ContractLimits.maximumBulkSize
        let selection = BulkSelection(of: changes.changed, room: &room)
        try NamesSize.check(
            (changes.changed.map(\.key) + changes.removed).map(\.name),
            room: ContractLimits.maximumReplySize - 2 * ContractLimits.maximumBulkSize)
        var damaged: [Key] = []
        try Contract.GetChanges.writeReply(
            removed: changes.removed.lazy.map(\.name), generation: view.generation.rawValue,
            isComplete: changes.isComplete, to: &reply
        ) {
            damaged = try write(selection.sent, of: domain, to: &$0)
        } large: {
            (selection.large + damaged).map(\.name)
        }
    }

    /// Writes the reply of `MeasureDomain`: of the values only the sizes are read.
    func writeSizes(
        of domain: Domain, largest count: Int, to reply: inout MessageWriter
    ) throws {
        let entries = try view.summaries(of: domain)
        let nameBytes = entries.reduce(0) { $0 + $1.key.length }
        let archiveBytes = entries.reduce(0) { $0 + $1.size }
        let largest = entries.sorted { $0.size > $1.size }.prefix(count)
            .map { (key: $0.key.name, size: UInt64(clamping: $0.size)) }
        try Contract.MeasureDomain.writeReply(
            (
                UInt64(clamping: entries.count), UInt64(clamping: nameBytes),
                UInt64(clamping: archiveBytes), largest
            ), to: &reply)
    }

    /// A domain that a client attaches: what the caller called it, and the keys and prefixes that the
    /// administrator locks.
    struct Attached {
        let spelling: String
        let domain: Domain
        let locked: [String]
    }

    /// Writes the reply of `Attach`.
    func write(
        _ domains: [Attached], page: FileDescriptor, to reply: inout MessageWriter
    ) throws {
        var room = ContractLimits.maximumBulkSize
        try Contract.Attach.writeReply(page, at: view.generation.rawValue, to: &reply) { array in
            for attached in domains {
                try write(attached, to: &array, room: &room)
                guard array.size <= ContractLimits.maximumReplySize else {
                    throw DefaultsError(tooLargeDomains: domains.count)
                }
            }
        }
    }

    private func write(
        _ attached: Attached, to array: inout MessageWriter, room: inout Int
    ) throws {
        let domain = attached.domain
        let selection = BulkSelection(of: try view.summaries(of: domain), room: &room)
        var damaged: [Key] = []
        try Contract.Attach.writeDomain(
            attached.spelling, slot: Database.counterSlot(of: domain), locked: attached.locked,
            to: &array
        ) {
            damaged = try write(selection.sent, of: domain, to: &$0)
        } large: {
            (selection.large + damaged).map(\.name)
        }
    }

    /// Writes the entries of an `a{say}`.
    ///
    /// - Returns: The keys whose values are damaged, which are left out.
    private func write(
        _ keys: [Key], of domain: Domain, to entries: inout MessageWriter
    ) throws -> [Key] {
        var damaged: [Key] = []
        for key in keys {
            guard let stored = try intactValue(of: key, in: domain) else {
                damaged.append(key)
                continue
            }
            try entries.writeArchive(stored.archive, forKey: key.name)
        }
        return damaged
    }

    /// The value of a key as a D-Bus value; nil if it is damaged, or D-Bus cannot carry it there:
    /// inside an entry of an array.
    ///
    /// - Parameter budget: What may be made of all archives; lowered by what was made of this one.
    private func value(
        of key: Key, in domain: Domain, budget: inout ValueBudget
    ) throws -> Value? {
        guard let stored = try intactValue(of: key, in: domain) else { return nil }
        do {
            return try VariantForm.value(
                of: KeyedArchive(validating: stored.archive),
                inside: Contract.GetAllValues.containers, budget: &budget)
        } catch is DefaultsError, is ArchiveError {
            if budget.isSpent { throw DefaultsError(tooLargeDomain: domain, on: hosts) }
            return nil
        }
    }

    /// The value of a key; nil if it is damaged.
    private func intactValue(of key: Key, in domain: Domain) throws(StorageError) -> StoredValue? {
        do throws(StorageError) {
            return try view.value(domain, key)
        } catch {
            guard error.code == .damagedRow else { throw error }
            damage.append(error)
            return nil
        }
    }
}

/// What names take in a message.
enum NamesSize {
    /// What a string takes: its length, its bytes, a NUL, and padding to four.
    static func size(of name: String) -> Int { overhead + name.utf8.count }

    /// The same of all keys of a domain.
    static func size(of totals: KeyTotals) -> Int { overhead * totals.keys + totals.nameBytes }

    /// - Throws: `TooLarge` if names do not fit.
    static func check(_ names: [String], room: Int) throws {
        try check(names.count, size: names.reduce(0) { $0 + size(of: $1) }, room: room)
    }

    /// - Throws: `TooLarge` if so many names of so many bytes do not fit.
    static func check(_ count: Int, size: Int, room: Int) throws {
        guard size <= room else { throw DefaultsError(tooLargeNames: count, size, room: room) }
    }

    private static let overhead = 8
}

/// Which entries are sent in bulk, and which are only named.
///
/// Those that are large by themselves, and all after so many bytes, are named: the caller gets them
/// one by one, if it wants them.
struct BulkSelection {
    /// The keys whose archives are sent, in their order.
    private(set) var sent: [Key] = []
    /// The keys that are only named, in their order.
    private(set) var large: [Key] = []

    /// Selects.
    ///
    /// - Parameter room: How many bytes may be sent; lowered by those that are, and nothing if
    ///   one did not fit, as that is if the first so many bytes end.
    init(of entries: [EntrySummary], room: inout Int) {
        for entry in entries {
            if entry.size > ContractLimits.maximumBulkEntrySize {
                large.append(entry.key)
            } else if entry.size > room {
                room = 0
                large.append(entry.key)
            } else {
                room -= entry.size
                sent.append(entry.key)
            }
        }
    }
}
