import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

extension DefaultsObject {
    func get(_ call: MethodCall) throws {
        let stored = try storedValue(of: call)
        try call.reply {
            try $0.writeBytes(stored.archive)
            try $0.writeUInt64(stored.generation.rawValue)
        }
    }

    func getValue(_ call: MethodCall) throws {
        let stored = try storedValue(of: call)
        try reply(to: call, with: stored) { try $0.writeUInt64(stored.generation.rawValue) }
    }

    /// Answers with what is stored as a D-Bus value, and with what a closure writes after it.
    func reply(
        to call: MethodCall, with stored: StoredValue,
        _ write: @escaping @Sendable (inout MessageWriter) throws -> Void
    ) throws {
        guard stored.archive.count > LongCalls.fewBytes, call.isReplyExpected else {
            let value = try Self.value(of: stored)
            return try call.reply {
                try $0.writeValue(.variant(value))
                try write(&$0)
            }
        }
        try carryOutAside(call, in: .conversions) { detached in
            let value = try Self.value(of: stored)
            try detached.write {
                try $0.writeValue(.variant(value))
                try write(&$0)
            }
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
        let isLong = try database.view.mayHaveMoreDomains(than: LongCalls.fewKeys)
        try answer(call, isLong: isLong) { try $0.writeDomains(to: &$1) }
    }

    /// Reads the arguments domain and key and what is stored there.
    private func storedValue(of call: MethodCall) throws -> StoredValue {
        let (domain, key) = try call.arguments { arguments in
            (try self.domain(from: &arguments), try Key(arguments.readString()))
        }
        guard let stored = try database.value(domain, key) else {
            throw DefaultsError(noKey: key, in: domain, on: hosts)
        }
        return stored
    }

    func domain(from arguments: inout MessageReader) throws -> Domain {
        try Domain(arguments.readString(), on: hosts)
    }
}
