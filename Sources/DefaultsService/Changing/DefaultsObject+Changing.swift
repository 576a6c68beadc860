import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

/// Changes of one key.
extension DefaultsObject {
    func set(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            let (domain, key, bytes) = try Contract.Set.readArguments(from: &arguments, by: names)
            return (domain: domain, key: key, archive: try KeyedArchive(validating: bytes))
        } then: {
            try $0.set($2.domain, $2.key, to: $2.archive, for: $1)
        }
    }

    func setValue(_ call: MethodCall) throws {
        try prepare(call) {
            try Contract.SetValue.readArguments(from: &$0, by: $1)
        } then: {
            try $0.set($2.domain, $2.key, to: $2.archive, for: $1)
        }
    }

    /// Reads the arguments of a change and makes archives of them, on another thread where they are
    /// large, and goes on with that here.
    func prepare<Arguments: Sendable>(
        _ call: MethodCall,
        _ read: @escaping @Sendable (inout MessageReader, CheckedNames) throws -> Arguments,
        then change:
            @escaping @Sendable (isolated DefaultsObject, MethodCall, Arguments) throws -> Void
    ) throws {
        let names = names
        guard call.size > LongCalls.fewBytes else {
            return try change(self, call, call.arguments { try read(&$0, names) })
        }
        try carryOutAside(call, in: .conversions) { detached in
            try detached.arguments { try read(&$0, names) }
        } then: { object, call, _, arguments in
            try change(object, call, arguments)
        }
    }

    func remove(_ call: MethodCall) throws {
        let (domain, key) = try call.arguments {
            try Contract.Remove.readArguments(from: &$0, by: names)
        }
        try checkWritable(domain, [key])
        guard try database.generation(domain, key) != nil else {
            return try conclude(call, at: database.generation)
        }
        let change = ChangeProposal(domain: domain, removed: [key], origin: origin(of: call))
        try conclude(call, with: commit(change))
    }

    func rename(_ call: MethodCall) throws {
        let (domain, old, new) = try call.arguments {
            try Contract.Rename.readArguments(from: &$0, by: names)
        }
        try checkWritable(domain, [old, new])
        guard let stored = try database.value(domain, old) else {
            throw DefaultsError(noKey: old, in: domain, on: hosts)
        }
        guard try database.generation(domain, new) == nil else {
            throw DefaultsError(renaming: old, to: new, in: domain, on: hosts)
        }
        let change = ChangeProposal(
            domain: domain, set: [.init(key: new, archive: stored.archive)], removed: [old],
            origin: origin(of: call))
        try conclude(call, with: commit(change))
    }

    private func set(
        _ domain: Domain, _ key: Key, to archive: KeyedArchive, for call: MethodCall
    ) throws {
        try checkWritable(domain, [key])
        guard try differs(domain, key, from: archive) else {
            return try conclude(call, at: database.generation)
        }
        let change = ChangeProposal(
            domain: domain, set: [.init(key: key, archive: archive.bytes)], origin: origin(of: call)
        )
        try conclude(call, with: commit(change))
    }
}

/// What every change has in common: journal, overlay and page, then the reply, then the signal,
/// then some time later the disk (invariant 2).
extension DefaultsObject {
    /// The name of a change's writer on the bus; on a connection without a bus nobody has one.
    ///
    /// While the caller waits its program can be learned.
    func origin(of call: MethodCall) -> String {
        let origin = call.sender?.string ?? ""
        writers.meet(origin, process: call.credentials?.processID)
        return origin
    }

    /// How large archives are at most that are compared by their graphs of objects, in bytes: 256 KiB
    /// take some hundredths of a second.
    private static let largestCompared = 256 << 10

    /// Whether the key has another value than this, or none, by the rule "The same value".
    func differs(_ domain: Domain, _ key: Key, from archive: KeyedArchive) throws -> Bool {
        let stored: StoredValue?
        do throws(StorageError) {
            stored = try database.value(domain, key)
        } catch {
            // What cannot be read is certainly not the same, and this change mends it.
            guard error.code == .damagedRow else { throw error }
            return true
        }
        guard let stored else { return true }
        if stored.archive == archive.bytes { return false }
        if max(stored.archive.count, archive.bytes.count) > Self.largestCompared { return true }
        // One that an earlier version took and this one would not is mended by any other.
        guard let current = try? KeyedArchive(validating: stored.archive) else { return true }
        return !current.isSame(as: archive)
    }
}
