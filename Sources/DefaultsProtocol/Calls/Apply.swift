package import DBus
import DefaultsTerms
package import KeyedArchive

/// Several changes at once, and waiting for the disk.
extension Contract {
    /// Sets and removes several keys of a domain in one change, if all expectations hold.
    package enum Apply: TransactionCall {
        package typealias Arguments = TransactionArguments<PlainNames, [UInt8]>

        package static let method = MethodDeclaration(
            "Apply", in: [.domain, Argument("set", "a{say}")] + transactionArguments,
            out: [.generation])

        package static func writeValues(
            _ archives: [(String, [UInt8])], to writer: inout MessageWriter
        ) throws {
            try writer.writeArchives {
                for (key, archive) in archives { try $0.writeArchive(archive, forKey: key) }
            }
        }

        /// Reads the arguments.
        ///
        /// - Throws: The first error in them: an invalid name, an archive above the size limit, or
        ///   too many keys.
        package static func readArguments<Names: TransactionNames>(
            from reader: inout MessageReader, by names: Names
        ) throws -> TransactionArguments<Names, [UInt8]> {
            try TransactionArguments(from: &reader, by: names) { try $0.readStorableArchive() }
        }
    }

    /// The same call with D-Bus values.
    package enum ApplyValues: TransactionCall {
        package typealias Arguments = TransactionArguments<PlainNames, Value>

        package static let method = MethodDeclaration(
            "ApplyValues", in: [.domain, Argument("set", "a{sv}")] + transactionArguments,
            out: [.generation])

        package static func writeValues(
            _ values: [(String, Value)], to writer: inout MessageWriter
        ) throws {
            try writer.writeVariants {
                for (key, value) in values { try $0.writeVariant(value, forKey: key) }
            }
        }

        /// Reads the arguments, and makes archives from the values.
        ///
        /// - Throws: The same errors as ``Apply/readArguments(from:by:)``, except that the caller
        ///   checks the sizes of the archives with ``ContractError/checkSize(of:)``.
        package static func readArguments<Names: TransactionNames>(
            from reader: inout MessageReader, by names: Names
        ) throws -> TransactionArguments<Names, KeyedArchive> {
            var remaining = ContractLimits.maximumValueCount
            return try TransactionArguments(from: &reader, by: names) { value in
                try value.readVariant {
                    try VariantForm.readArchive(from: &$0, remaining: &remaining)
                }
            }
        }
    }

    /// ``Apply`` for several domains, in one change.
    package enum ApplyAll: JointCall {
        package typealias Arguments = JointArguments<PlainNames, [UInt8]>

        package static let method = MethodDeclaration(
            "ApplyAll",
            in: [Argument("changes", "a(sa{say}asa{st})"), Argument("options", "a{sv}")],
            out: [.generation])
        package static let changeType: Signature = "(sa{say}asa{st})"

        package static func writeValues(
            _ archives: [(String, [UInt8])], to writer: inout MessageWriter
        ) throws {
            try Apply.writeValues(archives, to: &writer)
        }

        /// Reads the arguments.
        ///
        /// - Throws: The errors of ``Apply/readArguments(from:by:)``.
        package static func readArguments<Names: TransactionNames>(
            from reader: inout MessageReader, by names: Names
        ) throws -> JointArguments<Names, [UInt8]> {
            try JointArguments(from: &reader, by: names) { try $0.readStorableArchive() }
        }
    }

    /// ``ApplyValues`` for several domains, in one change.
    package enum ApplyAllValues: JointCall {
        package typealias Arguments = JointArguments<PlainNames, Value>

        package static let method = MethodDeclaration(
            "ApplyAllValues",
            in: [Argument("changes", "a(sa{sv}asa{st})"), Argument("options", "a{sv}")],
            out: [.generation])
        package static let changeType: Signature = "(sa{sv}asa{st})"

        package static func writeValues(
            _ values: [(String, Value)], to writer: inout MessageWriter
        ) throws {
            try ApplyValues.writeValues(values, to: &writer)
        }

        /// Reads the arguments, and makes archives from the values.
        ///
        /// - Throws: The errors of ``ApplyValues/readArguments(from:by:)``.
        package static func readArguments<Names: TransactionNames>(
            from reader: inout MessageReader, by names: Names
        ) throws -> JointArguments<Names, KeyedArchive> {
            var remaining = ContractLimits.maximumValueCount
            return try JointArguments(from: &reader, by: names) { value in
                try value.readVariant {
                    try VariantForm.readArchive(from: &$0, remaining: &remaining)
                }
            }
        }
    }

    /// Waits until every change that was acknowledged before is on disk.
    package enum Synchronize: Call {
        package static let method = MethodDeclaration("Synchronize", out: [.generation])

        package typealias Reply = UInt64
    }

    private static let transactionArguments = [
        Argument("remove", "as"), Argument("expected", "a{st}"), Argument("options", "a{sv}"),
    ]
}

/// Converts the names in a transaction, on the side that receives it.
package protocol TransactionNames: NameReading {
    /// The generation that a key or the domain must have.
    associatedtype Expectation: Sendable
    /// The name of a transaction.
    associatedtype Token: Sendable

    /// Checks an expectation: a key, or an empty text for the whole domain, and the generation that
    /// it must still have.
    func expectation(_ key: String, _ generation: UInt64) throws -> Expectation
    /// Checks the name of a transaction.
    func token(_ text: String) throws -> Token
}

/// The arguments of `Apply` and `ApplyValues`, or the part of `ApplyAll` that is about one domain.
package struct TransactionArguments<Names: TransactionNames, Content: Sendable>: Sendable {
    /// The domain with its layer.
    package let domain: Names.Domain
    /// The keys to set, each with its value.
    package let set: [(Names.Key, Content)]
    /// The keys to remove.
    package let removed: [Names.Key]
    /// The conditions for making the change.
    package let expected: [Names.Expectation]
    /// The options.
    package let options: TransactionOptions<Names>

    /// Makes the arguments of a call.
    package init(
        domain: Names.Domain, set: [(Names.Key, Content)], removed: [Names.Key] = [],
        expected: [Names.Expectation] = [], options: TransactionOptions<Names> = .init()
    ) {
        self.domain = domain
        self.set = set
        self.removed = removed
        self.expected = expected
        self.options = options
    }

    /// Reads the arguments.
    fileprivate init(
        from reader: inout MessageReader, by names: Names,
        content: (inout MessageReader) throws -> Content
    ) throws {
        var keys = 0
        let part = try Self(partFrom: &reader, by: names, keys: &keys, content: content)
        self.init(
            domain: part.domain, set: part.set, removed: part.removed, expected: part.expected,
            options: try TransactionOptions(from: &reader, by: names))
    }

    /// Reads the arguments without the options.
    ///
    /// - Parameter keys: The keys of the call so far. They are counted before anything is made from
    ///   them.
    fileprivate init(
        partFrom reader: inout MessageReader, by names: Names, keys: inout Int,
        content: (inout MessageReader) throws -> Content
    ) throws {
        func key(from reader: inout MessageReader) throws -> String {
            keys += 1
            guard keys <= ContractLimits.maximumTransactionKeys else {
                throw ContractError.tooManyKeys
            }
            return try reader.readString()
        }
        domain = try names.domain(reader.readString())
        set = try reader.readDictionary {
            (try names.key(key(from: &$0)), try content(&$0))
        }
        removed = try reader.readArray { try names.key(key(from: &$0)) }
        expected = try reader.readDictionary {
            (try key(from: &$0), try $0.readUInt64())
        }.map { try names.expectation($0, $1) }
        options = .init()
    }
}

/// The arguments of `ApplyAll` and `ApplyAllValues`.
package struct JointArguments<Names: TransactionNames, Content: Sendable>: Sendable {
    /// What changes in each domain.
    ///
    /// Their own options are not used.
    package let parts: [TransactionArguments<Names, Content>]
    /// The options of the whole change.
    package let options: TransactionOptions<Names>

    /// Makes the arguments of a call.
    package init(
        _ parts: [TransactionArguments<Names, Content>],
        options: TransactionOptions<Names> = .init()
    ) {
        self.parts = parts
        self.options = options
    }

    /// Reads the arguments.
    fileprivate init(
        from reader: inout MessageReader, by names: Names,
        content: (inout MessageReader) throws -> Content
    ) throws {
        var keys = 0
        var count = 0
        parts = try reader.readStructures {
            count += 1
            guard count <= ContractLimits.maximumAttachedDomains else {
                throw ContractError.tooManyDomains
            }
            return try TransactionArguments(partFrom: &$0, by: names, keys: &keys, content: content)
        }
        options = try TransactionOptions(from: &reader, by: names)
    }
}

/// The options of a transaction.
package struct TransactionOptions<Names: TransactionNames>: Sendable {
    /// Whether the reply waits for the disk.
    package var isDurable: Bool
    /// The name of the transaction: a repetition with this name gets the reply of the first call.
    package var token: Names.Token?
    /// Whether the change takes back an earlier one, so that no quota refuses it.
    package var isUndo: Bool
    /// The generation after which none of the keys may have changed; nil if they may have.
    package var unchangedSince: UInt64?
    /// Whether the error `Locked` has all locked keys of the change after its message.
    package var listsLocked: Bool
    /// On whose behalf the change is made, for the history; nil if it is the caller's own.
    package var sponsor: ChangeSponsor?

    /// Makes options.
    package init(
        isDurable: Bool = false, token: Names.Token? = nil, isUndo: Bool = false,
        unchangedSince: UInt64? = nil, listsLocked: Bool = false, sponsor: ChangeSponsor? = nil
    ) {
        self.sponsor = sponsor
        self.isDurable = isDurable
        self.token = token
        self.isUndo = isUndo
        self.unchangedSince = unchangedSince
        self.listsLocked = listsLocked
    }

    private static var durableName: String { "durable" }
    private static var tokenName: String { "token" }
    private static var undoName: String { "undo" }
    private static var unchangedSinceName: String { "unchanged-since" }
    private static var listLockedName: String { "list-locked" }
    private static var sponsorName: String { ChangeSponsor.option }

    fileprivate init(from reader: inout MessageReader, by names: Names) throws {
        self.init()
        try reader.readOptions { try read($0, from: &$1, by: names) }
    }

    private mutating func read(
        _ name: String, from value: inout MessageReader, by names: Names
    ) throws {
        switch (name, value.nextType) {
        case (Self.durableName, .boolean): isDurable = try value.readBool()
        case (Self.tokenName, .string): token = try names.token(value.readString())
        case (Self.undoName, .boolean): isUndo = try value.readBool()
        case (Self.listLockedName, .boolean): listsLocked = try value.readBool()
        case (Self.unchangedSinceName, .uint64): unchangedSince = try value.readUInt64()
        case (Self.sponsorName, .array): sponsor = try ChangeSponsor(from: &value)
        case (Self.durableName, _), (Self.undoName, _), (Self.listLockedName, _):
            throw ContractError(option: name, isNot: "a boolean (b)")
        case (Self.tokenName, _): throw ContractError(option: name, isNot: "a string (s)")
        case (Self.unchangedSinceName, _):
            throw ContractError(option: name, isNot: "a generation (t)")
        case (Self.sponsorName, _):
            throw ContractError(option: name, isNot: "a dictionary with texts (a{ss})")
        default:
            throw ContractError(
                unknownOption: name,
                known: [
                    Self.durableName, Self.tokenName, Self.undoName, Self.unchangedSinceName,
                    Self.listLockedName, Self.sponsorName,
                ])
        }
    }
}

extension TransactionOptions<PlainNames> {
    fileprivate func write(to writer: inout MessageWriter) throws {
        try writer.writeDictionary(key: "s", value: "v") {
            let switches = [
                (Self.durableName, isDurable), (Self.undoName, isUndo),
                (Self.listLockedName, listsLocked),
            ]
            for (name, isOn) in switches where isOn {
                try $0.writeEntry {
                    try $0.writeString(name)
                    try $0.writeVariant(of: "b") { try $0.writeBool(true) }
                }
            }
            if let token {
                try $0.writeEntry {
                    try $0.writeString(Self.tokenName)
                    try $0.writeVariant(of: "s") { try $0.writeString(token) }
                }
            }
            if let unchangedSince {
                try $0.writeEntry {
                    try $0.writeString(Self.unchangedSinceName)
                    try $0.writeVariant(of: "t") { try $0.writeUInt64(unchangedSince) }
                }
            }
            if let sponsor {
                try $0.writeEntry {
                    try $0.writeString(Self.sponsorName)
                    try $0.writeVariant(of: "a{ss}") { try sponsor.write(to: &$0) }
                }
            }
        }
    }
}

/// `Apply` and `ApplyValues`, which differ only in the form of the values.
package protocol TransactionCall: Call
where Arguments == TransactionArguments<PlainNames, Content>, Reply == UInt64 {
    /// What a caller sends for a key.
    associatedtype Content: Sendable

    /// Writes the keys that are set, with their values.
    static func writeValues(
        _ values: [(String, Content)], to writer: inout MessageWriter
    ) throws
}

extension TransactionCall {
    package static func writeArguments(
        _ arguments: Arguments, to writer: inout MessageWriter
    ) throws {
        try arguments.writePart(to: &writer, values: writeValues)
        try arguments.options.write(to: &writer)
    }
}

/// `ApplyAll` and `ApplyAllValues`, which differ only in the form of the values.
package protocol JointCall: Call
where Arguments == JointArguments<PlainNames, Content>, Reply == UInt64 {
    /// What a caller sends for a key.
    associatedtype Content: Sendable

    /// The type of the change of one domain.
    static var changeType: Signature { get }

    /// Writes the keys that are set, with their values.
    static func writeValues(
        _ values: [(String, Content)], to writer: inout MessageWriter
    ) throws
}

extension JointCall {
    package static func writeArguments(
        _ arguments: Arguments, to writer: inout MessageWriter
    ) throws {
        try writer.writeStructures(of: changeType, arguments.parts) {
            try $1.writePart(to: &$0, values: writeValues)
        }
        try arguments.options.write(to: &writer)
    }
}

extension TransactionArguments where Names == PlainNames {
    /// Writes everything except the options.
    fileprivate func writePart(
        to writer: inout MessageWriter,
        values: ([(String, Content)], inout MessageWriter) throws -> Void
    ) throws {
        try writer.writeString(domain)
        try values(set, &writer)
        try writer.writeStrings(removed)
        try writer.writeDictionary(key: "s", value: "t") { entries in
            for (key, generation) in expected {
                try entries.writeEntry {
                    try $0.writeString(key)
                    try $0.writeUInt64(generation)
                }
            }
        }
    }
}
