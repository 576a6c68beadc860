import DefaultsClient
import DefaultsProtocol
import KeyedArchive

/// Edits of keys of one domain, which are made as one change or not at all.
struct DomainEdits {
    let domain: String
    /// The line of a document that first names the domain.
    let line: Int
    /// The lines of a document that first name the keys.
    private(set) var lines: [String: Int] = [:]
    /// Whether to wait until the change is on disk.
    var isDurable = false
    /// One edit a key, in the order in which the keys were first named.
    private var edits: [String: Edit] = [:]
    private var keys: [String] = []
    /// The generations that the user expects keys to have.
    private var expected: [String: UInt64] = [:]

    /// The most bytes of archives and names that one change can have: what D-Bus carries, less what
    /// stands around them.
    private static let mostBytes = 60 << 20
    private static let mostKeyBytes = 1024

    init(of domain: String, line: Int = 0) {
        self.domain = domain
        self.line = line
    }

    /// Adds an edit of a key, which is made after those that were added before.
    ///
    /// - Parameters:
    ///   - generation: The one that the key must still have, 0 where it must be absent; nil where that
    ///     does not matter.
    ///   - line: The line of a document that it stands in.
    /// - Throws: `ToolError` where no key can be named so, or its generation is expected to be two.
    mutating func add(
        _ edit: Edit, of key: String, ifStillAt generation: UInt64? = nil, line: Int = 0
    ) throws(ToolError) {
        guard 1...Self.mostKeyBytes ~= key.utf8.count, !key.utf8.contains(0) else {
            throw .noSuchKey(key)
        }
        if case .set(let archive) = edit, archive.bytes.count > Limits.maximumValueSize {
            throw .valueTooLarge(key, archive.bytes.count)
        }
        if let earlier = expected[key], let generation, earlier != generation {
            throw .twoGenerations(key)
        }
        if let earlier = edits[key] {
            edits[key] = earlier.followed(by: edit)
        } else {
            edits[key] = edit
            keys.append(key)
            lines[key] = line
        }
        if let generation { expected[key] = generation }
    }

    /// Makes all of them, and gives the generation of the change.
    ///
    /// What others change meanwhile is not lost: an edit of a value that is not there any more is
    /// made again on the one that is.
    ///
    /// - Throws: `DefaultsError` with `conflict` where a key has not the generation that is expected.
    @discardableResult
    func apply(to defaults: RemoteDefaults) async throws -> UInt64 {
        guard expected.isEmpty else {
            return try await defaults.apply(transaction(on: defaults), in: domain)
        }
        return try await defaults.retrying {
            try await defaults.apply(transaction(on: defaults), in: domain)
        }
    }

    /// The transaction that does this to what is there now.
    private func transaction(on defaults: RemoteDefaults) async throws -> DefaultsTransaction {
        var transaction = DefaultsTransaction()
        transaction.isDurable = isDurable
        transaction.expected = expected
        for key in keys {
            switch edits[key] {
            case .set(let archive): transaction.set(key, to: archive)
            case .remove: transaction.remove(key)
            case .change(let change):
                let (archive, generation) = try await defaults.archiveIfThere(
                    forKey: key, in: domain)
                do {
                    transaction.set(key, to: try change(archive))
                } catch is Edit.NothingThere {
                    throw await defaults.noPair(domain, key)
                }
                transaction.expected[key] = expected[key] ?? generation
            case nil: break
            }
        }
        let bytes = transaction.values.reduce(0) { $0 + $1.archive.bytes.count + $1.key.utf8.count }
        guard bytes <= Self.mostBytes else {
            throw ToolError.changeTooLarge(domain, bytes, most: Self.mostBytes)
        }
        return transaction
    }

    /// Asks the service whether there can be such a domain, and it takes these changes.
    func check(with defaults: RemoteDefaults) async throws {
        if domain.hasSuffix("@managed") || domain.hasSuffix("@system") {
            throw ToolError.readOnly(domain)
        }
        _ = try await defaults.keys(in: domain)
        try await defaults.checkLocks(of: keys, in: domain)
    }
}
