/// One change with its generation: what was set and removed in one domain, whole or not at all.
///
/// Journal record, pending overlay, rows, page, signal and reply all derive from this one value.
public struct ChangeSet: Sendable, Equatable {
    /// The number of the change; every key in it has this one.
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
}
