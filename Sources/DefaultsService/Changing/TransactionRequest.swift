import DBus
import DefaultsModel
import DefaultsProtocol
import KeyedArchive

/// The arguments of Apply and ApplyValues, read and not yet judged.
struct TransactionRequest<Content> {
    let domain: Domain
    /// The keys to set, each with what the call has brought for it.
    let set: [(key: Key, content: Content)]
    /// Whether the reply waits for the disk.
    let isDurable: Bool
    private let removed: [Key]
    private let expected: [Expectation]
    private let token: Token?

    /// Reads the arguments.
    ///
    /// - Parameter content: Reads what is to be set.
    init(
        from arguments: inout MessageReader, on hosts: HostNames,
        content: (inout MessageReader) throws -> Content
    ) throws {
        var keys = 0
        func key(from reader: inout MessageReader) throws -> String {
            keys += 1
            guard keys <= Limits.maximumTransactionKeys else { throw DefaultsError.tooManyKeys }
            return try reader.readString()
        }
        domain = try Domain(arguments.readString(), on: hosts)
        set = try arguments.readDictionary { (try Key(key(from: &$0)), try content(&$0)) }
        removed = try arguments.readArray { try Key(key(from: &$0)) }
        expected = try arguments.readDictionary {
            (try key(from: &$0), try $0.readUInt64())
        }.map { try Expectation($0, $1) }
        let options = try TransactionOptions(from: &arguments)
        isDurable = options.isDurable
        token = options.token
    }

    /// The transaction that it asks for.
    ///
    /// - Throws: `ModelError` where its parts contradict each other.
    func transaction() throws(ModelError) -> Transaction {
        try Transaction(
            domain: domain, set: set.map(\.key), removed: removed, expected: expected,
            token: token)
    }
}

/// A transaction whose archives are checked.
struct PreparedTransaction: Sendable {
    let transaction: Transaction
    /// The keys to set.
    let keys: [Key]
    /// Whether the reply waits for the disk.
    let isDurable: Bool
    /// The archives by their keys, or why one of them is refused: that of a layer comes before that.
    let assignments: Result<[(key: Key, archive: KeyedArchive)], any Error>

    /// - Parameter archive: Makes an archive of what the call has brought.
    /// - Throws: `ModelError` where the parts of the transaction contradict each other.
    init<Content>(
        _ request: TransactionRequest<Content>, archive: (Content) throws -> KeyedArchive
    ) throws {
        transaction = try request.transaction()
        keys = request.set.map(\.key)
        isDurable = request.isDurable
        assignments = Result {
            try request.set.map { key, content in
                (key: key, archive: try Self.naming(key) { try archive(content) })
            }
        }
    }

    /// Says which of several keys an archive that is refused was for.
    private static func naming(
        _ key: Key, _ archive: () throws -> KeyedArchive
    ) throws -> KeyedArchive {
        do {
            return try archive()
        } catch let error as ArchiveError {
            throw DefaultsError(DefaultsError(error), of: key)
        } catch let error as DefaultsError {
            throw DefaultsError(error, of: key)
        }
    }
}

/// The options of Apply and ApplyValues.
private struct TransactionOptions {
    var isDurable = false
    var token: Token?

    init(from arguments: inout MessageReader) throws {
        var names: Set<String> = []
        _ = try arguments.readDictionary { entry in
            let name = try entry.readString()
            guard names.insert(name).inserted else { throw DefaultsError(optionTwice: name) }
            return (name, try entry.readVariant { try read(name, from: &$0) })
        }
    }

    private mutating func read(_ name: String, from value: inout MessageReader) throws {
        switch (name, value.nextType) {
        case ("durable", .boolean): isDurable = try value.readBool()
        case ("token", .string): token = try Token(value.readString())
        case ("durable", _): throw DefaultsError(option: name, isNot: "a boolean (b)")
        case ("token", _): throw DefaultsError(option: name, isNot: "a string (s)")
        default: throw DefaultsError(unknownOption: name)
        }
    }
}
