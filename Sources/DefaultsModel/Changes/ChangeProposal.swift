/// A change of one domain that has not been made yet, so it has no generation.
///
/// The caller has checked that it changes something.
package struct ChangeProposal: Sendable, Equatable {
    /// A key and its new archive.
    package struct Assignment: Sendable, Equatable {
        /// The key to set.
        package let key: Key
        /// The bytes of its keyed archive.
        package let archive: [UInt8]

        /// Pairs a key with an archive.
        package init(key: Key, archive: [UInt8]) {
            self.key = key
            self.archive = archive
        }
    }

    /// The domain that changes.
    package let domain: Domain
    /// What to set.
    ///
    /// Each key appears only once, here and in `removed` together.
    package let set: [Assignment]
    /// The keys to remove.
    package let removed: [Key]
    /// Whether every key of the domain is removed.
    ///
    /// No keys are named or set then. So the change is small for a domain of any size.
    package let clearsDomain: Bool
    /// The token with which its caller may repeat the call.
    package let token: Token?
    /// The unique bus name of the writer; empty if the change comes from a file.
    package let origin: String
    /// What the history is to know about it; nil if nothing is known.
    package var note: ChangeNote?

    /// Makes a proposal.
    package init(
        domain: Domain, set: [Assignment] = [], removed: [Key] = [], token: Token? = nil,
        origin: String
    ) {
        self.domain = domain
        self.set = set
        self.removed = removed
        self.clearsDomain = false
        self.token = token
        self.origin = origin
    }

    /// The removal of a whole domain.
    package init(clearing domain: Domain, origin: String) {
        self.domain = domain
        self.set = []
        self.removed = []
        self.clearsDomain = true
        self.token = nil
        self.origin = origin
    }

    /// The size of the names and archives that are set, in bytes.
    package var size: Int { self.set.reduce(0) { $0 + $1.key.length + $1.archive.count } }

    /// Whether no key changes.
    ///
    /// Then there is only a token to remember.
    package var changesNothing: Bool { self.set.isEmpty && removed.isEmpty && !clearsDomain }
}

/// A change with its generation: what was set and removed in one domain, as a whole or not at all.
///
/// A change of several domains is one of these for each, with the same generation. They are made all
/// or not at all.
///
/// If it changes no key, it only brings a token. Its generation is then the one in the reply, which
/// is that of an earlier change.
///
/// The journal record, the overlay, the rows, the page, the signal and the reply all derive from
/// this one value.
package struct ChangeSet: Sendable, Equatable {
    /// The number of the change, which every key in it gets.
    ///
    /// If there is only a token, the number in the reply.
    package let generation: Generation
    /// What changed.
    package let proposal: ChangeProposal

    /// Gives a proposal its generation.
    package init(generation: Generation, proposal: ChangeProposal) {
        self.generation = generation
        self.proposal = proposal
    }

    /// The domain that changed.
    package var domain: Domain { proposal.domain }
    /// What was set.
    package var set: [ChangeProposal.Assignment] { proposal.set }
    /// The keys that were removed.
    package var removed: [Key] { proposal.removed }
    /// Whether every key that the domain had was removed, without their names.
    package var clearsDomain: Bool { proposal.clearsDomain }
    /// The token with which its caller may repeat the call.
    package var token: Token? { proposal.token }
    /// The unique bus name of the writer; empty if the change came from a file.
    package var origin: String { proposal.origin }

    /// The token with the generation of the reply, and without the change; nil if there is no
    /// token.
    package var tokenAlone: ChangeSet? {
        guard let token else { return nil }
        return ChangeSet(
            generation: generation,
            proposal: ChangeProposal(domain: domain, token: token, origin: origin))
    }

    /// The same change with another note.
    package func noted(_ note: ChangeNote?) -> ChangeSet {
        var proposal = proposal
        proposal.note = note
        return ChangeSet(generation: generation, proposal: proposal)
    }
}

/// The number of a change: a counter for the whole database, strictly increasing.
///
/// It may skip numbers, and no number is used twice. A new database begins at 1, so 0 can mean
/// "none".
package struct Generation: RawRepresentable, Hashable, Comparable, Sendable,
    CustomStringConvertible
{
    /// The number.
    package let rawValue: UInt64

    /// Makes a generation from a number; nil for 0, which means "none".
    package init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The generation of a new database.
    package static let first = Generation(unchecked: 1)

    /// The generation that is this many changes later.
    ///
    /// The caller must check numbers that come from a file. Passing the end of the range is a bug
    /// of the caller.
    package func advanced(by changes: UInt64) -> Generation {
        let (sum, overflow) = rawValue.addingReportingOverflow(changes)
        precondition(!overflow, "a generation does not fit into 64 bits")
        return Generation(unchecked: sum)
    }

    /// Whether one change came before another.
    package static func < (earlier: Generation, later: Generation) -> Bool {
        earlier.rawValue < later.rawValue
    }

    /// The number in decimal digits.
    package var description: String { String(rawValue) }
}
