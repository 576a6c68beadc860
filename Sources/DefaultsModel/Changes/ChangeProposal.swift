/// A change of one domain that has not happened yet: it has no generation.
///
/// The caller has decided that it is a change, not a repetition of what holds already.
public struct ChangeProposal: Sendable, Equatable {
    /// A key and the archive that it is to have.
    public struct Assignment: Sendable, Equatable {
        /// The key to set.
        public let key: Key
        /// The bytes of its keyed archive.
        public let archive: [UInt8]

        /// Pairs a key with an archive.
        public init(key: Key, archive: [UInt8]) {
            self.key = key
            self.archive = archive
        }
    }

    /// The domain that changes.
    public let domain: Domain
    /// What to set.
    ///
    /// No key stands twice, here and in `removed` together.
    public let set: [Assignment]
    /// The keys to remove.
    public let removed: [Key]
    /// Whether every key of the domain is removed, however many there are.
    ///
    /// Nothing is named or set then, so that the change is small for a domain of any size.
    public let clearsDomain: Bool
    /// The name by which its caller may ask for the outcome again.
    public let token: Token?
    /// The unique bus name of the writer; empty where the change came from a file.
    public let origin: String

    /// Gathers a change.
    public init(
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
    public init(clearing domain: Domain, origin: String) {
        self.domain = domain
        self.set = []
        self.removed = []
        self.clearsDomain = true
        self.token = nil
        self.origin = origin
    }

    /// Whether the values of keys are as they were: all that is left is a token to remember.
    public var changesNothing: Bool { self.set.isEmpty && removed.isEmpty && !clearsDomain }
}
