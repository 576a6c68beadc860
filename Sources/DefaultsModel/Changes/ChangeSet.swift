/// One change with its generation: what was set and removed in one domain, whole or not at all.
///
/// One that changes nothing brings a token alone, and the generation that was replied to it, which
/// is that of an earlier change.
///
/// Journal record, pending overlay, rows, page, signal and reply all derive from this one value.
public struct ChangeSet: Sendable, Equatable {
    /// The number of the change, which every key in it has; of a token alone, what was replied.
    public let generation: Generation
    /// What changed.
    public let proposal: ChangeProposal

    /// Gives a proposal its generation.
    public init(generation: Generation, proposal: ChangeProposal) {
        self.generation = generation
        self.proposal = proposal
    }

    /// The domain that changed.
    public var domain: Domain { proposal.domain }
    /// What was set.
    public var set: [ChangeProposal.Assignment] { proposal.set }
    /// The keys that were removed.
    public var removed: [Key] { proposal.removed }
    /// Whether every key that the domain had was removed, without naming them.
    public var clearsDomain: Bool { proposal.clearsDomain }
    /// The name by which its caller may ask for the outcome again.
    public var token: Token? { proposal.token }
    /// The unique bus name of the writer; empty where the change came from a file.
    public var origin: String { proposal.origin }

    /// The token and what was replied, without the change; nil where there is no token.
    public var tokenAlone: ChangeSet? {
        guard let token else { return nil }
        return ChangeSet(
            generation: generation,
            proposal: ChangeProposal(domain: domain, token: token, origin: origin))
    }
}
