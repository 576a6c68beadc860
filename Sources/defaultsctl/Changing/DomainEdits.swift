import DefaultsClient
import KeyedArchive

/// Edits of keys of one domain, which are made as one change or not at all.
struct DomainEdits {
    let domain: String
    /// Whether to wait until the change is on disk.
    var isDurable = false
    /// One edit a key, in the order in which the keys were first named.
    private var edits: [String: Edit] = [:]
    private var keys: [String] = []
    /// The generations that the user expects keys to have.
    private var expected: [String: UInt64] = [:]

    init(of domain: String) {
        self.domain = domain
    }

    /// Adds an edit of a key, which is made after those that were added before.
    ///
    /// - Parameter generation: The one that the key must still have, 0 where it must be absent; nil
    ///   where that does not matter.
    mutating func add(_ edit: Edit, of key: String, ifStillAt generation: UInt64? = nil) {
        if let earlier = edits[key] {
            edits[key] = earlier.followed(by: edit)
        } else {
            edits[key] = edit
            keys.append(key)
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
        return transaction
    }
}
