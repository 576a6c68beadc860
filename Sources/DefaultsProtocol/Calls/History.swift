package import DBus
import DefaultsTerms

/// The interface of the history, at the same object: what changed earlier, and taking it back.
///
/// Programs in a sandbox may not use it: it shows what they have deleted.
extension Contract {
    /// The name of the interface.
    package static let historyInterface: InterfaceName = "org.defaultsd.History1"

    /// Lists actions, the newest first.
    package enum ListActions: Call {
        package static let method = MethodDeclaration(
            "ListActions", of: historyInterface, in: [Argument("filter", "a{sv}")],
            out: [Argument("actions", HistoryActionForm.list), Argument("known_from", "x")])

        /// The newest actions that the filter lets through, and the time from which on the history is
        /// complete, in seconds since 1970.
        package typealias Reply = (actions: [HistoryActionForm], knownFrom: Int64)

        package static func writeArguments(
            _ filter: HistoryFilter, to writer: inout MessageWriter
        ) throws {
            try filter.write(to: &writer)
        }

        package static func readArguments(
            from reader: inout MessageReader
        ) throws -> HistoryFilter {
            try HistoryFilter(from: &reader)
        }

        package static func writeReply(
            _ actions: some Sequence<HistoryActionForm>, knownFrom: Int64,
            to writer: inout MessageWriter
        ) throws {
            try writer.writeArray(of: HistoryActionForm.type) { array in
                for action in actions { try action.write(to: &array) }
            }
            try writer.writeInt64(knownFrom)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readArray { try HistoryActionForm(from: &$0) }, try reader.readInt64())
        }
    }

    /// Returns an action with the keys that it changed.
    package enum GetAction: Call {
        package static let method = MethodDeclaration(
            "GetAction", of: historyInterface, in: [Argument("number", "t")],
            out: [
                Argument("action", HistoryActionForm.type),
                Argument("changes", HistoryChangeForm.list),
            ])

        package typealias Arguments = UInt64
        package typealias Reply = (action: HistoryActionForm, changes: [HistoryChangeForm])

        package static func writeArguments(
            _ number: UInt64, to writer: inout MessageWriter
        ) throws {
            try writer.writeUInt64(number)
        }

        package static func readArguments(from reader: inout MessageReader) throws -> UInt64 {
            try reader.readUInt64()
        }

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try reply.action.write(to: &writer)
            try writer.writeArray(of: HistoryChangeForm.type) { array in
                for change in reply.changes { try change.write(to: &array) }
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (
                try HistoryActionForm(from: &reader),
                try reader.readArray { try HistoryChangeForm(from: &$0) }
            )
        }
    }

    /// Returns the values that keys of a domain had after a generation, or at a time.
    ///
    /// The generation is 0 if a time is meant: the last generation whose time is not later. Without keys
    /// it is all keys of the domain.
    package enum GetAt: Call {
        package static let method = MethodDeclaration(
            "GetAt", of: historyInterface,
            in: [.domain, Argument("keys", "as"), .generation, Argument("time", "x")],
            out: [
                .generation, Argument("time", "x"), Argument("complete", "b"),
                Argument("values", "a(syay)"),
            ])

        package typealias Arguments = (
            domain: String, keys: [String], generation: UInt64, time: Int64
        )

        /// The generation and the time that were meant, whether all keys of the domain are among them,
        /// and the keys with what is known.
        package typealias Reply = (
            generation: UInt64, time: Int64, isComplete: Bool,
            values: [(key: String, value: HistoryValueForm)]
        )

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.domain)
            try writer.writeStrings(arguments.keys)
            try writer.writeUInt64(arguments.generation)
            try writer.writeInt64(arguments.time)
        }

        package static func readArguments<Names: NameReading>(
            from reader: inout MessageReader, by names: Names
        ) throws -> (domain: Names.Domain, keys: [Names.Key], generation: UInt64, time: Int64) {
            (
                try names.domain(reader.readString()),
                try reader.readStrings().map { try names.key($0) }, try reader.readUInt64(),
                try reader.readInt64()
            )
        }

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try writer.writeUInt64(reply.generation)
            try writer.writeInt64(reply.time)
            try writer.writeBool(reply.isComplete)
            try writer.writeStructures(of: "(syay)", reply.values) {
                try $0.writeString($1.key)
                try $1.value.write(to: &$0)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (
                try reader.readUInt64(), try reader.readInt64(), try reader.readBool(),
                try reader.readStructures { (try $0.readString(), try HistoryValueForm(from: &$0)) }
            )
        }
    }

    /// Takes actions back, in one change: each key gets the value that it had before the first of them.
    package enum Undo: TakingBackCall {
        package static let method = MethodDeclaration(
            "Undo", of: historyInterface, in: takingBackArguments, out: takingBackReply)
    }

    /// Does again what undo actions have taken back.
    package enum Redo: TakingBackCall {
        package static let method = MethodDeclaration(
            "Redo", of: historyInterface, in: takingBackArguments, out: takingBackReply)
    }

    private static let takingBackArguments = [
        Argument("actions", "a(tt)"), Argument("options", "a{sv}"),
    ]
    private static let takingBackReply = [
        .generation, Argument("changes", TakenBackForm.list),
    ]
}
