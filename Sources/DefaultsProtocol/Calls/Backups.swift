package import DBus

/// Backups, which are a part of the maintenance interface.
extension Contract {
    /// Lists the backups, the newest first.
    package enum ListBackups: Call {
        package static let method = MethodDeclaration(
            "ListBackups", of: maintenanceInterface, out: [Argument("backups", "a(sttst)")])

        /// The name, the date in seconds since 1970, the generation, the kind (`daily`, `undo`,
        /// `manual` for a backup by the tool, or `program` for a backup by another program), and
        /// the size in bytes.
        package typealias Row = (
            name: String, date: UInt64, generation: UInt64, kind: String, size: UInt64
        )
        package typealias Reply = [Row]

        package static func writeReply(
            _ backups: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(sttst)", backups) {
                try $0.writeString($1.name)
                try $0.writeUInt64($1.date)
                try $0.writeUInt64($1.generation)
                try $0.writeString($1.kind)
                try $0.writeUInt64($1.size)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures {
                (
                    try $0.readString(), try $0.readUInt64(), try $0.readUInt64(),
                    try $0.readString(), try $0.readUInt64()
                )
            }
        }
    }

    /// Makes a backup of everything that was acknowledged before, and returns its name when it is
    /// verified and on disk.
    ///
    /// The newest seven backups of each kind are kept. So the backups of programs never replace
    /// those that the user makes with the tool.
    package enum BackUp: Call {
        package static let method = MethodDeclaration(
            "BackUp", of: maintenanceInterface, out: [Argument("name", "s")])

        package typealias Reply = String
    }

    /// Gives every key the value that it has in a backup, and removes keys that the backup does not
    /// have, by ordinary changes.
    ///
    /// Replies when everything is on disk.
    package enum RestoreBackup: Call {
        package static let method = MethodDeclaration(
            "RestoreBackup", of: maintenanceInterface, in: [Argument("name", "s")],
            out: RestoredCounts.arguments)

        package typealias Arguments = String
        package typealias Reply = RestoredCounts

        package static func writeArguments(
            _ name: String, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(name)
        }

        package static func readArguments(from reader: inout MessageReader) throws -> String {
            try reader.readString()
        }

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try reply.write(to: &writer)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try RestoredCounts(from: &reader)
        }
    }

    /// Restores a backup, given by name or by file, for all or some domains.
    ///
    /// A dry run only reports what would change. One of `name` and `path` is empty. The path is
    /// absolute, and its file is a backup, which may come from another machine. If `domains` is not
    /// empty, only these domains are restored. A domain without a suffix includes all its layers.
    package enum Restore: Call {
        package static let method = MethodDeclaration(
            "Restore", of: maintenanceInterface,
            in: [
                Argument("name", "s"), Argument("path", "s"), Argument("domains", "as"),
                Argument("dry", "b"),
            ],
            out: RestoredCounts.arguments + [Argument("changes", "a(sasast)")])

        package typealias Arguments = (
            name: String, path: String, domains: [String], isDry: Bool
        )

        /// What would change in a domain: the keys that would be set, the keys that would be
        /// removed, and the number of locked keys.
        package typealias Row = (domain: String, set: [String], removed: [String], locked: UInt64)

        /// The changes are empty unless this was a dry run.
        package typealias Reply = (counts: RestoredCounts, changes: [Row])

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.name)
            try writer.writeString(arguments.path)
            try writer.writeStrings(arguments.domains)
            try writer.writeBool(arguments.isDry)
        }

        package static func readArguments(from reader: inout MessageReader) throws -> Arguments {
            (
                try reader.readString(), try reader.readString(), try reader.readStrings(),
                try reader.readBool()
            )
        }

        package static func writeReply(
            _ counts: RestoredCounts, _ changes: some Sequence<Row>,
            to writer: inout MessageWriter
        ) throws {
            try counts.write(to: &writer)
            try writer.writeStructures(of: "(sasast)", changes) {
                try $0.writeString($1.domain)
                try $0.writeStrings($1.set)
                try $0.writeStrings($1.removed)
                try $0.writeUInt64($1.locked)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            let counts = try RestoredCounts(from: &reader)
            let changes = try reader.readStructures {
                (
                    try $0.readString(), try $0.readStrings(), try $0.readStrings(),
                    try $0.readUInt64()
                )
            }
            return (counts, changes)
        }
    }
}

/// How much a restoration has changed, or would change.
package struct RestoredCounts: Sendable, Hashable {
    /// The name of the backup that can undo the restoration; empty if nothing had to be changed, or
    /// if the database was damaged.
    package let undo: String
    /// How many keys got another value.
    package let set: UInt64
    /// How many keys were removed.
    package let removed: UInt64
    /// How many values of the backup cannot be read.
    ///
    /// If there are any, their keys keep their values and no key is removed, because the damaged
    /// keys may be unknown.
    package let damaged: UInt64
    /// How many keys were left as they are because the administrator has locked them.
    package let locked: UInt64

    /// Makes the counts of a restoration.
    package init(undo: String, set: UInt64, removed: UInt64, damaged: UInt64, locked: UInt64) {
        self.undo = undo
        self.set = set
        self.removed = removed
        self.damaged = damaged
        self.locked = locked
    }

    fileprivate static let arguments = [
        Argument("undo", "s"), Argument("set", "t"), Argument("removed", "t"),
        Argument("damaged", "t"), Argument("locked", "t"),
    ]

    fileprivate func write(to writer: inout MessageWriter) throws {
        try writer.writeString(undo)
        for count in [set, removed, damaged, locked] { try writer.writeUInt64(count) }
    }

    fileprivate init(from reader: inout MessageReader) throws {
        self.init(
            undo: try reader.readString(), set: try reader.readUInt64(),
            removed: try reader.readUInt64(), damaged: try reader.readUInt64(),
            locked: try reader.readUInt64())
    }
}
