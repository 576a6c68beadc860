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
        let value = try value(of: stored)
        try call.reply {
            try $0.writeValue(.variant(value))
            try $0.writeUInt64(stored.generation.rawValue)
        }
    }

    /// What is stored as a D-Bus value.
    func value(of stored: StoredValue) throws -> Value {
        do {
            return try VariantForm.value(of: KeyedArchive(validating: stored.archive))
        } catch {
            // A few hundred bytes of shared objects can stand for millions of values.
            Memory.returnFreePages()
            throw error
        }
    }

    func listDomains(_ call: MethodCall) throws {
        try reply(to: call, names: database.domains().map { $0.spelling(on: hosts) })
    }

    func listKeys(_ call: MethodCall) throws {
        let domain = try call.arguments { try self.domain(from: &$0) }
        try reply(to: call, names: database.keys(of: domain).map(\.name))
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

    private func reply(to call: MethodCall, names: [String]) throws {
        try checkSize(ofNames: names, room: Limits.maximumReplySize)
        noteWork(onEntries: names.count)
        try call.reply { try $0.writeStrings(names) }
    }

    func checkSize(ofNames names: [String], room: Int) throws {
        let size = names.reduce(0) { $0 + Self.size(ofName: $1) }
        guard size <= room else {
            throw DefaultsError(tooLargeNames: names.count, size, room: room)
        }
    }

    /// What a string takes in a message: its length, its bytes, a NUL, and padding to four.
    static func size(ofName name: String) -> Int { 8 + name.utf8.count }
}
