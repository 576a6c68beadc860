import DBus
import DefaultsProtocol

/// What the daemon says of itself to the project's own tool.
public struct ServiceFacts: Sendable, Hashable {
    /// The file system that the database is on.
    public struct FileSystem: Sendable, Hashable {
        /// Its name, as mount(8) has it.
        public let name: String
        /// Whether other machines reach the same files.
        public let isNetwork: Bool
    }

    /// A database that was damaged, and was made anew.
    public struct Rescue: Sendable, Hashable {
        /// When that was, in seconds since 1970.
        public let time: UInt64
        /// What was kept and what was lost, in sentences.
        public let report: String
    }

    /// What the daemon has done since its start.
    public struct Activity: Sendable, Hashable {
        /// For how many seconds it has run.
        public let uptime: UInt64
        /// The calls that it has answered.
        public let calls: UInt64
        /// The changes that it has made.
        public let changes: UInt64
        /// How often it has written them to disk.
        public let flushes: UInt64
    }

    /// What the daemon has done since its start; nil where it does not say.
    public let activity: Activity?
    /// The size of the database's file in bytes; nil where the daemon does not say.
    public let databaseSize: UInt64?
    /// The file system that the database is on; nil where the daemon does not say.
    public let fileSystem: FileSystem?
    /// The last rescue; nil where there was none.
    public let lastRescue: Rescue?
}

extension RemoteDefaults {
    /// Asks for what is no part of the contract; nil where the daemon does not say: it is an older
    /// one, or this program is in a sandbox.
    public func facts() async throws -> ServiceFacts? {
        do {
            return ServiceFacts(try await call(Contract.GetStatistics.self, ()))
        } catch let error as DBusError
            where error.name == .unknownMethod || error.name == .unknownInterface
        {
            return nil
        } catch let error as DefaultsError where error.code == .accessDenied {
            return nil
        }
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
        if case .string(let report) = facts[.lastRescue], !report.isEmpty,
            case .uint64(let time) = facts[.lastRescueTime]
        {
            lastRescue = Rescue(time: time, report: report)
        } else {
            lastRescue = nil
        }
    }
}
