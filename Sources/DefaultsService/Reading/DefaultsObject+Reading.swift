import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import KeyedArchive

extension DefaultsObject {
    func get(_ call: MethodCall) throws {
        let stored = try storedValue(
            call.arguments { try Contract.Get.readArguments(from: &$0, by: names) })
        try call.reply {
            try Contract.Get.writeReply((stored.archive, stored.generation.rawValue), to: &$0)
        }
    }

    func getValue(_ call: MethodCall) throws {
        let stored = try storedValue(
            call.arguments { try Contract.GetValue.readArguments(from: &$0, by: names) })
        try reply(to: call, with: stored) {
            try Contract.GetValue.writeReply(($0, stored.generation.rawValue), to: &$1)
        }
    }

    /// Makes a D-Bus value of what is stored, and answers with what a closure writes of it.
    func reply(
        to call: MethodCall, with stored: StoredValue,
        _ write: @escaping @Sendable (Value, inout MessageWriter) throws -> Void
    ) throws {
        guard stored.archive.count > LongCalls.fewBytes, call.isReplyExpected else {
            let value = try Self.value(of: stored)
            return try call.reply { try write(value, &$0) }
        }
        try carryOutAside(call, in: .conversions) { detached in
            let value = try Self.value(of: stored)
            try detached.write { try write(value, &$0) }
        } then: { _, _, detached, _ in
            try detached.sendReply()
        }
    }

    /// What is stored as a D-Bus value.
    private static func value(of stored: StoredValue) throws -> Value {
        do {
            return try VariantForm.value(of: KeyedArchive(validating: stored.archive))
        } catch {
            // A few hundred bytes of shared objects can stand for millions of values.
            Memory.returnFreePages()
            throw error
        }
    }

    func listDomains(_ call: MethodCall) throws {
        let domains = try database.domains().map { $0.spelling(on: hosts) }
        try NamesSize.check(domains, room: ContractLimits.maximumReplySize)
        noteWork(onEntries: domains.count)
        try call.reply { try Contract.ListDomains.writeReply(domains, to: &$0) }
    }

    /// Reads what is stored for a key.
    private func storedValue(_ arguments: (domain: Domain, key: Key)) throws -> StoredValue {
        let (domain, key) = arguments
        guard let stored = try database.value(domain, key) else {
            throw DefaultsError(noKey: key, in: domain, on: hosts)
        }
        return stored
    }

    /// How this service takes the names in calls.
    var names: CheckedNames { CheckedNames(hosts: hosts) }
}
