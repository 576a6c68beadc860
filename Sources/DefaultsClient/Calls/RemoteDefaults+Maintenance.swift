import DBus
import DefaultsProtocol

/// Statistics of the daemon, for the project's own tool.
public struct ServiceFacts: Sendable, Hashable {
    /// The file system that the database is on.
    public struct FileSystem: Sendable, Hashable {
        /// Its type, as mount(8) names it.
        public let name: String
        /// Whether other machines reach the same files.
        public let isNetwork: Bool
    }

    /// The replacement of a damaged database by a new one.
    public struct Repair: Sendable, Hashable {
        /// When that was, in seconds since 1970.
        public let time: UInt64
        /// What was recovered and what was lost, in sentences.
        public let report: String
    }

    /// What the daemon has done since its start.
    public struct Activity: Sendable, Hashable {
        /// How long it has run, in seconds.
        public let uptime: UInt64
        /// How many calls it has answered.
        public let calls: UInt64
        /// How many changes it has made.
        public let changes: UInt64
        /// How often it has written them to disk.
        public let flushes: UInt64
    }

    /// What the daemon has done since its start; nil if it does not report that.
    public let activity: Activity?
    /// The size of the database's file in bytes; nil if the daemon does not report it.
    public let databaseSize: UInt64?
    /// The file system that the database is on; nil if the daemon does not report it.
    public let fileSystem: FileSystem?
    /// The last repair; nil if there was none.
    public let lastRepair: Repair?
}

extension RemoteDefaults {
    /// Asks for statistics, which are not part of the contract.
    ///
    /// - Returns: Nil if the daemon does not give them: it is an older one, or this program is in a
    ///   sandbox.
    public func facts() async throws -> ServiceFacts? {
        try await ifTold { ServiceFacts(try await self.call(Contract.GetStatistics.self, ())) }
    }
}

extension ServiceFacts {
    fileprivate init(_ facts: Contract.GetStatistics.Reply) {
        func count(_ fact: Contract.GetStatistics.Fact) -> UInt64? {
            if case .uint64(let count) = facts[fact] { count } else { nil }
        }
        databaseSize = count(.databaseBytes)
        if let uptime = count(.uptime), let calls = count(.calls),
            let changes = count(.changes), let flushes = count(.flushes)
        {
            activity = Activity(uptime: uptime, calls: calls, changes: changes, flushes: flushes)
        } else {
            activity = nil
        }
        if case .string(let name) = facts[.fileSystem],
            case .boolean(let isNetwork) = facts[.isNetworkFileSystem]
        {
            fileSystem = FileSystem(name: name, isNetwork: isNetwork)
        } else {
            fileSystem = nil
        }
        if case .string(let report) = facts[.lastRepair], !report.isEmpty,
            case .uint64(let time) = facts[.lastRepairTime]
        {
            lastRepair = Repair(time: time, report: report)
        } else {
            lastRepair = nil
        }
    }
}

/// The state of the daemon.
public struct ServiceStatus: Sendable, Hashable {
    /// The version of the daemon.
    public let version: String
    /// The file that holds the database.
    public let databasePath: String
    /// The generation of the last change.
    public let generation: UInt64
    /// The generation up to which every change is on disk.
    public let durableGeneration: UInt64
    /// The generation from which on the database has a record of all changes, except for removals that
    /// a domain has forgotten; 0 if the daemon is an older one.
    ///
    /// It increases after a power cut, and if a damaged database was repaired or replaced by a backup.
    public let recordStart: UInt64
    /// How many acknowledged changes are not on disk yet.
    public let pendingChanges: UInt32
    /// Why the disk fails; empty if it does not.
    public let storageError: String
    /// The largest value, in bytes.
    public let maximumValueSize: UInt64
}

extension RemoteDefaults {
    /// Asks the daemon for all its properties at once.
    ///
    /// - Parameter timeout: How long to wait for the answer.
    public func status(within timeout: Duration = .seconds(25)) async throws -> ServiceStatus {
        try ServiceStatus(await call(Contract.GetProperties.self, (), timeout: timeout))
    }
}

extension ServiceStatus {
    fileprivate init(_ values: Contract.GetProperties.Reply) throws {
        version = try values.string(Contract.version)
        databasePath = try values.string(Contract.databasePath)
        generation = try values.uint64(Contract.currentGeneration)
        durableGeneration = try values.uint64(Contract.durableGeneration)
        recordStart = (try? values.uint64(Contract.recordStart)) ?? 0
        pendingChanges = try values.uint32(Contract.pendingChanges)
        storageError = try values.string(Contract.storageError)
        maximumValueSize = try values.uint64(Contract.maximumValueSize)
    }
}

/// The program that has made a change.
public struct ChangeWriter: Sendable, Hashable {
    /// The path of the program.
    public let executable: String
    /// The number of the process, which may have ended since.
    public let process: UInt32
}

/// The size of a domain.
public struct DomainMeasure: Sendable, Hashable {
    /// How many keys have values.
    public let keys: UInt64
    /// The bytes of the keys' names.
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

/// How much of a bound a domain, an application or a program uses.
public struct RemoteQuota: Sendable, Hashable {
    /// Who uses it; `*` for all programs together.
    public let name: String
    /// What is bounded: `DomainKeys`, `DomainBytes`, `Keys`, `Bytes`, `Domains`, `AllDomains` or
    /// `BytesPerMinute`.
    public let bound: String
    /// What is used.
    public let used: UInt64
    /// The bound.
    public let limit: UInt64

    /// The part that is used, in per cent.
    public var percentage: Int {
        limit > 0 ? Int(clamping: Int64(min(Double(used) / Double(limit), 1e6) * 100)) : 100
    }
}

/// Writers and sizes; the interface is for the project's own tool.
extension RemoteDefaults {
    /// Who uses much of what may be stored, the nearest to its bound first.
    ///
    /// - Parameter percentage: From which part of a bound on.
    /// - Returns: Nil if the daemon does not tell: it is an older one, or this program is in a
    ///   sandbox.
    public func quotas(from percentage: UInt32) async throws -> [RemoteQuota]? {
        try await ifTold {
            try await self.call(Contract.ListQuotas.self, percentage).map {
                RemoteQuota(name: $0.name, bound: $0.bound, used: $0.used, limit: $0.limit)
            }
        }
    }

    /// What a method of the maintenance interface returns; nil if it does not exist or is not
    /// allowed.
    private func ifTold<Result>(_ ask: () async throws -> Result) async throws -> Result? {
        do {
            return try await ask()
        } catch {
            switch error.ofContract {
            case let error as DBusError
            where error.name == .unknownMethod || error.name == .unknownInterface:
                return nil
            case let error as ContractError where error.code == .accessDenied: return nil
            default: throw error
            }
        }
    }

    /// The program that has made the change of a generation; nil if the daemon does not know it.
    public func writer(of generation: UInt64) async throws -> ChangeWriter? {
        let (executable, process) = try await call(Contract.FindWriter.self, generation)
        return executable.isEmpty ? nil : ChangeWriter(executable: executable, process: process)
    }

    /// How many changes each program has made since the daemon's start, sorted from most to fewest.
    ///
    /// The empty name stands for unknown programs.
    public func writers() async throws -> [(executable: String, changes: UInt64)] {
        try await call(Contract.ListWriters.self, ()).sorted {
            ($1.changes, $0.executable) < ($0.changes, $1.executable)
        }
    }

    /// Measures a domain.
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

/// A machine that the database knows.
public struct RemoteHost: Sendable, Hashable {
    /// Its machine ID.
    public let id: String
    /// Its host name; empty if that is not known.
    public let name: String

    /// The name up to its first dot, as people often say it.
    fileprivate var shortName: Substring { name.prefix { $0 != "." } }
}

extension [RemoteHost] {
    /// The machines that a name or an ID means to the service.
    ///
    /// The service refuses a name that means several machines. If a name means none, the service stores
    /// values under the name itself.
    public func named(_ name: String) -> [RemoteHost] {
        if let own = first, own.id == name || own.name == name { return [own] }
        if let machine = first(where: { $0.id == name && !$0.name.isEmpty }) { return [machine] }
        if let own = first, own.shortName == name { return [own] }
        let named = filter { $0.name == name }
        return named.isEmpty ? filter { $0.shortName == name } : named
    }
}

/// The machines that share the database; the interface is for the project's own tool.
extension RemoteDefaults {
    /// The machines that the database knows, the service's own first.
    public func hosts() async throws -> [RemoteHost] {
        try await call(Contract.ListHosts.self, ()).map { RemoteHost(id: $0.id, name: $0.name) }
    }
}

/// A file of the administrator or the vendor, as the daemon has read it.
public struct RemoteLayerFile: Sendable, Hashable {
    /// ``DefaultsLayer/managed`` or ``DefaultsLayer/system``.
    public let layer: DefaultsLayer
    /// The domain that it is for, without a suffix; empty if the file's name is not that of a domain.
    public let domain: String
    /// Its path.
    public let path: String
    /// What is wrong with it; nil if it is valid.
    public let problem: String?

    /// The domain with the suffix of the layer, as calls take it; nil if it is for no domain.
    public var domainWithLayer: String? { domain.isEmpty ? nil : layer.domain(of: domain) }
}

/// What an administrator has locked.
public struct RemoteLock: Sendable, Hashable {
    /// A key, or the beginning of keys with a `*` after it.
    public let pattern: String
    /// The file that locks it.
    public let file: String
}

/// The files of layers; the interface is for the project's own tool.
extension RemoteDefaults {
    /// The files of the layers `managed` and `system`, the weakest first within a domain's layer.
    public func layerFiles() async throws -> [RemoteLayerFile] {
        try await call(Contract.ListLayerFiles.self, ()).map {
            RemoteLayerFile(
                layer: DefaultsLayer(rawValue: $0.layer), domain: $0.domain, path: $0.path,
                problem: $0.problem.isEmpty ? nil : $0.problem)
        }
    }

    /// What is locked in a domain: first by its own files, then by those of NSGlobalDomain.
    ///
    /// - Parameter domain: A domain, without a suffix.
    public func locks(of domain: String) async throws -> [RemoteLock] {
        try await call(Contract.ListLocks.self, domain).map {
            RemoteLock(pattern: $0.pattern, file: $0.path)
        }
    }
}
