package import DBus

/// The interface for the project's own tool, at the same object.
///
/// It is not part of the contract and may change with every version. Programs in a sandbox may not
/// use it.
extension Contract {
    /// The name of the interface.
    package static let maintenanceInterface: InterfaceName = "org.defaultsd.Maintenance1"

    /// Returns facts about the daemon, each by its name.
    package enum GetStatistics: Call {
        package static let method = MethodDeclaration(
            "GetStatistics", of: maintenanceInterface, out: [Argument("statistics", "a{sv}")])

        /// The facts.
        ///
        /// The type of each is in parentheses.
        package enum Fact: String, Sendable {
            /// Seconds since the start (t).
            case uptime = "Uptime"
            /// Calls since the start (t).
            case calls = "Calls"
            /// Changes since the start (t).
            case changes = "Changes"
            /// Flushes since the start (t).
            case flushes = "Flushes"
            /// Flushes since the start that failed (t).
            case failedFlushes = "FailedFlushes"
            /// How often a damaged database was repaired since the start (t).
            case repairs = "Rescues"
            /// Size of the changes that are not on disk yet, in bytes (t).
            case pendingBytes = "PendingBytes"
            /// The signals that wait until the bus has said who is to get them (t).
            case waitingSignals = "WaitingSignals"
            /// Size of the journal, in bytes (t).
            case journalBytes = "JournalBytes"
            /// Size of the database, in bytes (t).
            case databaseBytes = "DatabaseBytes"
            /// Bytes that are reserved for removals on a full disk; 0 while they are used up (t).
            case reserveBytes = "ReserveBytes"
            /// The number of backups (u).
            case backups = "Backups"
            /// When the newest backup was made, in seconds since 1970; 0 if there is none (t).
            case newestBackup = "NewestBackup"
            /// What the last repair kept and what it lost; empty if there was none (s).
            case lastRepair = "LastRescue"
            /// Time of the last repair, in seconds since 1970 (t).
            case lastRepairTime = "LastRescueTime"
            /// The file system of the database (s).
            case fileSystem = "FileSystem"
            /// Whether that is a network file system (b).
            case isNetworkFileSystem = "IsNetworkFileSystem"
        }

        /// The facts that the service returned.
        ///
        /// Another version may have other facts.
        package struct Reply: Sendable {
            private let facts: [String: Value]

            fileprivate init(_ facts: [(String, Value)]) {
                self.facts = Dictionary(facts) { first, _ in first }
            }

            /// A fact; nil if the service did not return it.
            package subscript(_ fact: Fact) -> Value? { facts[fact.rawValue] }
        }

        package static func writeReply(
            _ facts: some Sequence<(Fact, Value)>, to writer: inout MessageWriter
        ) throws {
            try writer.writeVariants {
                for (fact, value) in facts { try $0.writeVariant(value, forKey: fact.rawValue) }
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            Reply(try reader.readVariants())
        }
    }

    /// Returns the program and the process that made the change of a generation.
    ///
    /// The name is empty if they are unknown. The daemon remembers the writers of its last 1024
    /// changes.
    package enum FindWriter: Call {
        package static let method = MethodDeclaration(
            "FindWriter", of: maintenanceInterface, in: [.generation],
            out: [Argument("executable", "s"), Argument("process", "u")])

        package typealias Arguments = UInt64
        package typealias Reply = (executable: String, process: UInt32)

        package static func writeArguments(
            _ generation: UInt64, to writer: inout MessageWriter
        ) throws {
            try writer.writeUInt64(generation)
        }

        package static func readArguments(from reader: inout MessageReader) throws -> UInt64 {
            try reader.readUInt64()
        }

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try writer.writeString(reply.executable)
            try writer.writeUInt32(reply.process)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readString(), try reader.readUInt32())
        }
    }

    /// Lists the programs that have made changes since the start of the daemon, each with the
    /// number of changes, in no particular order.
    ///
    /// An empty name means programs that the daemon does not know, or has no room for.
    package enum ListWriters: Call {
        package static let method = MethodDeclaration(
            "ListWriters", of: maintenanceInterface, out: [Argument("writers", "a(st)")])

        package typealias Row = (executable: String, changes: UInt64)
        package typealias Reply = [Row]

        package static func writeReply(
            _ writers: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(st)", writers) {
                try $0.writeString($1.executable)
                try $0.writeUInt64($1.changes)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures { (try $0.readString(), try $0.readUInt64()) }
        }
    }

    /// Lists who uses much of what it may store, the nearest to its bound first.
    ///
    /// The caller says from how many per cent on. The names are domains, applications, programs, or
    /// `*` for all programs together.
    package enum ListQuotas: Call {
        package static let method = MethodDeclaration(
            "ListQuotas", of: maintenanceInterface, in: [Argument("percentage", "u")],
            out: [Argument("quotas", "a(sstt)")])

        package typealias Arguments = UInt32
        package typealias Row = (name: String, bound: String, used: UInt64, limit: UInt64)
        package typealias Reply = [Row]

        package static func writeArguments(
            _ percentage: UInt32, to writer: inout MessageWriter
        ) throws {
            try writer.writeUInt32(percentage)
        }

        package static func readArguments(from reader: inout MessageReader) throws -> UInt32 {
            try reader.readUInt32()
        }

        package static func writeReply(
            _ rows: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(sstt)", rows) {
                try $0.writeString($1.name)
                try $0.writeString($1.bound)
                try $0.writeUInt64($1.used)
                try $0.writeUInt64($1.limit)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures {
                (
                    try $0.readString(), try $0.readString(), try $0.readUInt64(),
                    try $0.readUInt64()
                )
            }
        }
    }

    /// Measures a domain: the number of keys, the bytes of their names, the bytes of their
    /// archives, and its largest archives, the largest first.
    ///
    /// The caller says how many of these to list at most.
    package enum MeasureDomain: Call {
        package static let method = MethodDeclaration(
            "MeasureDomain", of: maintenanceInterface, in: [.domain, Argument("limit", "u")],
            out: [
                Argument("keys", "t"), Argument("name_bytes", "t"), Argument("archive_bytes", "t"),
                Argument("largest", "a(st)"),
            ])

        package typealias Arguments = (domain: String, limit: UInt32)
        package typealias Row = (key: String, size: UInt64)
        package typealias Reply = (
            keys: UInt64, nameBytes: UInt64, archiveBytes: UInt64, largest: [Row]
        )

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.domain)
            try writer.writeUInt32(arguments.limit)
        }

        /// Reads the arguments.
        package static func readArguments<Names: NameReading>(
            from reader: inout MessageReader, by names: Names
        ) throws -> (domain: Names.Domain, limit: UInt32) {
            (try names.domain(reader.readString()), try reader.readUInt32())
        }

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try writer.writeUInt64(reply.keys)
            try writer.writeUInt64(reply.nameBytes)
            try writer.writeUInt64(reply.archiveBytes)
            try writer.writeStructures(of: "(st)", reply.largest) {
                try $0.writeString($1.key)
                try $0.writeUInt64($1.size)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (
                try reader.readUInt64(), try reader.readUInt64(), try reader.readUInt64(),
                try reader.readStructures { (try $0.readString(), try $0.readUInt64()) }
            )
        }
    }

    /// Gives the name of the service to the caller, which must be next in the bus's queue for it,
    /// and ends.
    ///
    /// The daemon first writes everything to disk. Then it gives up the name, replies, and answers
    /// every call that came before. If another connection is first in the queue, the error is
    /// Conflict and the daemon keeps the name.
    package enum HandOver: Call {
        package static let method = MethodDeclaration("HandOver", of: maintenanceInterface)

        package typealias Reply = Void
    }

    /// Lists the machines that the database knows, this one first.
    ///
    /// Each has its ID and its host name, which is empty if it is not known.
    package enum ListHosts: Call {
        package static let method = MethodDeclaration(
            "ListHosts", of: maintenanceInterface, out: [Argument("hosts", "a(ss)")])

        package typealias Row = (id: String, name: String)
        package typealias Reply = [Row]

        package static func writeReply(
            _ hosts: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(ss)", hosts) {
                try $0.writeString($1.id)
                try $0.writeString($1.name)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures { (try $0.readString(), try $0.readString()) }
        }
    }

    /// Lists the files of the layers.
    ///
    /// Within one layer of a domain, the weakest comes first.
    ///
    /// Each entry: the layer (`managed` or `system`), the domain, the path, and what is wrong with
    /// the file; empty if it is valid.
    package enum ListLayerFiles: Call {
        package static let method = MethodDeclaration(
            "ListLayerFiles", of: maintenanceInterface, out: [Argument("files", "a(ssss)")])

        package typealias Row = (layer: String, domain: String, path: String, problem: String)
        package typealias Reply = [Row]

        package static func writeReply(
            _ files: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(ssss)", files) {
                try $0.writeString($1.layer)
                try $0.writeString($1.domain)
                try $0.writeString($1.path)
                try $0.writeString($1.problem)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures {
                (
                    try $0.readString(), try $0.readString(), try $0.readString(),
                    try $0.readString()
                )
            }
        }
    }

    /// Lists what is locked in a domain: keys, and prefixes with a trailing `*`, each with the file
    /// that locks it.
    ///
    /// A key with a managed value is listed as a key. The locks of NSGlobalDomain, which apply to
    /// every domain, come after the domain's own locks.
    package enum ListLocks: DomainCall {
        package static let method = MethodDeclaration(
            "ListLocks", of: maintenanceInterface, in: [.domain],
            out: [Argument("locks", "a(ss)")])

        package typealias Row = (pattern: String, path: String)
        package typealias Reply = [Row]

        package static func writeReply(
            _ locks: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(ss)", locks) {
                try $0.writeString($1.pattern)
                try $0.writeString($1.path)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures { (try $0.readString(), try $0.readString()) }
        }
    }
}
