import DBus
package import DefaultsTerms

/// Which actions are listed.
package struct HistoryFilter: Sendable, Equatable {
    /// The most actions that one call lists.
    package static let mostActions: UInt32 = 1000

    /// Only those that changed this domain, with the suffix of its layer; empty for all.
    package var domain = ""
    /// Only those that changed this key of the domain; empty for all.
    package var key = ""
    /// Only those of this program; empty for all.
    package var program = ""
    /// Only those that ended at this time or later, in seconds since 1970.
    package var since = Int64.min
    /// Only those that began at this time or earlier, in seconds since 1970.
    package var until = Int64.max
    /// Only those with a lower number; 0 for all.
    package var before: UInt64 = 0
    /// How many at most.
    package var limit = mostActions

    /// Makes a filter that lets all through.
    package init() {}

    func write(to writer: inout MessageWriter) throws {
        try writer.writeVariants {
            if !domain.isEmpty { try $0.writeVariant(.string(domain), forKey: "domain") }
            if !key.isEmpty { try $0.writeVariant(.string(key), forKey: "key") }
            if !program.isEmpty { try $0.writeVariant(.string(program), forKey: "program") }
            if since != .min { try $0.writeVariant(.int64(since), forKey: "since") }
            if until != .max { try $0.writeVariant(.int64(until), forKey: "until") }
            if before != 0 { try $0.writeVariant(.uint64(before), forKey: "before") }
            try $0.writeVariant(.uint32(limit), forKey: "limit")
        }
    }

    init(from reader: inout MessageReader) throws {
        try reader.readOptions { name, value in
            switch (name, value.nextType) {
            case ("domain", .string): domain = try value.readString()
            case ("key", .string): key = try value.readString()
            case ("program", .string): program = try value.readString()
            case ("since", .int64): since = try value.readInt64()
            case ("until", .int64): until = try value.readInt64()
            case ("before", .uint64): before = try value.readUInt64()
            case ("limit", .uint32): limit = min(try value.readUInt32(), Self.mostActions)
            case ("domain", _), ("key", _), ("program", _):
                throw ContractError(option: name, isNot: "a string (s)")
            case ("since", _), ("until", _):
                throw ContractError(option: name, isNot: "a time in seconds (x)")
            case ("before", _): throw ContractError(option: name, isNot: "a number (t)")
            case ("limit", _): throw ContractError(option: name, isNot: "a number (u)")
            default:
                throw ContractError(
                    unknownOption: name,
                    known: ["domain", "key", "program", "since", "until", "before", "limit"])
            }
        }
    }
}

/// What a person would call one change: all keys of one change, or of successive changes by one program.
package struct HistoryActionForm: Sendable, Equatable {
    /// Counts the actions of the database from 1.
    package var number: UInt64
    /// The generation of its first change.
    package var first: UInt64
    /// The generation of its last change.
    package var last: UInt64
    /// When it began, in seconds since 1970.
    package var began: Int64
    /// When it ended, in seconds since 1970.
    package var ended: Int64
    /// The name of the program; empty if it is unknown.
    package var program: String
    /// The application ID, if the program runs in a sandbox.
    package var application: String
    /// The machine that it came from by roaming; empty for this one.
    package var machine: String
    /// The owner of the document that made it; empty if none did.
    package var owner: String
    /// A word of ``HistoryTerms/Kind``.
    package var kind: String
    /// The numbers of the actions that it has taken back or done again.
    package var references: [UInt64]
    /// How many keys it changed.
    package var keys: UInt32
    /// How many of these the history has.
    package var known: UInt32
    /// Whether it is taken back.
    package var isUndone: Bool
    /// Whether it can be what a person means by "undo" without a number.
    package var isByHand: Bool
    /// What else is to be known about it, as a sentence; empty if nothing is.
    package var note: String

    package init(
        number: UInt64, first: UInt64, last: UInt64, began: Int64, ended: Int64, program: String,
        application: String, machine: String, owner: String, kind: String, references: [UInt64],
        keys: UInt32, known: UInt32, isUndone: Bool, isByHand: Bool, note: String
    ) {
        self.number = number
        self.first = first
        self.last = last
        self.began = began
        self.ended = ended
        self.program = program
        self.application = application
        self.machine = machine
        self.owner = owner
        self.kind = kind
        self.references = references
        self.keys = keys
        self.known = known
        self.isUndone = isUndone
        self.isByHand = isByHand
        self.note = note
    }

    static let type: Signature = "(tttxxsssssatuubbs)"
    static let list: Signature = "a(tttxxsssssatuubbs)"

    func write(to writer: inout MessageWriter) throws {
        try writer.writeStructure {
            for number in [number, first, last] { try $0.writeUInt64(number) }
            for time in [began, ended] { try $0.writeInt64(time) }
            for text in [program, application, machine, owner, kind] { try $0.writeString(text) }
            try $0.writeArray(of: "t") { array in
                for reference in references { try array.writeUInt64(reference) }
            }
            for count in [keys, known] { try $0.writeUInt32(count) }
            for fact in [isUndone, isByHand] { try $0.writeBool(fact) }
            try $0.writeString(note)
        }
    }

    init(from reader: inout MessageReader) throws {
        self = try reader.readStructure {
            HistoryActionForm(
                number: try $0.readUInt64(), first: try $0.readUInt64(), last: try $0.readUInt64(),
                began: try $0.readInt64(), ended: try $0.readInt64(), program: try $0.readString(),
                application: try $0.readString(), machine: try $0.readString(),
                owner: try $0.readString(), kind: try $0.readString(),
                references: try $0.readArray { try $0.readUInt64() }, keys: try $0.readUInt32(),
                known: try $0.readUInt32(), isUndone: try $0.readBool(),
                isByHand: try $0.readBool(), note: try $0.readString())
        }
    }
}

/// What a key had at some time.
package struct HistoryValueForm: Sendable, Equatable {
    /// What is known.
    package var knowledge: HistoryTerms.Knowledge
    /// The archive; empty unless there is one.
    package var archive: [UInt8]

    /// A value, or that there was none.
    package init(_ archive: [UInt8]?) {
        knowledge = archive == nil ? .absent : .present
        self.archive = archive ?? []
    }

    private init(_ knowledge: HistoryTerms.Knowledge, _ archive: [UInt8] = []) {
        self.knowledge = knowledge
        self.archive = archive
    }

    /// The history does not know it.
    package static let unknown = HistoryValueForm(.unknown)
    /// It has no room in the reply.
    package static let omitted = HistoryValueForm(.omitted)

    func write(to writer: inout MessageWriter) throws {
        try writer.writeByte(knowledge.rawValue)
        try writer.writeBytes(archive)
    }

    init(from reader: inout MessageReader) throws {
        let knowledge = HistoryTerms.Knowledge(rawValue: try reader.readByte()) ?? .unknown
        self.init(knowledge, try reader.readBytes())
    }
}

/// A key that an action changed.
package struct HistoryChangeForm: Sendable, Equatable {
    /// The domain, with the suffix of its layer.
    package var domain: String
    package var key: String
    /// The generation of the action's first change of the key.
    package var first: UInt64
    /// The generation of the action's last change of the key.
    package var last: UInt64
    /// What the key had before.
    package var was: HistoryValueForm
    /// What the key had after it.
    package var became: HistoryValueForm
    /// A word of ``HistoryTerms/Standing``.
    package var standing: String

    package init(
        domain: String, key: String, first: UInt64, last: UInt64, was: HistoryValueForm,
        became: HistoryValueForm, standing: String
    ) {
        self.domain = domain
        self.key = key
        self.first = first
        self.last = last
        self.was = was
        self.became = became
        self.standing = standing
    }

    static let type: Signature = "(ssttyayyays)"
    static let list: Signature = "a(ssttyayyays)"

    func write(to writer: inout MessageWriter) throws {
        try writer.writeStructure {
            for text in [domain, key] { try $0.writeString(text) }
            for generation in [first, last] { try $0.writeUInt64(generation) }
            try was.write(to: &$0)
            try became.write(to: &$0)
            try $0.writeString(standing)
        }
    }

    init(from reader: inout MessageReader) throws {
        self = try reader.readStructure {
            HistoryChangeForm(
                domain: try $0.readString(), key: try $0.readString(), first: try $0.readUInt64(),
                last: try $0.readUInt64(), was: try HistoryValueForm(from: &$0),
                became: try HistoryValueForm(from: &$0), standing: try $0.readString())
        }
    }
}
