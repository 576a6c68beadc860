package import DBus

/// `Undo` and `Redo`.
package protocol TakingBackCall: Call
where Arguments == TakingBackArguments, Reply == TakingBackReply {}

/// The generation of the change, which is 0 if nothing was changed, and what becomes of each key.
package typealias TakingBackReply = (generation: UInt64, changes: [TakenBackForm])

extension TakingBackCall {
    package static func writeArguments(
        _ arguments: Arguments, to writer: inout MessageWriter
    ) throws {
        try arguments.write(to: &writer)
    }

    package static func readArguments(from reader: inout MessageReader) throws -> Arguments {
        try TakingBackArguments(from: &reader)
    }

    package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
        try writer.writeUInt64(reply.generation)
        try writer.writeArray(of: TakenBackForm.type) { array in
            for change in reply.changes { try change.write(to: &array) }
        }
    }

    package static func readReply(from reader: inout MessageReader) throws -> Reply {
        (try reader.readUInt64(), try reader.readArray { try TakenBackForm(from: &$0) })
    }
}

/// What becomes of a key when actions are taken back or done again.
package struct TakenBackForm: Sendable, Equatable {
    /// The domain, with the suffix of its layer.
    package var domain: String
    package var key: String
    /// What it has now.
    package var now: HistoryValueForm
    /// What it gets.
    package var target: HistoryValueForm
    /// A word of ``HistoryTerms/Standing``: it is changed if this is `holds`, or by force.
    package var standing: String

    package init(
        domain: String, key: String, now: HistoryValueForm, target: HistoryValueForm,
        standing: String
    ) {
        self.domain = domain
        self.key = key
        self.now = now
        self.target = target
        self.standing = standing
    }

    static let type: Signature = "(ssyayyays)"
    static let list: Signature = "a(ssyayyays)"

    func write(to writer: inout MessageWriter) throws {
        try writer.writeStructure {
            for text in [domain, key] { try $0.writeString(text) }
            try now.write(to: &$0)
            try target.write(to: &$0)
            try $0.writeString(standing)
        }
    }

    init(from reader: inout MessageReader) throws {
        self = try reader.readStructure {
            TakenBackForm(
                domain: try $0.readString(), key: try $0.readString(),
                now: try HistoryValueForm(from: &$0), target: try HistoryValueForm(from: &$0),
                standing: try $0.readString())
        }
    }
}

/// The arguments of `Undo` and `Redo`.
package struct TakingBackArguments: Sendable, Equatable {
    /// The most actions that one call takes back.
    package static let mostActions = 1024

    /// The actions by their numbers, each with its last generation as the caller knows it: if it has gone
    /// on since, the call is refused.
    package var actions: [(number: UInt64, last: UInt64)]
    /// Only this domain, with the suffix of its layer; empty for all.
    package var domain = ""
    /// Only this key of the domain; empty for all.
    package var key = ""
    /// Whether the keys that hold are taken back if others do not.
    package var isPartial = false
    /// Whether keys that were changed since are taken back, too.
    package var isForced = false
    /// Whether nothing is changed, and only said what would be.
    package var isDry = false
    /// Whether the reply waits for the disk.
    package var isDurable = false

    package init(actions: [(number: UInt64, last: UInt64)]) {
        self.actions = actions
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.actions.elementsEqual(other.actions, by: ==) && one.domain == other.domain
            && one.key == other.key && one.isPartial == other.isPartial
            && one.isForced == other.isForced && one.isDry == other.isDry
            && one.isDurable == other.isDurable
    }

    func write(to writer: inout MessageWriter) throws {
        try writer.writeStructures(of: "(tt)", actions) {
            try $0.writeUInt64($1.number)
            try $0.writeUInt64($1.last)
        }
        try writer.writeVariants {
            if !domain.isEmpty { try $0.writeVariant(.string(domain), forKey: "domain") }
            if !key.isEmpty { try $0.writeVariant(.string(key), forKey: "key") }
            let switches = [
                ("partial", isPartial), ("force", isForced), ("dry", isDry), ("durable", isDurable),
            ]
            for (name, isOn) in switches where isOn {
                try $0.writeVariant(.boolean(true), forKey: name)
            }
        }
    }

    init(from reader: inout MessageReader) throws {
        var count = 0
        actions = try reader.readStructures {
            count += 1
            guard count <= Self.mostActions else {
                throw ContractError(
                    .tooLarge,
                    """
                    At most \(Self.mostActions) actions can be taken back at once. Nothing was \
                    changed. Restore a backup to go back further: see ListBackups.
                    """)
            }
            return (try $0.readUInt64(), try $0.readUInt64())
        }
        try reader.readOptions { name, value in
            switch (name, value.nextType) {
            case ("domain", .string): domain = try value.readString()
            case ("key", .string): key = try value.readString()
            case ("partial", .boolean): isPartial = try value.readBool()
            case ("force", .boolean): isForced = try value.readBool()
            case ("dry", .boolean): isDry = try value.readBool()
            case ("durable", .boolean): isDurable = try value.readBool()
            case ("domain", _), ("key", _):
                throw ContractError(option: name, isNot: "a string (s)")
            case ("partial", _), ("force", _), ("dry", _), ("durable", _):
                throw ContractError(option: name, isNot: "a boolean (b)")
            default:
                throw ContractError(
                    unknownOption: name,
                    known: ["domain", "key", "partial", "force", "dry", "durable"])
            }
        }
    }
}
