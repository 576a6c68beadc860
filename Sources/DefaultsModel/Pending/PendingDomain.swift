/// What is pending of one domain.
package struct PendingDomain: Sendable {
    /// The keys that changed.
    package private(set) var entries: [Key: PendingEntry] = [:]
    /// The change that removed every key that the domain had; what is in `entries` came after it.
    package private(set) var cleared: Generation?
    /// The last change of the domain; nil where only tokens are pending.
    package private(set) var lastChange: Generation?
    /// The tokens of the domain's transactions, each with the generation that was replied.
    package private(set) var tokens = PendingTokens()
    /// The domain's keys when all of this is written.
    package private(set) var totals: KeyTotals

    init(totals: KeyTotals) {
        self.totals = totals
    }

    /// What is pending for a key; nil where what came before has the say.
    func entry(_ key: Key) -> PendingEntry? {
        entries[key] ?? cleared.map { PendingEntry(archive: nil, generation: $0) }
    }

    /// Takes in a change that came after these.
    ///
    /// - Returns: By how many bytes the memory of it all has grown.
    mutating func add(_ change: ChangeSet, totals: KeyTotals) -> Int {
        self.totals = totals
        var growth = 0
        if change.clearsDomain { growth += clear(at: change.generation) }
        for assignment in change.set {
            growth += put(
                PendingEntry(archive: assignment.archive, generation: change.generation),
                assignment.key)
        }
        for key in change.removed {
            growth += put(PendingEntry(archive: nil, generation: change.generation), key)
        }
        if !change.proposal.changesNothing { lastChange = change.generation }
        if let token = change.token { growth += remember(token, change.generation) }
        return growth
    }

    /// Takes in what came after these.
    ///
    /// - Returns: By how many bytes the memory of it all has grown.
    mutating func add(_ later: PendingDomain) -> Int {
        var growth = later.cleared.map { clear(at: $0) } ?? 0
        for (key, entry) in later.entries { growth += put(entry, key) }
        for (token, generation) in later.tokens.inOrder { growth += remember(token, generation) }
        lastChange = later.lastChange ?? lastChange
        totals = later.totals
        return growth
    }

    private mutating func clear(at generation: Generation) -> Int {
        let dropped = entries.reduce(0) { $0 + PendingDomain.size(of: $1.key, $1.value.archive) }
        entries = [:]
        cleared = generation
        return -dropped
    }

    private mutating func put(_ entry: PendingEntry, _ key: Key) -> Int {
        let replaced = entries.updateValue(entry, forKey: key)
        return PendingDomain.size(of: key, entry.archive)
            - (replaced.map { PendingDomain.size(of: key, $0.archive) } ?? 0)
    }

    private mutating func remember(_ token: Token, _ generation: Generation) -> Int {
        let growth = growth(by: token)
        tokens.remember(token, generation)
        return growth
    }
}

// MARK: Sizes

extension PendingDomain {
    /// By how many bytes a change would have this grow.
    func growth(by proposal: ChangeProposal) -> Int {
        func growth(_ key: Key, _ archive: [UInt8]?) -> Int {
            let replaced = entries[key].map { PendingDomain.size(of: key, $0.archive) }
            return PendingDomain.size(of: key, archive) - (replaced ?? 0)
        }
        return proposal.set.reduce(0) { $0 + growth($1.key, $1.archive) }
            + proposal.removed.reduce(0) { $0 + growth($1, nil) }
            + (proposal.token.map(growth(by:)) ?? 0)
    }

    private func growth(by token: Token) -> Int {
        guard tokens[token] == nil else { return 0 }
        let forgotten = tokens.forgotten(for: token).map(PendingDomain.size(of:))
        return PendingDomain.size(of: token) - (forgotten ?? 0)
    }

    private static func size(of key: Key, _ archive: [UInt8]?) -> Int {
        PendingOverlay.entryOverhead + key.length + (archive?.count ?? 0)
    }

    private static func size(of token: Token) -> Int {
        PendingOverlay.entryOverhead + token.name.utf8.count
    }
}

/// What a key is to become on disk.
package struct PendingEntry: Sendable, Equatable {
    /// The archive; nil where the key was removed.
    package let archive: [UInt8]?
    /// The change that made it so.
    package let generation: Generation

    /// Pairs an archive, or a removal, with its generation.
    package init(archive: [UInt8]?, generation: Generation) {
        self.archive = archive
        self.generation = generation
    }
}

/// How many keys a domain has and how long their names are together.
///
/// They are kept up to date with each change, so that the limit on names and the list of domains
/// need no look at the keys themselves.
package struct KeyTotals: Hashable, Sendable {
    /// The number of keys.
    package private(set) var keys: Int
    /// The length of their names together, in bytes.
    package private(set) var nameBytes: Int

    /// The totals of a domain; those of one that has no keys, where nothing is given.
    package init(keys: Int = 0, nameBytes: Int = 0) {
        self.keys = keys
        self.nameBytes = nameBytes
    }

    /// Counts a key in that was not there.
    package mutating func add(_ key: Key) {
        keys += 1
        nameBytes += key.length
    }

    /// Counts a key out that was there.
    package mutating func remove(_ key: Key) {
        keys -= 1
        nameBytes -= key.length
    }
}

/// The newest tokens of a domain's transactions, in the order in which they were remembered.
///
/// It holds no more of them than a domain remembers on disk, so that very many between two flushes
/// need no memory.
///
/// ```swift
/// for (token, generation) in pending.tokens.inOrder { write(token, generation) }
/// ```
package struct PendingTokens: Sendable {
    private var generations: [Token: Generation] = [:]
    /// All of them: in order at first and, when they are as many as may be, a ring.
    private var ring: [Token] = []
    /// Where the oldest stands.
    private var oldest = 0

    /// Whether there are none.
    package var isEmpty: Bool { ring.isEmpty }

    /// How many there are.
    package var count: Int { ring.count }

    /// All of them with the generations that were replied, the oldest first.
    package var inOrder: [(token: Token, generation: Generation)] {
        (ring[oldest...] + ring[..<oldest]).compactMap { token in
            generations[token].map { (token, $0) }
        }
    }

    /// What was replied to the transaction with this token; nil where it is not among them.
    package subscript(token: Token) -> Generation? { generations[token] }

    /// The token that makes room for another; nil where there is room, or that one is here already.
    func forgotten(for token: Token) -> Token? {
        let isFull = ring.count == Token.rememberedPerDomain
        return isFull && generations[token] == nil ? ring[oldest] : nil
    }

    /// Remembers a token as the newest; one that is here already keeps its place.
    mutating func remember(_ token: Token, _ generation: Generation) {
        let forgotten = forgotten(for: token)
        guard generations.updateValue(generation, forKey: token) == nil else { return }
        guard let forgotten else { return ring.append(token) }
        generations[forgotten] = nil
        ring[oldest] = token
        oldest = (oldest + 1) % ring.count
    }
}
