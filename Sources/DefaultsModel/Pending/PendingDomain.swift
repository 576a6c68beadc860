/// The pending changes of one domain.
package struct PendingDomain: Sendable {
    /// The keys that changed.
    package private(set) var entries: [Key: PendingEntry] = [:]
    /// The change that removed every key of the domain.
    ///
    /// The changes in `entries` came after it.
    package private(set) var cleared: Generation?
    /// The last change of the domain; nil if only tokens are pending.
    package private(set) var lastChange: Generation?
    /// The tokens of the domain's transactions, each with the generation of its reply.
    package private(set) var tokens = PendingTokens()
    /// The totals of the domain's keys after these changes.
    package private(set) var totals: KeyTotals

    init(totals: KeyTotals) {
        self.totals = totals
    }

    /// The pending change of a key; nil if there is none here.
    func entry(_ key: Key) -> PendingEntry? {
        entries[key] ?? cleared.map { PendingEntry(archive: nil, generation: $0) }
    }

    /// Adds a change, which must be newer than all changes here.
    ///
    /// - Returns: How many more bytes of memory all of it needs.
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

    /// Adds changes that are all newer than the ones here.
    ///
    /// - Returns: How many more bytes of memory all of it needs.
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
    /// How many more bytes of memory a change would need here.
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

/// The pending change of a key.
package struct PendingEntry: Sendable, Equatable {
    /// The archive; nil if the key was removed.
    package let archive: [UInt8]?
    /// The generation of the change.
    package let generation: Generation

    /// Makes a pending change from an archive, or nil for a removal, and its generation.
    package init(archive: [UInt8]?, generation: Generation) {
        self.archive = archive
        self.generation = generation
    }
}

/// How many keys a domain has, and the total sizes of their names and values.
///
/// Each change updates them. So limits and the list of domains do not need the keys themselves.
package struct KeyTotals: Hashable, Sendable {
    /// The number of keys.
    package private(set) var keys: Int
    /// The total length of their names, in bytes.
    package private(set) var nameBytes: Int
    /// The total size of their archives, in bytes.
    package private(set) var valueBytes: Int

    /// The totals of a domain.
    ///
    /// By default, those of a domain without keys.
    package init(keys: Int = 0, nameBytes: Int = 0, valueBytes: Int = 0) {
        self.keys = keys
        self.nameBytes = nameBytes
        self.valueBytes = valueBytes
    }

    /// The total size of names and archives, in bytes.
    package var bytes: Int { nameBytes + valueBytes }

    /// Counts a key that is set.
    ///
    /// - Parameters:
    ///   - size: The size of its new archive, in bytes.
    ///   - replaced: The size of the archive that it had; nil if it had none.
    package mutating func set(_ key: Key, size: Int, replacing replaced: Int?) {
        if replaced == nil {
            keys += 1
            nameBytes += key.length
        }
        valueBytes += size - (replaced ?? 0)
    }

    /// Subtracts a key that was removed.
    ///
    /// - Parameter size: The size of the archive that it had, in bytes.
    package mutating func remove(_ key: Key, size: Int) {
        keys -= 1
        nameBytes -= key.length
        valueBytes -= size
    }
}

/// The newest tokens of a domain's transactions, in the order in which they were remembered.
///
/// It has at most as many tokens as the disk keeps for a domain. So very many tokens between two
/// flushes need no more memory.
///
/// ```swift
/// for (token, generation) in pending.tokens.inOrder { write(token, generation) }
/// ```
package struct PendingTokens: Sendable {
    private var generations: [Token: Generation] = [:]
    /// All of them: in order at first, and as a ring when the limit is reached.
    private var ring: [Token] = []
    /// The index of the oldest one.
    private var oldest = 0

    /// Whether there are none.
    package var isEmpty: Bool { ring.isEmpty }

    /// How many there are.
    package var count: Int { ring.count }

    /// All of them with the generations of their replies, the oldest first.
    package var inOrder: [(token: Token, generation: Generation)] {
        (ring[oldest...] + ring[..<oldest]).compactMap { token in
            generations[token].map { (token, $0) }
        }
    }

    /// The generation of the reply to the transaction with this token; nil if the token is not
    /// here.
    package subscript(token: Token) -> Generation? { generations[token] }

    /// The token that a new one replaces; nil if there is room, or if the new one is already here.
    func forgotten(for token: Token) -> Token? {
        let isFull = ring.count == Token.rememberedPerDomain
        return isFull && generations[token] == nil ? ring[oldest] : nil
    }

    /// Remembers a token as the newest.
    ///
    /// A token that is already here keeps its position.
    mutating func remember(_ token: Token, _ generation: Generation) {
        let forgotten = forgotten(for: token)
        guard generations.updateValue(generation, forKey: token) == nil else { return }
        guard let forgotten else { return ring.append(token) }
        generations[forgotten] = nil
        ring[oldest] = token
        oldest = (oldest + 1) % ring.count
    }
}
