/// A change of one domain that has not happened yet: it has no generation.
///
/// The caller has decided that it is a change, not a repetition of what holds already.
package struct ChangeProposal: Sendable, Equatable {
    /// A key and the archive that it is to have.
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
    /// No key stands twice, here and in `removed` together.
    package let set: [Assignment]
    /// The keys to remove.
    package let removed: [Key]
    /// Whether every key of the domain is removed, however many there are.
    ///
    /// Nothing is named or set then, so that the change is small for a domain of any size.
    package let clearsDomain: Bool
    /// The name by which its caller may ask for the outcome again.
    package let token: Token?
    /// The unique bus name of the writer; empty where the change came from a file.
    package let origin: String

    /// Gathers a change.
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

    /// Whether the values of keys are as they were: all that is left is a token to remember.
    package var changesNothing: Bool { self.set.isEmpty && removed.isEmpty && !clearsDomain }
}

/// One change with its generation: what was set and removed in one domain, whole or not at all.
///
/// One that changes nothing brings a token alone, and the generation that was replied to it, which
/// is that of an earlier change.
///
/// Journal record, pending overlay, rows, page, signal and reply all derive from this one value.
package struct ChangeSet: Sendable, Equatable {
    /// The number of the change, which every key in it has; of a token alone, what was replied.
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
    /// Whether every key that the domain had was removed, without naming them.
    package var clearsDomain: Bool { proposal.clearsDomain }
    /// The name by which its caller may ask for the outcome again.
    package var token: Token? { proposal.token }
    /// The unique bus name of the writer; empty where the change came from a file.
    package var origin: String { proposal.origin }

    /// The token and what was replied, without the change; nil where there is no token.
    package var tokenAlone: ChangeSet? {
        guard let token else { return nil }
        return ChangeSet(
            generation: generation,
            proposal: ChangeProposal(domain: domain, token: token, origin: origin))
    }
}

/// The number of a change: a counter of the whole database, strictly increasing.
///
/// It may jump, and it is never handed out twice. A new database begins at 1, so 0 is no
/// generation and is free to mean "none".
package struct Generation: RawRepresentable, Hashable, Comparable, Sendable,
    CustomStringConvertible
{
    /// The number.
    package let rawValue: UInt64

    /// Takes a number as a generation; nil for 0, which is none.
    package init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The generation of a new database.
    package static let first = Generation(unchecked: 1)

    /// The generation that many changes later.
    ///
    /// A counter at the end of its range is a bug of the caller, who checks what comes from a file
    /// against a bound far below it.
    package func advanced(by changes: UInt64) -> Generation {
        let (sum, overflow) = rawValue.addingReportingOverflow(changes)
        precondition(!overflow, "a generation was advanced past the end of 64 bits")
        return Generation(unchecked: sum)
    }

    /// Whether one change came before another.
    package static func < (earlier: Generation, later: Generation) -> Bool {
        earlier.rawValue < later.rawValue
    }

    /// The number in decimal digits.
    package var description: String { String(rawValue) }
}
