import DefaultsProtocol

/// Who has made a change.
public struct ChangeWriter: Sendable, Hashable {
    /// The file of the program.
    public let executable: String
    /// The process, which may have ended since.
    public let process: UInt32
}

/// The size of a domain.
public struct DomainMeasure: Sendable, Hashable {
    /// How many keys have values.
    public let keys: UInt64
    /// The bytes of the keys themselves.
    public let nameBytes: UInt64
    /// The bytes of all archives.
    public let archiveBytes: UInt64
    /// The largest archives with their sizes in bytes, the largest first.
    public let largest: [Entry]

    /// One key with the size of its archive.
    public struct Entry: Sendable, Hashable {
        /// The key.
        public let key: String
        /// The size in bytes.
        public let size: UInt64
    }
}

/// Who writes and how much there is, by the interface that is for the project's own tool.
extension RemoteDefaults {
    /// Who has made the change of a generation; nil where the daemon does not know.
    public func writer(of generation: UInt64) async throws -> ChangeWriter? {
        let (executable, process) = try await call(Contract.FindWriter.self, generation)
        return executable.isEmpty ? nil : ChangeWriter(executable: executable, process: process)
    }

    /// How many changes each program has made since the daemon's start, the most first; the empty
    /// name stands for those that are not known.
    public func writers() async throws -> [(executable: String, changes: UInt64)] {
        try await call(Contract.ListWriters.self, ()).sorted {
            ($1.changes, $0.executable) < ($0.changes, $1.executable)
        }
    }

    /// The size of a domain, with its largest values.
    ///
    /// - Parameters:
    ///   - domain: The domain, with the suffix of a layer.
    ///   - largest: How many of the largest values to name, up to 1000.
    public func measure(_ domain: String, largest: UInt32) async throws -> DomainMeasure {
        let measure = try await call(Contract.MeasureDomain.self, (domain, largest))
        return DomainMeasure(
            keys: measure.keys, nameBytes: measure.nameBytes, archiveBytes: measure.archiveBytes,
            largest: measure.largest.map { DomainMeasure.Entry(key: $0.key, size: $0.size) })
    }
}
