import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive
import Logging

/// Reads of whole domains.
///
/// A value that is damaged costs the caller that value: it is left out, or named where names are.
extension DefaultsObject {
    /// What an entry takes in a message beside its key and its archive, at most: two lengths, a NUL
    /// and padding.
    private static let entryOverhead = 24

    func getAll(_ call: MethodCall) throws {
        let domain = try call.arguments { try self.domain(from: &$0) }
        let entries = try database.summaries(of: domain)
        let size = entries.reduce(0) { $0 + Self.entryOverhead + $1.key.length + $1.size }
        guard size <= Limits.maximumReplySize else {
            throw DefaultsError(tooLargeDomain: domain, on: hosts)
        }
        noteWork(onEntries: entries.count)
        try call.reply {
            _ = try write(entries.map(\.key), of: domain, to: &$0)
            try $0.writeUInt64(database.generation.rawValue)
        }
    }

    func getAllValues(_ call: MethodCall) throws {
        let domain = try call.arguments { try self.domain(from: &$0) }
        let keys = try database.keys(of: domain)
        noteWork(onEntries: keys.count)
        try call.reply { reply in
            var unrepresentable: [String] = []
            var room = Limits.maximumReplySize
            var budget = ValueBudget.domain
            try reply.writeDictionary(key: "s", value: "v") { entries in
                for key in keys {
                    if let value = try value(of: key, in: domain, budget: &budget) {
                        try entries.writeEntry {
                            try $0.writeString(key.name)
                            try $0.writeValue(.variant(value))
                        }
                    } else {
                        unrepresentable.append(key.name)
                        room -= Self.size(ofName: key.name)
                    }
                    guard entries.size <= room else {
                        throw DefaultsError(tooLargeDomain: domain, on: hosts)
                    }
                }
            }
            try reply.writeStrings(unrepresentable)
            try reply.writeUInt64(database.generation.rawValue)
        }
    }

    func getChanges(_ call: MethodCall) throws {
        let (domain, since) = try call.arguments { arguments in
            (try self.domain(from: &arguments), Generation(rawValue: try arguments.readUInt64()))
        }
        let changes = try database.changes(of: domain, since: since)
        noteWork(onEntries: changes.changed.count + changes.removed.count)
        var room = Limits.maximumBulkSize
        let selection = BulkSelection(of: changes.changed, room: &room)
        try checkSize(
            ofNames: (changes.changed.map(\.key) + changes.removed).map(\.name),
            room: Limits.maximumReplySize - 2 * Limits.maximumBulkSize)
        try call.reply {
            let damaged = try write(selection.sent, of: domain, to: &$0)
            try $0.writeStrings((selection.large + damaged).map(\.name))
            try $0.writeStrings(changes.removed.map(\.name))
            try $0.writeUInt64(database.generation.rawValue)
            try $0.writeBool(changes.isComplete)
        }
    }

    /// Writes entries as an `a{say}`.
    ///
    /// - Returns: The keys whose values are damaged, which are left out.
    func write(
        _ keys: [Key], of domain: Domain, to writer: inout MessageWriter
    ) throws -> [Key] {
        var damaged: [Key] = []
        try writer.writeDictionary(key: "s", value: "ay") { entries in
            for key in keys {
                guard let stored = try intactValue(of: key, in: domain) else {
                    damaged.append(key)
                    continue
                }
                try entries.writeEntry {
                    try $0.writeString(key.name)
                    try $0.writeBytes(stored.archive)
                }
            }
        }
        return damaged
    }

    /// The value of a key as a D-Bus value; nil where it is damaged, or D-Bus cannot carry it there:
    /// inside an entry of an array.
    ///
    /// - Parameter budget: What may be made of all archives; lowered by what was made of this one.
    private func value(
        of key: Key, in domain: Domain, budget: inout ValueBudget
    ) throws -> Value? {
        guard let stored = try intactValue(of: key, in: domain) else { return nil }
        do {
            return try VariantForm.value(
                of: KeyedArchive(validating: stored.archive), inside: 3, budget: &budget)
        } catch is DefaultsError, is ArchiveError {
            if budget.isSpent { throw DefaultsError(tooLargeDomain: domain, on: hosts) }
            return nil
        }
    }

    /// The value of a key; nil where it is damaged, of which the log is told.
    private func intactValue(of key: Key, in domain: Domain) throws(StorageError) -> StoredValue? {
        do throws(StorageError) {
            return try database.value(domain, key)
        } catch {
            guard error.code == .damagedRow else { throw error }
            logger.warning("\(error)")
            mend(because: error.description)
            return nil
        }
    }
}
