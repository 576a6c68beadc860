/// The newest tokens of a domain's transactions, in the order in which they were remembered.
///
/// It holds no more of them than a domain remembers on disk, so that very many between two flushes
/// need no memory.
///
/// ```swift
/// for (token, generation) in pending.tokens.inOrder { write(token, generation) }
/// ```
public struct PendingTokens: Sendable {
    private var generations: [Token: Generation] = [:]
    /// All of them: in order at first and, when they are as many as may be, a ring.
    private var ring: [Token] = []
    /// Where the oldest stands.
    private var oldest = 0

    /// Whether there are none.
    public var isEmpty: Bool { ring.isEmpty }

    /// How many there are.
    public var count: Int { ring.count }

    /// All of them with the generations that were replied, the oldest first.
    public var inOrder: [(token: Token, generation: Generation)] {
        (ring[oldest...] + ring[..<oldest]).compactMap { token in
            generations[token].map { (token, $0) }
        }
    }

    /// What was replied to the transaction with this token; nil where it is not among them.
    public subscript(token: Token) -> Generation? { generations[token] }

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
