import DBus
import DefaultsProtocol
public import KeyedArchive

/// Changes of several keys, and whole domains.
extension RemoteDefaults {
    /// A large transaction is validated archive by archive, and may have to wait for the disk.
    private static let patience = Duration.seconds(300)

    /// Makes all changes of a transaction, or none, and gives the generation of the change.
    ///
    /// - Throws: `DefaultsError` with `conflict` where an expected generation does not hold, and with
    ///   `invalidArguments` where a key is named twice.
    @discardableResult
    public func apply(
        _ transaction: DefaultsTransaction, in domain: String
    ) async throws -> UInt64 {
        try await call(Contract.apply, timeout: Self.patience) {
            try $0.writeString(domain)
            try $0.writeDictionary(key: "s", value: "ay") {
                for (key, archive) in transaction.values {
                    try $0.writeEntry {
                        try $0.writeString(key)
                        try $0.writeBytes(archive.bytes)
                    }
                }
            }
            try $0.writeStrings(transaction.removals)
            try $0.writeDictionary(key: "s", value: "t") {
                for (key, generation) in transaction.expected {
                    try $0.writeEntry {
                        try $0.writeString(key)
                        try $0.writeUInt64(generation)
                    }
                }
            }
            try transaction.writeOptions(to: &$0)
        } read: {
            try $0.readUInt64()
        }
    }

    /// Gives a key another name, and gives the generation of the change.
    ///
    /// - Throws: `DefaultsError` with `notFound` where there is no such key, and with `conflict` where
    ///   the new name is taken.
    @discardableResult
    public func rename(
        _ key: String, to newKey: String, in domain: String
    ) async throws -> UInt64 {
        try await call(Contract.rename) {
            try $0.writeString(domain)
            try $0.writeString(key)
            try $0.writeString(newKey)
        } read: {
            try $0.readUInt64()
        }
    }

    /// Removes every key of a domain in one change, and gives its generation.
    ///
    /// A domain that is not there is no error, and its removal no change.
    @discardableResult
    public func removeDomain(_ domain: String) async throws -> UInt64 {
        try await call(Contract.removeDomain, timeout: Self.patience) {
            try $0.writeString(domain)
        } read: {
            try $0.readUInt64()
        }
    }

    /// All keys of a domain with their archives, by key; none for a domain that is not there.
    ///
    /// A domain that one reply can hold, 32 MiB, is read at one moment. Of a larger one the values
    /// that the service only names are read one after the other, and what changes meanwhile is as it
    /// is then.
    ///
    /// - Returns: The entries in the order of their keys, by code point, and the generation of the
    ///   domain when the reading began.
    public func entries(
        in domain: String
    ) async throws -> (entries: [DefaultsEntry], generation: UInt64) {
        var (bytes, large, generation) = try await sentEntries(in: domain)
        for key in large {
            do {
                bytes.append((key, try await archive(forKey: key, in: domain).archive.bytes))
            } catch let error as DefaultsError where error.code == .notFound {
                // It went away since it was named, so it is not of the domain any more.
                continue
            }
        }
        let entries = try bytes.map { key, archive in
            DefaultsEntry(key: key, archive: try KeyedArchive(validating: archive))
        }
        return (entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }, generation)
    }

    private typealias SentEntries = (
        entries: [(String, [UInt8])], large: [String], generation: UInt64
    )

    /// The whole domain in one reply where it fits, else what is sent of it, and the other keys.
    private func sentEntries(in domain: String) async throws -> SentEntries {
        do {
            return try await call(Contract.getAll, timeout: Self.patience) {
                try $0.writeString(domain)
            } read: {
                (try $0.readArchives(), [], try $0.readUInt64())
            }
        } catch let error as DefaultsError where error.code == .tooLarge {
            return try await changesFromTheBeginning(of: domain)
        }
    }

    private func changesFromTheBeginning(of domain: String) async throws -> SentEntries {
        try await call(Contract.getChanges, timeout: Self.patience) {
            try $0.writeString(domain)
            try $0.writeUInt64(0)
        } read: {
            let (changed, large) = (try $0.readArchives(), try $0.readStrings())
            // What was removed is of no interest to one who has nothing.
            _ = try $0.readStrings()
            let generation = try $0.readUInt64()
            _ = try $0.readBool()
            return (changed, large, generation)
        }
    }
}

/// A key of a domain with its value.
public struct DefaultsEntry: Sendable {
    /// The key.
    public let key: String
    /// Its value.
    public let archive: KeyedArchive

    /// Makes an entry.
    public init(key: String, archive: KeyedArchive) {
        self.key = key
        self.archive = archive
    }
}

extension DefaultsTransaction {
    /// Writes the `a{sv}` of options.
    fileprivate func writeOptions(to writer: inout MessageWriter) throws {
        try writer.writeDictionary(key: "s", value: "v") {
            if isDurable {
                try $0.writeEntry {
                    try $0.writeString("durable")
                    try $0.writeVariant(of: "b") { try $0.writeBool(true) }
                }
            }
            if let token {
                try $0.writeEntry {
                    try $0.writeString("token")
                    try $0.writeVariant(of: "s") { try $0.writeString(token) }
                }
            }
        }
    }
}

extension MessageReader {
    /// Reads an `a{say}`.
    mutating func readArchives() throws -> [(String, [UInt8])] {
        try readDictionary { (try $0.readString(), try $0.readBytes()) }
    }
}
