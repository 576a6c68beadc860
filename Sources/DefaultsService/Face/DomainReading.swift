import DefaultsCore
import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import KeyedArchive
import SystemCalls

/// Writes replies with the contents of whole domains at one moment.
///
/// It depends neither on the loop nor on a thread, so long answers can be made on another thread. A
/// damaged value is left out of the reply, or only its key is listed if the reply has such a list.
/// The other values are not affected.
final class DomainReading {
    /// The most bytes that an entry needs in a message besides its key and its archive: two
    /// lengths, a NUL and padding.
    static let entryOverhead = 24
    /// The size of the smallest possible archive, in bytes.
    static let smallestArchive = 64

    let view: DatabaseView
    let hosts: HostNames
    /// The damaged values that were left out.
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
            throw ContractError(tooLargeDomain: domain, on: hosts)
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
                let value = try value(
                    of: key, in: domain, inside: Contract.GetAllValues.containers, budget: &budget)
                if let value {
                    try entries.writeVariant(value, forKey: key.name)
                } else {
                    if budget.isSpent { throw ContractError(tooLargeDomain: domain, on: hosts) }
                    unrepresentable.append(key.name)
                    room -= NamesSize.size(of: key.name)
                }
                guard entries.size <= room else {
                    throw ContractError(tooLargeDomain: domain, on: hosts)
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

    /// Writes the reply of `ListQuotas`.
    ///
    /// - Parameters:
    ///   - limit: How many rows there may be.
    ///   - percentage: From how much of a bound on a row is listed.
    ///   - report: Calculates the rows from the totals of all domains.
    func writeQuotas(
        atMost limit: Int, from percentage: UInt32,
        of report: ([Domain: KeyTotals]) -> [QuotaUse], to reply: inout MessageWriter
    ) throws {
        let uses = try report(view.totals()).filter { $0.percentage >= Double(percentage) }
            .sorted { ($1.percentage, $0.name) < ($0.percentage, $1.name) }.prefix(limit)
        let rows = uses.map { use -> Contract.ListQuotas.Row in
            (
                use.name, use.bound.rawValue, UInt64(clamping: use.used),
                UInt64(clamping: use.limit)
            )
        }
        try Contract.ListQuotas.writeReply(rows, to: &reply)
    }

    /// Writes the reply of `GetChanges`.
    func writeChanges(
        of domain: Domain, since generation: Generation?, to reply: inout MessageWriter
    ) throws {
        let changes = try view.changes(of: domain, since: generation)
        var room = ContractLimits.maximumBulkSize
        let selection = BulkSelection(of: changes.changed, room: &room)
        let roomForNames = ContractLimits.maximumReplySize - 2 * ContractLimits.maximumBulkSize
        let changed = changes.changed.map(\.key.name)
        var removed = changes.removed.map(\.name)
        // The whole domain is a good answer without its removals, too.
        if !changes.isComplete, !NamesSize.fits(changed + removed, room: roomForNames) {
            removed = []
        }
        try NamesSize.check(changed + removed, room: roomForNames)
        var damaged: [Key] = []
        try Contract.GetChanges.writeReply(
            removed: removed, generation: view.generation.rawValue,
            isComplete: changes.isComplete, to: &reply
        ) {
            damaged = try write(selection.sent, of: domain, to: &$0)
        } large: {
            (selection.large + damaged).map(\.name)
        }
    }

    /// Writes the reply of `GetTimes`.
    func writeTimes(
        of keys: [Key], in domain: Domain, to reply: inout MessageWriter
    ) throws {
        let times = try view.changeTimes(of: keys, in: domain)
        try NamesSize.check(
            times.map(\.key.name),
            room: ContractLimits.maximumReplySize - times.count * NamesSize.numbersOfTime)
        try Contract.GetTimes.writeReply(
            times.lazy.map { ($0.key.name, $0.generation.rawValue, $0.time) }, to: &reply)
    }

    /// Writes the reply of `MeasureDomain`.
    ///
    /// Only the sizes of values are read.
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

    /// A domain that a client attaches: the domain as the caller spelled it, whether it is worth reading,
    /// and the keys and prefixes that the administrator has locked.
    struct Attached {
        let spelling: String
        let domain: Domain
        let mayHaveKeys: Bool
        let locked: [String]
    }

    /// Writes the reply of `Attach` or `Follow`.
    func write(
        _ domains: [Attached], page: FileDescriptor, to reply: inout MessageWriter
    ) throws {
        try write(domains, page: page, as: Contract.Attach.self, to: &reply) {
            keys, domain, array in
            try self.write(keys, of: domain, to: &array)
        }
    }

    /// Writes the reply of `AttachValues` or `FollowValues`.
    func writeValues(
        _ domains: [Attached], page: FileDescriptor, to reply: inout MessageWriter
    ) throws {
        // Small archives may be very large as values. What exceeds the budget is only named.
        var budget = ValueBudget.archive
        try write(domains, page: page, as: Contract.AttachValues.self, to: &reply) {
            keys, domain, array in
            try self.writeValues(keys, of: domain, budget: &budget, to: &array)
        }
    }

    /// - Parameter writeEntries: Writes the entries of these keys, and returns the keys that it has
    ///   left out.
    private func write<Form: AttachCall>(
        _ domains: [Attached], page: FileDescriptor, as form: Form.Type,
        to reply: inout MessageWriter,
        writeEntries: ([Key], Domain, inout MessageWriter) throws -> [Key]
    ) throws {
        var room = ContractLimits.maximumBulkSize
        try form.writeReply(page, at: view.generation.rawValue, to: &reply) { array in
            for attached in domains {
                let domain = attached.domain
                let entries = attached.mayHaveKeys ? try view.summaries(of: domain) : []
                let selection = BulkSelection(of: entries, room: &room)
                var leftOut: [Key] = []
                try form.writeDomain(
                    attached.spelling, slot: Database.counterSlot(of: domain),
                    locked: attached.locked, to: &array
                ) {
                    leftOut = try writeEntries(selection.sent, domain, &$0)
                } large: {
                    (selection.large + leftOut).map(\.name)
                }
                guard array.size <= ContractLimits.maximumReplySize else {
                    throw ContractError(tooLargeDomains: domains.count)
                }
            }
        }
    }

    /// Writes the entries of an `a{say}`.
    ///
    /// - Returns: The keys of the damaged values, which are left out.
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

    /// Writes the entries of an `a{sv}`.
    ///
    /// - Parameter budget: The limits for all values. When it is spent, the other keys are left out.
    /// - Returns: The keys that are left out.
    private func writeValues(
        _ keys: [Key], of domain: Domain, budget: inout ValueBudget,
        to entries: inout MessageWriter
    ) throws -> [Key] {
        var leftOut: [Key] = []
        for key in keys {
            let value =
                budget.isSpent
                ? nil
                : try value(
                    of: key, in: domain, inside: Contract.AttachValues.containers, budget: &budget)
            if let value {
                try entries.writeVariant(value, forKey: key.name)
            } else {
                leftOut.append(key)
            }
        }
        return leftOut
    }

    /// The value of a key as a D-Bus value; nil if it is damaged, if D-Bus cannot carry it at this
    /// depth, or if the budget is spent.
    ///
    /// - Parameters:
    ///   - containers: How many containers of the message the value will be inside.
    ///   - budget: The limits for all archives. It is reduced by what this one needs.
    private func value(
        of key: Key, in domain: Domain, inside containers: Int, budget: inout ValueBudget
    ) throws -> Value? {
        guard let stored = try intactValue(of: key, in: domain) else { return nil }
        do {
            return try VariantForm.value(
                validating: stored.archive, inside: containers, budget: &budget)
        } catch is ContractError, is ArchiveError {
            return nil
        }
    }

    /// The value of a key; nil if it is damaged.
    func intactValue(of key: Key, in domain: Domain) throws(StorageError) -> StoredValue? {
        do throws(StorageError) {
            return try view.value(domain, key)
        } catch {
            guard error.code == .damagedRow else { throw error }
            damage.append(error)
            return nil
        }
    }
}

/// Selects the entries whose archives are part of a reply.
///
/// Of the others, the reply only has the names.
///
/// Only the names are sent of entries above the size limit for one entry, and of all entries after
/// the room is used up. The caller can get them one by one.
struct BulkSelection {
    /// The keys whose archives are sent, in the given order.
    private(set) var sent: [Key] = []
    /// The keys of which only the names are sent, in the given order.
    private(set) var large: [Key] = []

    /// Makes the selection.
    ///
    /// - Parameter room: How many bytes of archives may be sent. It is reduced by those that are
    ///   sent, and becomes 0 at the first entry that does not fit.
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
