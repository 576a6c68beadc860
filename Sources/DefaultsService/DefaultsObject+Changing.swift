import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive
import Logging

extension DefaultsObject {
    func set(_ call: MethodCall) throws {
        let (domain, key, bytes) = try call.arguments { arguments in
            (
                try self.domain(from: &arguments), try Key(arguments.readString()),
                try self.archiveBytes(from: &arguments)
            )
        }
        try change(domain, key, to: KeyedArchive(validating: bytes), for: call)
    }

    func setValue(_ call: MethodCall) throws {
        let (domain, key, archive) = try call.arguments { arguments in
            (
                try self.domain(from: &arguments), try Key(arguments.readString()),
                try VariantForm.readArchive(from: &arguments)
            )
        }
        guard archive.bytes.count <= Limits.maximumValueSize else {
            throw DefaultsError(tooLargeArchive: archive.bytes.count)
        }
        try change(domain, key, to: archive, for: call)
    }

    func remove(_ call: MethodCall) throws {
        let (domain, key) = try call.arguments { arguments in
            (try self.domain(from: &arguments), try Key(arguments.readString()))
        }
        try change(domain, key, to: nil, for: call)
    }

    /// Reads an archive's bytes, its size first: one that is too large is not even copied.
    private func archiveBytes(from arguments: inout MessageReader) throws -> [UInt8] {
        try arguments.withBytes { bytes in
            guard bytes.count <= Limits.maximumValueSize else {
                throw DefaultsError(tooLargeArchive: bytes.count)
            }
            return bytes.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// The way of every change: journal and overlay, then the reply, then the signal, then some
    /// time later the disk (invariant 2).
    private func change(
        _ domain: Domain, _ key: Key, to archive: KeyedArchive?, for call: MethodCall
    ) throws {
        guard domain.layer.isWritable else { throw DefaultsError(lockedLayer: domain) }
        guard try differs(domain, key, from: archive) else {
            return try reply(to: call, database.generation)
        }
        let change = try commit(
            ChangeProposal(
                domain: domain,
                set: archive.map { [.init(key: key, archive: $0.bytes)] } ?? [],
                removed: archive == nil ? [key] : [], origin: call.sender?.string ?? ""))
        // Whatever becomes of the reply and the signal, the change is made and goes to disk.
        defer { noteChange() }
        try reply(to: call, change.generation)
        announce(change)
    }

    /// Commits a change; where the numbers for changes have run out, more are got by a flush.
    private func commit(_ proposal: ChangeProposal) throws(StorageError) -> ChangeSet {
        do throws(StorageError) {
            return try database.commit(proposal)
        } catch {
            if error.code == .generationsExhausted { flush() }
            throw error
        }
    }

    private func reply(to call: MethodCall, _ generation: Generation) throws {
        try call.reply { try $0.writeUInt64(generation.rawValue) }
    }

    /// Whether the key has another value than this, by the rule "The same value".
    private func differs(
        _ domain: Domain, _ key: Key, from archive: KeyedArchive?
    ) throws -> Bool {
        let stored: StoredValue?
        do throws(StorageError) {
            stored = try database.value(domain, key)
        } catch {
            // What cannot be read is certainly not the same, and this change mends it.
            guard error.code == .damagedRow else { throw error }
            return true
        }
        guard let archive, let stored else { return stored != nil || archive != nil }
        if stored.archive == archive.bytes { return false }
        // One that an earlier version took and this one would not is mended by any other.
        guard let current = try? KeyedArchive(validating: stored.archive) else { return true }
        return !current.isSame(as: archive)
    }

    /// Sends the signal.
    ///
    /// The caller has its reply already, so a failure is the log's business.
    private func announce(_ change: ChangeSet) {
        do {
            try connection.assumeIsolated { connection in
                try connection.emit(
                    Contract.objectPath, Contract.interface, Contract.changed.name
                ) { try change.writeSignal(to: &$0) }
            }
        } catch {
            logger.warning("Cannot tell of change \(change.generation) on the bus: \(error)")
        }
    }
}

extension ChangeSet {
    /// Writes the arguments of the signal Changed.
    fileprivate func writeSignal(to writer: inout MessageWriter) throws {
        try writer.writeString(domain.name)
        try writer.writeString(domain.layer.name)
        try writer.writeStrings(set.map(\.key.name))
        try writer.writeStrings(removed.map(\.name))
        try writer.writeUInt64(generation.rawValue)
        try writer.writeString(origin)
    }
}
